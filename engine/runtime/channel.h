// The way from an Exchange in one lane to an InputGate in another: rows, times and barriers, in
// order, from one thread to one other.
//
//   Push ->  pushed [ c ][ d ]     locked while vectors are swapped or grown, never longer
//            taken  [ a ][ b ] -> Front, Pop
//   freed <- spent  [ z ]          batches go home: who made their memory can use it again
//
// Never full: a lane that waited for room could be waited for by the one that makes it. Instead
// the producer asks `is_over_limit` and stops polling its sources while it is, so what is on the
// way is bounded by the limits and what the gates upstream still hold. The producer wakes the
// consumer's lane, and the consumer the producer's when half of a limit is free.
//
// Bytes count until they go home, an eighth of the limit at a time: what a batch held is memory
// until its producer has it back, and that is with the next Push.
#pragma once

#include <atomic>
#include <mutex>
#include <variant>
#include <vector>

#include "engine/barrier.h"
#include "engine/clock.h"
#include "engine/row_batch.h"
#include "engine/runtime/lane_signal.h"

namespace rowtide {

using ChannelEvent = std::variant<RowBatch, Time, Barrier>;

class Channel {
 public:
  // Rows on the way above which the producer's sources rest.
  static constexpr int64_t kRowsMax = 64 * kBatchRows;
  static constexpr int64_t kBytesMax = int64_t{16} << 20;
  explicit Channel(int64_t rows_max = kRowsMax) : rows_max_(rows_max) {}

  // Before the first event.
  void LimitBytes(int64_t bytes_max) { bytes_max_ = bytes_max; }
  // Before the first event: whom to wake.
  void SetConsumer(LaneSignal* consumer) { consumer_ = consumer; }
  void SetProducer(LaneSignal* producer) { producer_ = producer; }

  // --- the producer ---
  void Push(ChannelEvent event);
  bool is_over_limit() const { return rows_.load() > rows_max_ || bytes_.load() > bytes_max_; }

  // --- the consumer ---
  // The oldest event, which stays put until Pop; null when there is none.
  const ChannelEvent* Front();
  void Pop();
  bool is_empty() const { return events_.load() == 0; }

 private:
  struct Held {
    ChannelEvent event;
    int64_t bytes;
  };
  int64_t BytesOf(const ChannelEvent& event);
  // Those that were popped. True: half of the bytes are free now, and were not before.
  bool SendHome();

  const int64_t rows_max_;
  int64_t bytes_max_ = kBytesMax;
  LaneSignal* consumer_ = nullptr;
  LaneSignal* producer_ = nullptr;
  std::atomic<int64_t> events_ = 0;  // pushed and not yet popped
  std::atomic<int64_t> rows_ = 0;    // in them
  std::atomic<int64_t> bytes_ = 0;   // in them, and in what has not been sent home
  const Block* last_block_ = nullptr;  // the producer's: of the newest batch's strings

  std::mutex mutex_;
  std::vector<Held> pushed_;  // under the lock
  std::vector<Held> spent_;   // under the lock
  // The consumer's: [0, sent_) have gone home, [sent_, at_) were popped.
  std::vector<Held> taken_;
  size_t sent_ = 0;
  size_t at_ = 0;
  int64_t popped_bytes_ = 0;
};

}  // namespace rowtide

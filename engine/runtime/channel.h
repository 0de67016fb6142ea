// The way from an Exchange in one lane to an InputGate in another: rows, times and barriers, in
// order, from one thread to one other.
//
//   Push ->  pushed [ c ][ d ]     locked while vectors are swapped or grown, never longer
//            taken  [ a ][ b ] -> Front, Pop
//   freed <- spent  [ z ]          batches go home: who made their memory can use it again
//
// Never full: a lane that waited for room could be waited for by the one that makes it. Instead
// the producer asks `is_over_limit` and stops polling its sources while it is, so what is on the
// way is bounded by the limit and what the gates upstream still hold. The producer wakes the
// consumer's lane, and the consumer the producer's when half of the limit is free.
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
  explicit Channel(int64_t rows_max = kRowsMax) : rows_max_(rows_max) {}

  // Before the first event: whom to wake.
  void SetConsumer(LaneSignal* consumer) { consumer_ = consumer; }
  void SetProducer(LaneSignal* producer) { producer_ = producer; }

  // --- the producer ---
  void Push(ChannelEvent event);
  bool is_over_limit() const { return rows_.load() > rows_max_; }

  // --- the consumer ---
  // The oldest event, which stays put until Pop; null when there is none.
  const ChannelEvent* Front();
  void Pop();
  bool is_empty() const { return events_.load() == 0; }

 private:
  const int64_t rows_max_;
  LaneSignal* consumer_ = nullptr;
  LaneSignal* producer_ = nullptr;
  std::atomic<int64_t> events_ = 0;  // pushed and not yet popped
  std::atomic<int64_t> rows_ = 0;    // in them

  std::mutex mutex_;
  std::vector<ChannelEvent> pushed_;  // under the lock
  std::vector<ChannelEvent> spent_;   // under the lock
  std::vector<ChannelEvent> taken_;   // the consumer's
  size_t at_ = 0;                     // in taken_
};

}  // namespace rowtide

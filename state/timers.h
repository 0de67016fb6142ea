// Event-time timers of keys, in the order (timestamp, first arrival of the key).
//
// A key has at most one timer; the caller keeps its timestamp and sequence in the key's entry. Moving a timer is adding
// another with the same sequence: the one that no longer agrees with the entry is passed over when it comes up, so a
// popped timer is a question to the entry ("are you still due at t?"), not an order. Part of the snapshot.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/operator.h"
#include "state/arena.h"
#include "state/key_codec.h"
#include "state/state_part.h"

namespace rowtide {

class TimerQueue final : public StatePart {
 public:
  struct Timer {
    int64_t millis;
    uint64_t sequence;
    Arena::Ref key;
  };

  explicit TimerQueue(const OperatorContext& context) : arena_(context.state_size) {}

  // The number of a key's first arrival.
  uint64_t NextSequence() { return next_sequence_++; }
  void Add(std::string_view key, int64_t millis, uint64_t sequence);
  bool HasDue(int64_t watermark) const { return !heap_.empty() && heap_.front().millis <= watermark; }
  // Takes up to `rows_max` timers with millis <= watermark, in order: their keys and what they said.
  struct Due {
    int64_t millis;
    uint64_t sequence;
  };
  void PopDue(int64_t watermark, int rows_max, KeyBatch* keys, std::vector<Due>* due);
  size_t size() const { return heap_.size(); }

  void Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;

 private:
  std::string_view KeyOf(const Timer& timer) const;
  Arena arena_;
  std::vector<Timer> heap_;  // the earliest first
  uint64_t next_sequence_ = 0;
};

}  // namespace rowtide

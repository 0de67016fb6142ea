// The one time of a node with several inputs: what it may be told when one of its inputs moves
// forward.
//
//   input 0   W 5 ........ W 9 ............ end
//   input 1   .... W 7 ........ idle W 12 ...... end
//   told      .... W 5 ... W 7  W 9 ....... W 12 end
//
// A watermark is the minimum over the inputs that are neither idle nor over, never falls, and is
// told once. A tick is told once per moment, Idle when no input is active, End once, after the last
// input. The whole thing goes into the job's snapshot.
#pragma once

#include <optional>
#include <vector>

#include "engine/clock.h"
#include "engine/snapshot.h"

namespace rowtide {

class TimeMerger {
 public:
  explicit TimeMerger(int inputs) : inputs_(static_cast<size_t>(inputs)) {}

  // What to tell the node, if anything, now that `input` has come to `time`.
  std::optional<Time> Advance(int input, Time time);
  int64_t watermark() const { return watermark_; }

  void Snapshot(SnapshotWriter& writer) const;
  Status Restore(SnapshotReader& reader);

 private:
  struct Input {
    int64_t watermark = Time::kNoWatermark;
    bool idle = false;
    bool ended = false;
  };
  std::optional<Time> Merged();

  std::vector<Input> inputs_;
  int64_t watermark_ = Time::kNoWatermark;
  int64_t tick_ = Time::kNoWatermark;
  bool idle_ = false;
};

}  // namespace rowtide

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
#include <span>
#include <vector>

#include "engine/clock.h"
#include "engine/snapshot.h"

namespace rowtide {

// How far one stream of times has come.
struct StreamTime {
  int64_t watermark = Time::kNoWatermark;
  bool idle = false;
  bool ended = false;

  void Take(Time time);
  // What several lanes are at together: the minimum of those that are active; idle or over when all
  // are. Requires: at least one.
  static StreamTime Of(std::span<const StreamTime> lanes);

  void Snapshot(SnapshotWriter& writer) const;
  Status Restore(SnapshotReader& reader);
};

class TimeMerger {
 public:
  explicit TimeMerger(int inputs) : inputs_(static_cast<size_t>(inputs)) {}

  // What to tell the node, if anything, now that `input` has come to `time`.
  std::optional<Time> Advance(int input, Time time);
  int64_t watermark() const { return watermark_; }
  bool all_ended() const;

  // Every input is at `time`, and that was told.
  void SetAll(StreamTime time);
  void Snapshot(SnapshotWriter& writer) const;
  Status Restore(SnapshotReader& reader);
  // Takes in the same node's times in another lane of the job that was snapshotted.
  Status Merge(SnapshotReader& reader);

 private:
  std::optional<Time> Merged();

  std::vector<StreamTime> inputs_;
  int64_t watermark_ = Time::kNoWatermark;
  int64_t tick_ = Time::kNoWatermark;
  bool tick_is_restored_ = false;  // of a process whose clock may have been ahead
  bool idle_ = false;
};

}  // namespace rowtide

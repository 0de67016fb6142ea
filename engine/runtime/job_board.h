// Where a running job puts up what it knows of itself, for threads that show it.
//
//   each lane        between two batches, some times a second     Publish(lane, report)
//   the first lane   when a checkpoint is begun or decided        Publish(checkpoints)
//   any thread       lanes(), checkpoints(): copies of the newest
//
// Rows are never held up: a lane copies its counts, which is microseconds, and a reader sees what
// was put up last. A report that has grown old tells that its lane is busy with one batch, or stuck
// in it.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/runtime/stats.h"

namespace rowtide {

struct LaneReport {
  std::chrono::steady_clock::time_point at;
  std::vector<NodeStats> nodes;         // all of the job's, by number
  std::chrono::nanoseconds idle{0};     // no source had anything
  std::chrono::nanoseconds blocked{0};  // other lanes were behind, or the disk was full
  std::chrono::nanoseconds stopped{0};  // for checkpoints
  std::chrono::nanoseconds longest_stop{0};
};

struct CheckpointRecord {
  int64_t epoch = 0;
  CheckpointKind kind = CheckpointKind::kPeriodic;
  int64_t millis = 0;  // when it was taken
  std::chrono::nanoseconds took{0};
  int64_t bytes = 0;    // of state, files that did not change included
  std::string failure;  // "": it was decided
};

struct CheckpointReport {
  int64_t completed = 0;
  int64_t failed = 0;
  std::vector<CheckpointRecord> recent;                          // the newest last
  std::optional<std::chrono::steady_clock::time_point> writes;   // one is being written since then
  std::optional<std::chrono::steady_clock::time_point> decided;  // the newest one
};

class JobBoard {
 public:
  // --- the job's threads ---
  static constexpr std::chrono::milliseconds kInterval{250};
  // A job of so many lanes begins; counts of checkpoints go on from those of the one before.
  void Begin(size_t lanes);
  // … another job altogether.
  void Forget();
  void Publish(size_t lane, LaneReport report);
  void Publish(CheckpointReport report);

  // --- any thread ---
  // A lane that has not said anything yet has no nodes.
  std::vector<LaneReport> lanes() const;
  CheckpointReport checkpoints() const;

 private:
  mutable std::mutex mutex_;
  std::vector<LaneReport> lanes_;  // under the mutex, as all of it
  CheckpointReport before_;        // of the jobs before
  CheckpointReport now_;
};

}  // namespace rowtide

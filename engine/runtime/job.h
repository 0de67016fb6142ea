// A running job: polls the sources round robin, by batch, until all have ended or somebody asks it
// to stop.
//
// The order of sources is that of the graph, and whose turn it is goes into the snapshot, so one
// sequence of input gives one output. `Snapshot` may be taken between any two steps; a job built
// anew from the same plan and restored from it goes on as if nothing had happened. With a
// checkpointer that happens by itself: at every interval, at a stop request and at the end. Sinks
// are finished at a clean end and abandoned after a failure. While no source has anything, what was
// written is flushed and the job sleeps until a source wakes it (SourceWakeup), a tick is due or
// somebody asks it to stop.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/runtime/checkpointer.h"
#include "engine/runtime/job_graph.h"
#include "engine/runtime/job_requests.h"
#include "engine/runtime/restore_plan.h"
#include "engine/runtime/task.h"

namespace rowtide {

struct JobOptions {
  const Clock* clock = nullptr;            // of ticks; none = no ticks
  int64_t tick_interval_millis = 0;        // 0 = no ticks
  const std::atomic<int>* stop = nullptr;  // not 0: stop at the next batch (a signal's number)
  // Asked between two polls; true: that was enough, the job ends as if its input were over.
  std::function<bool()> is_enough;
  bool samples_time = false;             // for Stats and TimePaths
  Checkpointer* checkpointer = nullptr;  // borrowed; none: no checkpoints
  JobRequests* requests = nullptr;       // borrowed; asked between two polls
  Checkpoint head;                       // what every checkpoint says of the job: name, plan, TTL
};

enum class JobEnd : uint8_t {
  kEnded,    // all input was read; the sinks have published
  kStopped,  // stopped on request; nothing was finished or abandoned yet, but with a checkpointer
             // all that was read is in a checkpoint
};

class Job {
 public:
  explicit Job(JobGraph graph, JobOptions options = {});

  // One poll of the source whose turn it is. kEnd: all sources have ended (and the sinks are not
  // finished yet).
  Result<SourceState> Step();
  // Steps to the end or to a stop request; waits while no source has anything. Finishes the sinks
  // at the end, abandons them after a failure.
  Result<JobEnd> RunToEnd();
  Status Finish() { return task_.Finish(); }
  void Abandon() { task_.Abandon(); }

  Result<Checkpoint> Snapshot(int64_t epoch = 0, CheckpointKind kind = CheckpointKind::kPeriodic);
  std::vector<NodeIdentity> Identities() const { return task_.Identities(); }
  // Requires: the plan is of this job's identities and that checkpoint.
  Status Restore(const Checkpoint& checkpoint, const RestorePlan& plan);
  // The same query as before.
  Status Restore(const Checkpoint& checkpoint);

  int64_t rows_read() const { return task_.rows_read(); }
  JobProgress Progress() const { return task_.Progress(); }
  std::vector<NodeStats> Stats() const { return task_.Stats(); }
  std::vector<PathTime> TimePaths() const { return task_.TimePaths(); }
  std::vector<std::string> Summaries() const { return task_.Summaries(); }

 private:
  Result<JobEnd> Run();
  // Takes a checkpoint if one is due, and has sinks show what was decided.
  Status LookAtCheckpoints();
  // Whether the job was asked to stop.
  Result<bool> ServeRequest();
  // Takes one now and waits until it is decided.
  Status TakeCheckpoint(CheckpointKind kind);
  Status Concluded(std::optional<int64_t> epoch);
  Status TickIfDue();
  void WaitForSources(int64_t guess_millis) const;
  bool AllEnded() const;
  bool StopRequested() const;

  Task task_;
  JobOptions options_;
  size_t turn_ = 0;
  int64_t next_tick_millis_ = 0;
};

}  // namespace rowtide

// A running job: polls the sources round robin, by batch, until all have ended or somebody asks it
// to stop.
//
//   one lane        everything on the caller's thread, by direct calls
//   several lanes   a thread each, the first lane on the caller's; rows change lanes in channels
//
// The order of sources is that of the graph, and whose turn it is goes into the snapshot, so one
// sequence of input gives one output on one lane, and one changelog of each key on several.
// `Snapshot` may be taken between any two steps; a job built anew from the same plan, on any number
// of lanes, and restored from it goes on as if nothing had happened. With a checkpointer that
// happens by itself: at every interval, at a stop request and at the end. The first lane asks all
// of them for a barrier, each hands in what it held there when the files of its store are there,
// and when an epoch is decided each has its sinks show it. Sinks are finished at a clean end and
// abandoned after a failure. While no source has anything, what was written is flushed and the job
// sleeps until a source wakes it (SourceWakeup), a tick is due or somebody asks it to stop.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/runtime/checkpoint_costs.h"
#include "engine/runtime/checkpointer.h"
#include "engine/runtime/job_board.h"
#include "engine/runtime/job_graph.h"
#include "engine/runtime/job_requests.h"
#include "engine/runtime/lane.h"
#include "engine/runtime/restore_plan.h"

namespace rowtide {

struct JobOptions {
  const Clock* clock = nullptr;            // of ticks; none = no ticks
  int64_t tick_interval_millis = 0;        // 0 = no ticks
  const std::atomic<int>* stop = nullptr;  // not 0: stop at the next batch (a signal's number)
  // Asked between two polls, by the caller's thread; true: that was enough, the job ends as if its
  // input were over.
  std::function<bool()> is_enough;
  bool samples_time = false;             // for Stats and TimePaths
  Checkpointer* checkpointer = nullptr;  // borrowed; none: no checkpoints
  std::vector<LaneStore*> stores;        // borrowed; one a lane; none: state is in memory
  JobRequests* requests = nullptr;       // borrowed; asked between two polls
  JobBoard* board = nullptr;             // borrowed; where it shows how it goes
  Checkpoint head;                       // what every checkpoint says of the job: name, plan, TTL
  const Clock* wall_clock = nullptr;     // when checkpoints are taken; none: `clock`
};

enum class JobEnd : uint8_t {
  kEnded,    // all input was read; the sinks have published
  kStopped,  // stopped on request; nothing was finished or abandoned yet, but with a checkpointer
             // all that was read is in a checkpoint
};

class Job {
 public:
  explicit Job(JobGraph graph, JobOptions options = {});
  // One graph a lane.
  explicit Job(std::vector<JobGraph> lanes, JobOptions options = {});

  int lanes() const { return static_cast<int>(lanes_.size()); }

  // One poll of the source whose turn it is, and all that comes of it in every lane, on the
  // caller's thread. kEnd: all sources have ended (and the sinks are not finished yet).
  Result<SourceState> Step();
  // Steps to the end or to a stop request; waits while no source has anything. Finishes the sinks
  // at the end, abandons them after a failure.
  Result<JobEnd> RunToEnd();
  Status Finish();
  void Abandon();

  // These not while RunToEnd runs.
  Result<Checkpoint> Snapshot(int64_t epoch = 0, CheckpointKind kind = CheckpointKind::kPeriodic);
  std::vector<NodeIdentity> Identities() const { return lanes_[0]->task().Identities(); }
  // Requires: the plan is of this job's identities and that checkpoint.
  Status Restore(const Checkpoint& checkpoint, const RestorePlan& plan);
  // The same query as before.
  Status Restore(const Checkpoint& checkpoint);

  // Of all lanes. Progress may be asked for by `is_enough`; the others not while RunToEnd runs.
  JobProgress Progress() const;
  int64_t rows_read() const;
  std::vector<NodeStats> Stats() const;
  std::vector<PathTime> TimePaths() const;
  std::vector<std::string> Summaries() const;
  CheckpointCosts checkpoint_costs() const;

 private:
  using Moment = std::chrono::steady_clock::time_point;
  // --- lanes ---
  // Every lane on a thread of its own.
  Result<JobEnd> RunLanes();
  // The same, until they end or pause: whether the job was asked to stop.
  Result<bool> RunThreads();
  // To the end of the whole job. `is_first`: the caller's thread.
  Result<JobEnd> RunLane(Lane& lane, bool is_first);
  // The lane has nothing more to do. True: no lane has.
  bool Retire();
  // All lanes shall come to an end; `failure`: the first one is kept.
  void Halt(Status failure);
  Status failure() const;
  void NotifyAll();
  // What is on its way arrives. Requires: no lane runs.
  Status DrainAll();
  // The same, and a barrier that is under way is brought to its end and forgotten.
  Status Settle();
  // The last checkpoint, and what sinks do at the end. Requires: no lane runs.
  Result<JobEnd> Close(JobEnd end);
  bool StopRequested() const;
  bool is_several() const { return lanes_.size() > 1; }
  // Puts up how the lane goes, if it is time to.
  void ReportIfDue(Lane& lane);
  void Report(const Lane& lane);
  void ReportCheckpoints();
  void ReportAll();  // Requires: no lane runs.

  // --- checkpoints ---
  // The first lane: asks for a checkpoint if one is due, has it written when all lanes have handed
  // in theirs, and says what was decided.
  Status LookAtCheckpoints();
  Status WriteIfComplete();
  // Each lane: works on its store, and does what the first one has asked for.
  Status TakeOrders(Lane& lane);
  void HandIn(Lane& lane);
  bool HasOrders(const Lane& lane) const;
  // Whether the job was asked to stop. Requires: no lane runs but the caller's.
  Result<bool> ServeRequest();
  // Takes one now and waits until it is decided. Requires: no lane runs.
  Status TakeCheckpoint(CheckpointKind kind);
  // A snapshot with the files of all stores.
  Result<Checkpoint> SnapshotWithFiles(int64_t epoch, CheckpointKind kind);
  Status CommitAll(std::optional<int64_t> epoch);
  Checkpoint NewCheckpoint(int64_t epoch, CheckpointKind kind) const;
  // What a lane is restored from: of each node the states that it takes in.
  Status RestoreCounts(const Checkpoint& checkpoint, const RestorePlan& plan);
  NodeStates StatesOf(size_t lane, const Checkpoint& checkpoint, const RestorePlan& plan) const;

  std::vector<std::unique_ptr<Lane>> lanes_;
  JobOptions options_;
  size_t lane_turn_ = 0;             // of Step
  std::optional<Checkpoint> begun_;  // the first lane's: a barrier is under way, lanes are missing
  std::chrono::nanoseconds at_end_{0};

  // While lanes run on threads:
  std::atomic<int> retired_ = 0;
  std::atomic<bool> is_over_ = false;
  std::atomic<bool> is_paused_ = false;   // … for a request, and will go on
  std::atomic<bool> lacks_room_ = false;  // no input may be taken
  std::atomic<int64_t> barrier_ = 0;      // the newest epoch that was asked for
  std::atomic<int64_t> decided_ = 0;      // the newest epoch that sinks are to show
  std::atomic<int> showing_ = 0;          // lanes that have not yet
  std::atomic<int> handed_in_ = 0;        // lanes whose part of the checkpoint is there
  mutable std::mutex mutex_;
  std::optional<Status> failure_;                         // under the mutex
  std::vector<std::optional<Result<LaneState>>> states_;  // under the mutex: what was handed in
};

}  // namespace rowtide

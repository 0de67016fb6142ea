// The work of one lane of a job: pushes what a source or a gate emits through the graph by direct
// calls, to completion.
//
//   Poll(source) -> source.Poll -> Emit -> op.Process -> Emit -> op.Process -> sink.Write
//   StepGates    -> gate.Step   -> Emit -> …          -> Advance -> op.Advance -> exchange.Process
//
// A batch has passed every node before the next one is polled, so between two calls of Poll nothing
// is in flight, and a snapshot is the state of the nodes alone. Times of several inputs are merged
// (engine/runtime/time_merger.h). A node that the graph marks `row_by_row` hands its rows on one at
// a time. Used by one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/lane_store.h"
#include "engine/runtime/job_graph.h"
#include "engine/runtime/stats.h"
#include "engine/runtime/time_merger.h"
#include "engine/runtime/time_samples.h"

namespace rowtide {

// Of each node that has an identity, in the order of the graph, its state in the lanes that it goes
// on from; none: it starts empty. Of a sink that is new: one null.
using NodeStates = std::vector<std::vector<const NodeState*>>;

class Task {
 public:
  // `samples_time`: Stats and TimePaths are to know where the time goes.
  explicit Task(JobGraph graph, bool samples_time = false);
  ~Task();
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;

  // Node numbers of the sources, in the order of the graph.
  const std::vector<int>& sources() const { return sources_; }
  bool ended(int source) const;

  // Polls once.
  Result<SourceState> Poll(int source);
  // The source is over: the highest watermark and End follow its rows.
  Status End(int source);
  // Processing time has come to `millis`: every source that has not ended hands a tick on.
  Status Tick(int64_t millis);

  // No source has anything now: what was written goes to whoever reads it.
  Status FlushSinks();
  // Likewise: state that has expired goes all the same.
  void SweepSome();
  SourceWakeup wakeup(int source) const;

  // Of a job of several lanes: whom what comes from other lanes wakes.
  void SetSignal(LaneSignal* signal);
  // What keyed state lies in besides memory: a snapshot freezes it.
  void SetStore(LaneStore* store) { store_ = store; }
  // Hands on one event of each gate that has one. False: there was none.
  Result<bool> StepGates();
  bool gates_are_ready() const;
  // Other lanes are behind, or a sink waits for a checkpoint: sources should rest.
  bool should_rest() const;
  // Sources and gates are over.
  bool all_ended() const;
  bool has_sink() const;

  // Rows that the sources have emitted since the task was made.
  int64_t rows_read() const;

  JobProgress Progress() const;

  // Sinks, in the order of the graph.
  Status Finish();
  void Abandon();
  // The summaries of the sinks that have one, each over all lanes.
  static std::vector<std::string> Summaries(const std::vector<const Task*>& lanes);

  // The state of every node, and what the sinks have staged for the epoch, without the files of the
  // store. Requires: nothing is on its way from other lanes.
  Result<LaneState> Snapshot(int64_t epoch);
  // The same at a barrier: sources are at it now, gates when they have it from all lanes, and what
  // they feed together is written down, and hands the barrier on, when all of them are. No source
  // is polled in between.
  Status Meet(Barrier barrier);
  int64_t newest_barrier() const { return newest_barrier_; }
  bool is_held(int source) const;
  // Once, when all of it is written down.
  std::optional<LaneState> TakeSnapshot() { return std::exchange(snapshot_, std::nullopt); }
  // The epoch is decided: sinks show what they have staged.
  Status Commit(int64_t epoch);
  std::vector<NodeIdentity> Identities() const;
  Status Restore(const NodeStates& states);
  // The node goes on counting from what it has counted so far.
  Status AddCounts(int node, const NodeState& state);
  // Of the nodes that have an identity.
  bool has(int node) const;
  bool is_sink(int node) const;

  // With state sizes and counters as of now.
  std::vector<NodeStats> Stats() const;
  // Every node is in one or more.
  std::vector<PathTime> TimePaths() const;

 private:
  class Node;
  void FindLoneFeeders();
  // What happens outside of polls is measured each time.
  template <typename Call>
  Status Rarely(Call call);
  static Status RestoreNode(Node& node, const std::vector<const NodeState*>& states);
  static Status RestoreState(Node& node, const NodeState& state, bool is_first);
  Result<NodeState> WriteDown(Node& node, int64_t epoch);
  // Nodes that direct calls lead from one to the other, whichever way.
  void FindFragments();
  // One of those that feed a fragment is at the barrier.
  Status Arrive(int fragment);
  Status WriteDown(int fragment);
  Status Finished();  // all of it is written down
  // Of each node, one of the ways that rows take from a source to it.
  std::vector<std::vector<int>> Routes() const;

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<int> sources_;
  int64_t rows_read_before_ = 0;  // by earlier runs of the job
  std::vector<int> gates_;
  std::vector<Exchange*> exchanges_;
  LaneStore* store_ = nullptr;
  TimeSamples samples_;

  // What is fed by the same sources and gates meets a barrier together.
  struct Fragment {
    int feeders = 0;
    int arrived = 0;  // at the barrier
  };
  std::vector<int> kept_;         // nodes that have an identity
  std::vector<int> fragment_of_;  // -1: not in this lane
  std::vector<Fragment> fragments_;
  std::optional<Barrier> barrier_;  // under way
  int64_t newest_barrier_ = 0;
  size_t fragments_left_ = 0;  // not yet written down
  LaneState at_barrier_;
  std::optional<LaneState> snapshot_;
};

}  // namespace rowtide

// One lane of a job: pushes what a source emits through the graph by direct calls, to completion.
//
//   Poll(source) -> source.Poll -> Emit -> op.Process -> Emit -> op.Process -> sink.Write
//                                                     -> Advance -> op.Advance ...
//
// A batch has passed every node before the next one is polled, so between two calls of Poll nothing
// is in flight, and a snapshot is the state of the nodes alone. Times of several inputs are merged
// (engine/runtime/time_merger.h). A node that the graph marks `row_by_row` hands its rows on one at
// a time. Used by one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/job_graph.h"
#include "engine/runtime/stats.h"
#include "engine/runtime/time_merger.h"
#include "engine/runtime/time_samples.h"

namespace rowtide {

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
  SourceWakeup wakeup(int source) const;

  // Rows that the sources have emitted since the task was made.
  int64_t rows_read() const;

  JobProgress Progress() const;

  // Sinks, in the order of the graph.
  Status Finish();
  void Abandon();
  // The summaries of the sinks that have one.
  std::vector<std::string> Summaries() const;

  // The state of every node, and what the sinks have staged for the epoch.
  Result<LaneState> Snapshot(int64_t epoch);
  // The epoch is decided: sinks show what they have staged.
  Status Commit(int64_t epoch);
  std::vector<NodeIdentity> Identities() const;
  // Of each node its state, in the order of the graph; null: it starts empty.
  Status Restore(const std::vector<const NodeState*>& states);

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
  static Status RestoreNode(Node& node, const NodeState& state);
  // Of each node, one of the ways that rows take from a source to it.
  std::vector<std::vector<int>> Routes() const;

  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<int> sources_;
  TimeSamples samples_;
};

}  // namespace rowtide

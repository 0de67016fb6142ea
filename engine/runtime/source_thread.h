// A source that reads and decodes on a thread of its own, seen as a source by the task's thread.
//
//   reader's thread   inner.Poll -> | rows, time, state or error, position, counts |
//                                          bounded queue (engine/runtime/bounded_queue.h)
//   task's thread                              Poll -> Emit, Advance, state or error
//
// What the job sees is what it would see without the thread, poll by poll: rows before an error,
// the position and the counters as of the rows that it has taken, never of those decoded ahead. A
// poll waits for the reader unless the inner source has said kWait itself, so the order in which
// several sources are polled does not depend on how fast they decode. The thread starts with the
// first poll and ends with the object.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/runtime/bounded_queue.h"
#include "engine/snapshot.h"
#include "engine/source.h"

namespace rowtide {

class SourceThread final : public Source {
 public:
  // `inner` counts into `own`; what it had counted with the rows that were taken goes to `counted`,
  // which is borrowed.
  SourceThread(std::unique_ptr<Source> inner, std::unique_ptr<Counters> own, Counters* counted);
  ~SourceThread() override;

  const Schema& output_schema() const override { return inner_->output_schema(); }
  Result<SourceState> Poll(Collector& out) override;
  Status Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;
  Status Begin() override { return inner_->Begin(); }
  Status Committed(SnapshotReader& snapshot) override { return inner_->Committed(snapshot); }
  SourceProgress progress() const override;
  SourceWakeup wakeup() const override { return {queue_.descriptor(), std::nullopt}; }

 private:
  // What one poll of the inner source gave, and where it stands after it.
  struct Event {
    std::optional<RowBatch> batch;
    std::optional<Time> time;
    Result<SourceState> state = SourceState::kMore;
    std::string position;
    SourceProgress progress;
    std::vector<std::string> new_counters;
    std::vector<int64_t> counts;
  };
  class Recorder;

  // The reader's thread.
  void Read();
  void Fill(Event* event);
  void AwaitInput(int64_t guess_millis) const;
  // The task's thread.
  Status Take(const Event& event, Collector& out);

  std::unique_ptr<Source> inner_;  // the reader's, once there is one
  std::unique_ptr<Counters> own_;  // the reader's as well
  size_t named_ = 0;               // how many of them the task has heard of
  BoundedQueue<Event> queue_;

  Counters* counted_;
  // Of counted_, which may have counted before, and what was taken of the reader's.
  struct Count {
    int64_t* counter;
    int64_t taken;
  };
  std::vector<Count> counts_;  // in the order of own_
  std::string position_;
  SourceProgress progress_;
  bool waits_ = false;  // the inner source had nothing when it was polled last

  std::thread reader_;
};

}  // namespace rowtide

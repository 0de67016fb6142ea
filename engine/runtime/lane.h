// One lane of a job: a task, whose turn its sources are on, its ticks, and how it sleeps.
//
// What comes from other lanes goes first, so that nobody waits for this one; then one source is
// polled, unless a lane that it feeds is behind. A snapshot at a barrier is complete when the files
// of the lane's store are written, while rows go on. All of it is used by one thread; what others
// may look at while it runs is `signal` and `published_progress`.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

#include "engine/clock.h"
#include "engine/runtime/job_board.h"
#include "engine/runtime/lane_signal.h"
#include "engine/runtime/task.h"

namespace rowtide {

class Lane {
 public:
  struct Ticks {
    const Clock* clock = nullptr;  // none: no ticks
    int64_t interval_millis = 0;   // 0: no ticks
  };
  // `store`: borrowed; null: all state is in memory.
  Lane(JobGraph graph, bool samples_time, Ticks ticks, LaneStore* store);

  Task& task() { return task_; }
  const Task& task() const { return task_; }
  LaneSignal& signal() { return signal_; }

  // What other lanes have sent, one event of each gate; else a poll, unless a lane that this one
  // feeds is behind or `rests` says that no input may be taken. kEnd: sources and gates are over.
  // `stops`: a source's end is none.
  Result<SourceState> Step(bool stops, bool rests);
  // One poll of the source whose turn it is. kEnd: all sources have ended.
  Result<SourceState> Poll(bool stops);
  // Everything that other lanes have sent. False: there was nothing.
  Result<bool> Drain();
  bool sources_ended() const;

  // --- checkpoints ---
  // What the store has to do between two batches.
  Status WorkOnStore() { return store_ != nullptr ? store_->Work() : Status::Ok(); }
  bool has_work_on_store() const { return store_ != nullptr && store_->has_work(); }
  // Once for each barrier that was met: what the checkpoint has of this lane, or why it has not.
  std::optional<Result<LaneState>> TakeSnapshot();
  // The barrier was met in vain.
  void ForgetSnapshot();
  // Now, and without the files of the store; then those.
  Result<LaneState> Snapshot(int64_t epoch) { return task_.Snapshot(epoch); }
  Status AddFiles(LaneState* state);

  Status TickIfDue();
  // Until a source or the signal wakes it, a tick is due, or `guess_millis` have passed where a
  // source does not know when it will have something. `has_news`: there is something to do.
  void Wait(int64_t guess_millis, const std::function<bool()>& has_news);
  // How many polls in a row may give nothing before all of it has nothing.
  size_t polls_to_wait() const;

  size_t turn() const { return turn_; }
  void set_turn(size_t turn) { turn_ = turn; }

  // The newest epoch that its sinks show.
  int64_t shown_epoch() const { return shown_epoch_; }
  void set_shown_epoch(int64_t epoch) { shown_epoch_ = epoch; }

  // Rows stood still for so long.
  void NoteStop(std::chrono::nanoseconds stop) {
    longest_stop_ = std::max(longest_stop_, stop);
    stopped_ += stop;
  }
  std::chrono::nanoseconds longest_stop() const { return longest_stop_; }

  // Whether it is time to tell others how it goes; from the first call on. To be asked between two
  // batches.
  bool ReportIsDue();
  LaneReport Report() const;

  void PublishProgress();
  JobProgress published_progress() const;

 private:
  Task task_;
  LaneStore* store_;
  std::optional<LaneState> without_files_;  // of the newest barrier
  Ticks ticks_;
  LaneSignal signal_;
  size_t turn_ = 0;
  int64_t next_tick_millis_ = 0;
  int64_t shown_epoch_ = 0;
  std::chrono::nanoseconds longest_stop_{0};
  std::chrono::nanoseconds stopped_{0};
  std::chrono::nanoseconds idle_{0};
  std::chrono::nanoseconds blocked_{0};
  std::chrono::steady_clock::time_point next_report_{};
  bool rests_ = false;     // no input is taken
  bool is_ahead_ = false;  // … because a lane that it feeds is behind
  mutable std::mutex mutex_;
  JobProgress progress_;  // under the mutex
};

}  // namespace rowtide

// When a job takes checkpoints, and what becomes of them: the part that is not on the way of rows.
//
//   job's thread      IsDue -> Begin(7) ..... rows go on ..... Outcome: 7 is decided, sinks show it
//   writer's thread            store.Write(7), store.Commit(7), store.Retire
//
// One checkpoint at a time. One that fails or takes longer than the timeout is given up: rows go
// on, and what sinks had staged is staged again by the next one. More failures in a row than are
// tolerated end the job. While the disk has less room than the reserve, no input is taken.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/checkpoint_store.h"
#include "engine/runtime/checkpoint_writer.h"
#include "engine/runtime/job_board.h"

namespace rowtide {

struct CheckpointSettings {
  int64_t interval_millis = 0;  // 0: only when asked, and at the end
  int64_t min_pause_millis = 0;
  int64_t timeout_millis = 600'000;
  int kept = 2;                // checkpoints that stay
  int tolerable_failures = 0;  // in a row
  int64_t disk_reserve_bytes = 0;
};

class Checkpointer {
 public:
  // `store` is borrowed; `last_epoch`: the one that the job goes on from, 0 if it is new. `say`
  // gets a line for the user. `writer`: none is a thread.
  Checkpointer(CheckpointStore* store, CheckpointSettings settings, int64_t last_epoch,
               std::function<void(const std::string&)> say,
               std::unique_ptr<CheckpointWriter> writer = nullptr);
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  // Whether it is time to take one: none is being written and the interval is over.
  bool IsDue() const;
  int64_t next_epoch() const { return last_epoch_ + 1; }
  // Requires: none is being written, and the epoch is the next one.
  void Begin(Checkpoint checkpoint);
  bool is_writing() const { return is_writing_; }
  // Once for each: the epoch that was decided, or an error when too many have failed. None: still
  // being written, none was begun, or one was given up and that is tolerated.
  Result<std::optional<int64_t>> Outcome();
  // The same, waiting for it. Requires: is_writing.
  Result<std::optional<int64_t>> Await();

  // The next epoch cannot be begun; as an Outcome.
  Result<std::optional<int64_t>> GiveUp(Status status) { return Conclude(std::move(status)); }
  // Requires: none is being written. Waits until it is there.
  Status WriteSavepoint(const Checkpoint& checkpoint, const std::string& target);
  int64_t last_epoch() const { return last_epoch_; }

  // Whether no input may be taken because the disk is nearly full; looks twice a second. Half of
  // the reserve is for checkpoints of what was read before, the other half is left alone.
  bool WaitsForRoom();

  // What has been done so far.
  int64_t completed() const { return completed_; }
  int64_t failed() const { return failed_; }
  // Whether one was begun or decided since the last Report.
  bool has_news() const { return has_news_; }
  CheckpointReport Report();

 private:
  using Moment = CheckpointWriter::Moment;
  Result<std::optional<int64_t>> Conclude(Status status);
  void Write(const Checkpoint& checkpoint);
  Moment Now() const { return writer_->Now(); }

  std::unique_ptr<CheckpointWriter> writer_;
  CheckpointStore* store_;
  CheckpointSettings settings_;
  int64_t last_epoch_;
  std::function<void(const std::string&)> say_;
  Moment begun_;
  Moment ended_;
  Moment looked_at_room_{};
  bool lacks_room_ = false;
  bool is_nearly_full_ = false;
  int64_t completed_ = 0;
  int64_t failed_ = 0;
  int failures_in_row_ = 0;
  CheckpointRecord begun_record_;         // of the one that is being written
  std::vector<CheckpointRecord> recent_;  // that have come to an end, the newest last
  std::optional<Moment> decided_;         // when the newest one was
  bool has_news_ = false;

  bool is_writing_ = false;
  std::atomic<bool> is_given_up_{false};  // it took too long
  // Set by the writing thread at its end, and never under a lock: rows would wait for it.
  std::atomic<bool> is_done_{false};
  Status written_;
  int64_t written_bytes_ = 0;
  Status retired_;  // of one that was decided
};

}  // namespace rowtide

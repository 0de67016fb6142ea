// A job with a state folder: where it goes on from, and what keeps it from being lost.
//
//   Open      the folder of the job is made and locked; the checkpoint to go on from is chosen and
//             verified, and nothing has been touched yet
//   Restore   the state goes into the job that was built for it, or is refused with the reason
//
// A job is known by its name, which comes from what it writes (`insert-into_…`), so a changed query
// finds the state of the one before. What is chosen (reliability.md 3): the newest decided
// checkpoint; if that is damaged, an older one, unless rows of the newer have been shown already;
// if none can be read, an error. `--fresh` begins anew. With exactly-once sinks their decision log
// is asked first, and what it names is taken, or nothing.
//
// A job that fails for a reason that may pass is started again by the strategy that is set:
// DelayAfter, AwaitRestart, then Reopen, Build, Prepare and Restore as for the first start.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/control_socket.h"
#include "connectors/kafka/transactions.h"
#include "engine/runtime/job.h"
#include "engine/runtime/restart_policy.h"
#include "planner/exec/build_job.h"
#include "planner/session.h"
#include "state/durable/checkpoint_folder.h"
#include "state/durable/rocksdb_lane.h"

namespace rowtide {

// What the command line says about state; it comes before what SET says.
struct StateSettings {
  std::string dir;           // --state: execution.checkpointing.dir
  std::string restore;       // --restore: execution.state-recovery.path
  bool fresh = false;        // --fresh
  bool allows_lost = false;  // --allow-non-restored-state
};

class DurableJob {
 public:
  using Say = std::function<void(const std::string&)>;

  // Null: the job keeps nothing, since it has no state folder, is a query or runs in batch mode.
  // `occurrence`: from 1, among the jobs of that name in the script.
  static Result<std::unique_ptr<DurableJob>> Open(const PlannedJob& planned,
                                                  const StateSettings& settings, int occurrence,
                                                  Say say);

  // The checkpoint that the job would go on from; none: it would begin anew. Nothing is touched.
  static Result<std::optional<LoadedCheckpoint>> Find(const PlannedJob& planned,
                                                      const StateSettings& settings, int occurrence,
                                                      const Say& say);
  // State that the query has no place for is dropped, instead of refused.
  static bool AllowsLost(const PlannedJob& planned, const StateSettings& settings);

  // It has read all of its input in an earlier run: once it is restored, so that its sinks show all
  // that they have, there is nothing left to do.
  bool has_read_all() const { return has_read_all_; }
  // … and even that was done.
  bool is_done() const { return has_read_all_ && folder_->is_done(); }
  // It has now; checkpoints that no next one will retire go.
  Status MarkDone();
  // The graphs of the job, with its state where it was.
  Result<std::vector<JobGraph>> Build(BuildContext context);
  void Prepare(JobOptions* options);
  // Before the first step.
  Status Restore(Job& job);

  // The job has failed: how long to wait before it is started again. None: it is not worth a
  // start, or there were too many. Says which.
  std::optional<int64_t> DelayAfter(const Status& failure);
  // Waits so long. False: `stop` or a request has asked the job to stop. Requires: the job that has
  // failed is no more.
  bool AwaitRestart(int64_t delay_millis, const std::atomic<int>& stop);
  int64_t restarts() const { return restarts_.restarts(); }
  // Between two checkpoints.
  int64_t interval_millis() const;
  // After AwaitRestart: finds out anew where to go on from.
  Status Reopen();

  // The job was stopped. True: its checkpoints are gone, as the retention that is set says.
  Result<bool> ForgetIfAsked();

 private:
  DurableJob(std::unique_ptr<CheckpointFolder> folder, const PlannedJob& planned,
             StateSettings settings, int occurrence, Say say);
  bool IsWorthARestart(const Status& failure) const;
  void ChooseBackend();
  // Where to go on from. With a decision log: older instances can do nothing more from here on.
  Status Choose(const StateSettings& settings);
  Status ChooseDecided(const StateSettings& settings);
  Status RefuseUndecided() const;
  Status PlanTheRestore();
  // Of each node of the job: the table that has its entries in the checkpoint.
  std::vector<uint32_t> Tables() const;
  // All of it is shared out: to the rows between lanes, then to the lanes' stores.
  int64_t memory_limit() const;
  int64_t exchange_bytes() const;
  // One a lane, with the lane's entries of the checkpoint if that had as many lanes.
  Status OpenStores();
  std::string SavepointDir() const;
  bool has_kept_files() const;
  bool has_other_lanes() const;

  std::unique_ptr<CheckpointFolder> folder_;
  const PlannedJob& planned_;
  StateSettings settings_;
  int occurrence_;
  Say say_;
  RestartPolicy restarts_;
  bool has_worked_ = false;  // a checkpoint was taken by this process
  bool is_fresh_ = false;
  bool has_read_all_ = false;
  bool allows_lost_ = false;
  std::unique_ptr<KafkaTransactions> transactions_;  // null: the folder decides alone
  std::optional<Decision> decided_;                  // what they had decided at the last start
  std::optional<Decision> left_behind_;              // … before the job was begun anew
  std::optional<LoadedCheckpoint> chosen_;           // none: the job is new
  RestorePlan plan_;                                 // of what was chosen
  bool uses_rocksdb_ = false;
  std::vector<std::unique_ptr<RocksDbLane>> stores_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<JobRequests> requests_ = std::make_unique<JobRequests>();
  std::unique_ptr<ControlSocket> control_;
};

}  // namespace rowtide

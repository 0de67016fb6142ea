// The checkpoints of one job in a folder.
//
//   <dir>/<job>/LOCK                     held while a process runs the job; its pid
//              /ID                       of this life of the job and of the one before, a line each
//              /DONE                     all input was read, and all rows are shown
//              /.work-5f3a-0             RocksDB's, of a run's first lane: gone at the next start
//              /.chk-8-5f3a              being written: gone at the next start
//              /chk-7-5f3a.prepared      durable, not decided
//              /chk-6-5f3a               decided: the name is the decision
//                  /MANIFEST             what there is, with checksums (state/durable/manifest.h)
//                  /lane-0.nodes         the bytes of the lane's nodes, one after the other
//
// `5f3a` is of the run that wrote it, so a process that comes back from a long pause overwrites
// nothing. With a decision log the log decides, and the name follows; a checkpoint that it names
// is taken whatever it is called. Files are synced before the manifest, the manifest before the
// first rename, each rename by a sync of its folder (reliability.md 2.1). A file whose sync failed
// is not used.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/checkpoint_store.h"
#include "engine/decision_log.h"
#include "state/durable/manifest.h"

namespace rowtide {

// A checkpoint or savepoint as it lies on disk.
struct CheckpointEntry {
  std::string path;
  int64_t epoch = 0;
  std::string run_id;
  bool is_decided = false;
};

// What is read of a checkpoint that was verified.
struct LoadedCheckpoint {
  Checkpoint checkpoint;  // the files of a lane's backend have their paths
  std::string job_id;
  std::string path;
};

// In the folder, the newest first. An empty list where there is no folder.
Result<std::vector<CheckpointEntry>> ListCheckpoints(const std::string& job_folder);
// The folders of jobs in a state folder, in the order of their names.
Result<std::vector<std::string>> ListJobFolders(const std::string& dir);
// Sizes and checksums first, then the nodes' bytes. kCorruption names the file. `checks_files`:
// those of the backend too, which takes as long as reading them.
Result<LoadedCheckpoint> LoadCheckpoint(const std::string& path, bool checks_files = true);
Result<Manifest> LoadManifest(const std::string& path);

class CheckpointFolder final : public CheckpointStore {
 public:
  // Makes the folder and locks it. kExternal: another process runs the job, with its pid.
  // `rowtide_version` stands in the manifests.
  static Result<std::unique_ptr<CheckpointFolder>> Open(const std::string& dir,
                                                        const std::string& job,
                                                        std::string rowtide_version);
  ~CheckpointFolder() override;

  // Of this life of the job; names of sinks' files come from it.
  const std::string& job_id() const { return job_id_; }
  const std::string& earlier_job_id() const { return earlier_job_id_; }  // "" in the first
  const std::string& path() const { return path_; }
  const std::string& run_id() const { return run_id_; }
  // What is written from now on is of another run; the one before has come to an end.
  void BeginRun();
  // A folder of this run's own, for one of its lanes, not made yet.
  std::string WorkFolder(int lane) const;
  // A new life: job_id() is another one from now on. Nothing is touched before BeginAfresh, which
  // writes it down and removes what is left of the old life.
  void ChooseNewLife();
  Status BeginAfresh();
  Status MarkDone();
  bool is_done() const;
  // From now on `log` decides which checkpoint counts; borrowed.
  void SetDecisionLog(DecisionLog* log) { log_ = log; }
  // The checkpoint that was decided gets its name, if it has not. kCorruption: it is not here, or
  // not the one that was decided.
  Result<std::string> Adopt(const Decision& decision);
  // What an earlier run left half done, and its control socket.
  Status RemoveLeftovers();

  Status Write(const Checkpoint& checkpoint) override;
  Status Commit(int64_t epoch) override;
  Status Retire(int kept) override;
  int64_t FreeBytes() const override;
  std::string Place() const override { return path_; }
  Status WriteSavepoint(const Checkpoint& checkpoint, const std::string& target) override;

 private:
  CheckpointFolder(std::string path, std::string version, int lock);
  static std::string NameOf(int64_t epoch, const std::string& run_id);
  Status WriteInto(const Checkpoint& checkpoint, const std::string& folder, bool copies);

  std::string path_;
  std::string version_;
  int lock_;
  std::string job_id_;
  std::string earlier_job_id_;
  std::string run_id_;
  DecisionLog* log_ = nullptr;
};

}  // namespace rowtide

// A lane's keyed state over RocksDB: the backend and the tier above it, in a working folder that is
// made anew by each run and worth nothing without the process.
//
//   <work>/db       RocksDB's
//   <work>/chk-7    hard links that the 7th BeginCheckpoint has led to; gone after the next one
//
// On several lanes each has one of its own. Restored on another number of lanes than before, a lane
// reads all old lanes' files once and takes in what is its share.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/lane_store.h"
#include "state/durable/rocksdb_backend.h"
#include "state/state_tier.h"

namespace rowtide {

class RocksDbLane final : public LaneStore {
 public:
  // Empty. `work` is emptied first. `memory_bytes` is shared out:
  //   7/16   entries in memory, and on their way down
  //   4/16   RocksDB's cache: blocks, indexes, filters
  //   5/16   what files are written with, here and by RocksDB's threads, and what is known of each
  // `imports`: what its states are to begin with comes from Import, before the first of their keys.
  static Result<std::unique_ptr<RocksDbLane>> Create(std::string work, int64_t memory_bytes,
                                                     bool imports = false);
  // With the files of this lane in a checkpoint: nothing is read yet.
  static Result<std::unique_ptr<RocksDbLane>> Open(std::string work, int64_t memory_bytes,
                                                   const std::vector<CheckpointFile>& from);
  ~RocksDbLane() override;

  StateTier* tier() { return tier_.get(); }
  // What `share` says of the entries of all lanes of a checkpoint.
  Status Import(const std::vector<LaneState>& from, const RocksDbBackend::Share& share);

  Status BeginCheckpoint() override;
  void Freeze(uint32_t table) override { tier_->Freeze(table); }
  void EndBarrier() override { tier_->EndBarrier(); }
  Status Work() override { return tier_->Work(); }
  bool has_work() const override { return tier_->busy() && !tier_->waits(); }
  bool is_waiting() const override { return tier_->waits(); }
  bool is_written() const override { return tier_->written(); }
  Result<std::vector<CheckpointFile>> AwaitWritten() override { return tier_->WaitWritten(); }

 private:
  RocksDbLane(std::string work, int64_t memory_bytes);
  std::string DbFolder() const { return work_ + "/db"; }
  RocksDbOptions options() const;
  void AddTier(bool restored);
  // Links to the files in a folder of their own, which RocksDB can open.
  Result<std::string> Link(const std::vector<CheckpointFile>& files) const;

  std::string work_;
  int64_t memory_bytes_;
  int64_t checkpoints_ = 0;
  std::string newest_;  // the folder of the newest checkpoint
  std::unique_ptr<RocksDbBackend> backend_;
  std::unique_ptr<StateTier> tier_;
};

}  // namespace rowtide

// A lane's keyed state over RocksDB: the backend and the tier above it, in a working folder that is
// made anew by each run and worth nothing without the process.
//
//   <work>/db       RocksDB's
//   <work>/chk-7    hard links that BeginCheckpoint(7) has led to; gone at the next one
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/lane_store.h"
#include "state/durable/rocksdb_backend.h"
#include "state/state_tier.h"

namespace rowtide {

class RocksDbLane final : public LaneStore {
 public:
  // `work` is emptied first. `from`: the files of the lane in a checkpoint; none: empty.
  // `memory_bytes`: of entries in memory and of RocksDB's cache.
  static Result<std::unique_ptr<RocksDbLane>> Create(std::string work,
                                                     const std::vector<CheckpointFile>& from,
                                                     int64_t memory_bytes);
  ~RocksDbLane() override;

  StateTier* tier() { return tier_.get(); }

  Status BeginCheckpoint(int64_t epoch) override;
  Status Work() override { return tier_->Work(); }
  bool busy() const override { return tier_->busy(); }
  bool is_written() const override { return tier_->written(); }
  Result<std::vector<CheckpointFile>> AwaitWritten() override { return tier_->WaitWritten(); }

 private:
  explicit RocksDbLane(std::string work) : work_(std::move(work)) {}

  std::string work_;
  std::string newest_;  // the folder of the newest checkpoint
  std::unique_ptr<RocksDbBackend> backend_;
  std::unique_ptr<StateTier> tier_;
};

}  // namespace rowtide

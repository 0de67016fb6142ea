#include "state/durable/rocksdb_lane.h"

#include <algorithm>
#include <filesystem>

#include "engine/durable_files.h"

namespace rowtide {
namespace {

constexpr int64_t kFileBytesMin = int64_t{1} << 20;
constexpr int64_t kFileBytesMax = int64_t{64} << 20;

}  // namespace

RocksDbLane::RocksDbLane(std::string work, int64_t memory_bytes)
    : work_(std::move(work)), memory_bytes_(memory_bytes) {}

RocksDbOptions RocksDbLane::options() const {
  RocksDbOptions options;
  options.cache_bytes = static_cast<size_t>(memory_bytes_ / 4);
  options.file_bytes =
      static_cast<size_t>(std::clamp(memory_bytes_ / 4, kFileBytesMin, kFileBytesMax));
  return options;
}

void RocksDbLane::AddTier(bool restored) {
  StateTier::Options tier;
  tier.bytes_max = memory_bytes_ / 16 * 7;
  tier.restored = restored;
  tier_ = std::make_unique<StateTier>(backend_.get(), tier);
}

Result<std::string> RocksDbLane::Link(const std::vector<CheckpointFile>& files) const {
  const std::string links = work_ + "/from";
  RT_TRY(RemoveTree(links));
  RT_TRY(MakeFolders(links));
  for (const CheckpointFile& file : files)
    RT_TRY(LinkOrCopy(file.path, links + "/" + file.name, false));
  return links;
}

Result<std::unique_ptr<RocksDbLane>> RocksDbLane::Create(std::string work, int64_t memory_bytes,
                                                         bool imports) {
  std::unique_ptr<RocksDbLane> lane(new RocksDbLane(std::move(work), memory_bytes));
  RT_TRY(RemoveTree(lane->work_));
  RT_TRY(MakeFolders(lane->work_));
  RT_ASSIGN(lane->backend_, RocksDbBackend::Create(lane->DbFolder(), lane->options()));
  lane->AddTier(imports);
  return lane;
}

Result<std::unique_ptr<RocksDbLane>> RocksDbLane::Open(std::string work, int64_t memory_bytes,
                                                       const std::vector<CheckpointFile>& from) {
  std::unique_ptr<RocksDbLane> lane(new RocksDbLane(std::move(work), memory_bytes));
  RT_TRY(RemoveTree(lane->work_));
  RT_ASSIGN(const std::string links, lane->Link(from));
  RT_ASSIGN(lane->backend_, RocksDbBackend::Open(lane->DbFolder(), links, lane->options()));
  RT_TRY(RemoveTree(links));
  lane->AddTier(true);
  return lane;
}

Status RocksDbLane::Import(const std::vector<LaneState>& from, const RocksDbBackend::Share& share) {
  for (const LaneState& earlier : from) {
    if (earlier.files.empty()) continue;
    RT_ASSIGN(const std::string links, Link(earlier.files));
    RT_TRY(backend_->Import(links, share));
    RT_TRY(RemoveTree(links));
  }
  return Status::Ok();
}

RocksDbLane::~RocksDbLane() {
  tier_.reset();
  backend_.reset();
  (void)RemoveTree(work_).ok();
}

// The files of the one before go beside the rows: large ones take long to be removed.
Status RocksDbLane::BeginCheckpoint() {
  std::string before = std::exchange(newest_, fmt::format("{}/chk-{}", work_, ++checkpoints_));
  return tier_->OpenCheckpoint(newest_, std::move(before));
}

}  // namespace rowtide

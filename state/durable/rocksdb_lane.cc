#include "state/durable/rocksdb_lane.h"

#include <algorithm>
#include <filesystem>

#include "state/durable/files.h"

namespace rowtide {
namespace {

// RocksDB's share of the memory, for blocks, indexes and filters.
constexpr int64_t kCacheShare = 8;
constexpr int64_t kCacheBytesMax = int64_t{256} << 20;
constexpr int64_t kCacheBytesMin = int64_t{4} << 20;

}  // namespace

Result<std::unique_ptr<RocksDbLane>> RocksDbLane::Create(std::string work,
                                                         const std::vector<CheckpointFile>& from,
                                                         int64_t memory_bytes) {
  RT_TRY(RemoveTree(work));
  RT_TRY(MakeFolders(work));
  std::unique_ptr<RocksDbLane> lane(new RocksDbLane(std::move(work)));
  RocksDbOptions options;
  const int64_t cache = std::clamp(memory_bytes / kCacheShare, kCacheBytesMin, kCacheBytesMax);
  options.cache_bytes = static_cast<size_t>(cache);
  const std::string db = lane->work_ + "/db";
  if (from.empty()) {
    RT_ASSIGN(lane->backend_, RocksDbBackend::Create(db, options));
  } else {
    const std::string links = lane->work_ + "/from";
    RT_TRY(MakeFolders(links));
    for (const CheckpointFile& file : from)
      RT_TRY(LinkOrCopy(file.path, links + "/" + file.name, false));
    RT_ASSIGN(lane->backend_, RocksDbBackend::Open(db, links, options));
    RT_TRY(RemoveTree(links));
  }
  StateTier::Options tier;
  tier.bytes_max = std::max(memory_bytes - cache, kCacheBytesMin);
  tier.restored = !from.empty();
  lane->tier_ = std::make_unique<StateTier>(lane->backend_.get(), tier);
  return lane;
}

RocksDbLane::~RocksDbLane() {
  tier_.reset();
  backend_.reset();
  (void)RemoveTree(work_).ok();
}

Status RocksDbLane::BeginCheckpoint(int64_t epoch) {
  if (!newest_.empty()) RT_TRY(RemoveTree(newest_));
  newest_ = fmt::format("{}/chk-{}", work_, epoch);
  RT_TRY(RemoveTree(newest_));  // a savepoint has the epoch of the checkpoint before
  return tier_->BeginCheckpoint(newest_);
}

}  // namespace rowtide

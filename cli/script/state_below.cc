#include "cli/script/state_below.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "state/durable/rocksdb_backend.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

constexpr size_t kCacheBytes = size_t{1} << 20;

// In memory where that can be had: nothing of it has to last.
std::string MakeFolder() {
  const char* const shared_memory = "/dev/shm";
  std::string path =
      access(shared_memory, W_OK) == 0 ? shared_memory : fs::temp_directory_path().string();
  path += "/rowtide-script-XXXXXX";
  return mkdtemp(path.data()) != nullptr ? path : "";
}

}  // namespace

StateBelow::~StateBelow() {
  Close();
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

std::string StateBelow::KeptFolder(size_t lane) const {
  return fmt::format("{}/kept-{}-{}", folder_, kept_, lane);
}

Result<std::unique_ptr<KeyedStateBackend>> StateBelow::MakeBackend(size_t lane, bool has_kept) {
  if (kind_ == Kind::kMap) {
    MapBackend::Table table;
    if (has_kept) table = kept_map_[lane];
    return std::unique_ptr<KeyedStateBackend>(std::make_unique<MapBackend>(std::move(table)));
  }
  if (folder_.empty()) folder_ = MakeFolder();
  if (folder_.empty()) return Status::External("cannot make a folder for state");
  const std::string work = fmt::format("{}/work-{}", folder_, lane);
  RocksDbOptions options;
  options.cache_bytes = kCacheBytes;
  RT_ASSIGN(auto made, has_kept ? RocksDbBackend::Open(work, KeptFolder(lane), options)
                                : RocksDbBackend::Create(work, options));
  return std::unique_ptr<KeyedStateBackend>(std::move(made));
}

Status StateBelow::Open(int lanes) {
  if (kind_ == Kind::kNone) return Status::Ok();
  const auto count = static_cast<size_t>(lanes);
  for (size_t i = 0; i < count; ++i) {
    Lane lane;
    RT_ASSIGN(lane.backend, MakeBackend(i, kept_lanes_ == count));
    lane.tier = std::make_unique<StateTier>(lane.backend.get(),
                                            StateTier::Options{1, kept_lanes_ > 0, true});
    lanes_.push_back(std::move(lane));
  }
  return Status::Ok();
}

Status StateBelow::TakeIn(const Share& share) {
  if (kept_lanes_ == lanes_.size()) return Status::Ok();
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (size_t old = 0; old < kept_lanes_; ++old) RT_TRY(TakeInFrom(old, lane, share));
  }
  return Status::Ok();
}

Status StateBelow::TakeInFrom(size_t old_lane, size_t lane, const Share& share) {
  const auto of_table = [&](uint32_t table) { return share(static_cast<int>(lane), table); };
  KeyedStateBackend& backend = *lanes_[lane].backend;
  if (kind_ == Kind::kRocksDb)
    return static_cast<RocksDbBackend&>(backend).Import(KeptFolder(old_lane), of_table);
  std::vector<StateChange> own;
  for (const auto& [key, value] : kept_map_[old_lane]) {
    const std::optional<KeyGroupRange> groups = of_table(TableOf(key));
    if (groups && groups->Has(KeyGroupIn(key))) own.push_back({key, value});
  }
  return backend.WriteRun(own);
}

std::vector<StateTier*> StateBelow::tiers() const {
  std::vector<StateTier*> tiers;
  for (const Lane& lane : lanes_) tiers.push_back(lane.tier.get());
  return tiers;
}

bool StateBelow::has_states() const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [](const Lane& lane) { return lane.tier->has_states(); });
}

Status StateBelow::Work() {
  for (const Lane& lane : lanes_) RT_TRY(lane.tier->Work());
  return Status::Ok();
}

Status StateBelow::Keep() {
  if (kind_ == Kind::kNone) return Status::Ok();
  ++kept_;
  kept_lanes_ = lanes_.size();
  kept_map_.resize(kept_lanes_);
  for (size_t i = 0; i < lanes_.size(); ++i) RT_TRY(lanes_[i].tier->BeginCheckpoint(KeptFolder(i)));
  for (size_t i = 0; i < lanes_.size(); ++i) {
    RT_TRY(lanes_[i].tier->WaitWritten().status());
    if (kind_ == Kind::kMap)
      kept_map_[i] = static_cast<MapBackend&>(*lanes_[i].backend).checkpoint(KeptFolder(i));
  }
  return Status::Ok();
}

void StateBelow::Close() {
  for (Lane& lane : lanes_) {
    lane.tier.reset();
    lane.backend.reset();
  }
  lanes_.clear();
}

}  // namespace rowtide

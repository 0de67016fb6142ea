#include "cli/script/state_below.h"

#include <unistd.h>

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

Result<std::unique_ptr<KeyedStateBackend>> StateBelow::MakeBackend() {
  if (kind_ == Kind::kMap)
    return std::unique_ptr<KeyedStateBackend>(std::make_unique<MapBackend>(kept_map_));
  if (folder_.empty()) folder_ = MakeFolder();
  if (folder_.empty()) return Status::External("cannot make a folder for state");
  const std::string work = folder_ + "/work";
  const RocksDbOptions options{kCacheBytes, nullptr};
  if (kept_ == 0) {
    RT_ASSIGN(auto made, RocksDbBackend::Create(work, options));
    return std::unique_ptr<KeyedStateBackend>(std::move(made));
  }
  RT_ASSIGN(auto made, RocksDbBackend::Open(work, KeptFolder(), options));
  return std::unique_ptr<KeyedStateBackend>(std::move(made));
}

Status StateBelow::Open() {
  if (kind_ == Kind::kNone) return Status::Ok();
  RT_ASSIGN(backend_, MakeBackend());
  tier_ = std::make_unique<StateTier>(backend_.get(), StateTier::Options{1, kept_ > 0, true});
  return Status::Ok();
}

Status StateBelow::Keep() {
  if (!tier_) return Status::Ok();
  ++kept_;
  RT_TRY(tier_->BeginCheckpoint(KeptFolder()));
  RT_TRY(tier_->WaitWritten().status());
  if (kind_ == Kind::kMap) kept_map_ = static_cast<MapBackend&>(*backend_).checkpoint(KeptFolder());
  return Status::Ok();
}

void StateBelow::Close() {
  tier_.reset();
  backend_.reset();
}

}  // namespace rowtide

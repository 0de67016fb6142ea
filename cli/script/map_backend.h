// A backend that is a map, with copies of it as checkpoints: scripts and tests run over it at speed
// what RocksDB does in files. As there, a thread may read while another one writes.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/keyed_state.h"

namespace rowtide {

class MapBackend final : public KeyedStateBackend {
 public:
  using Table = std::map<std::string, std::string, std::less<>>;
  explicit MapBackend(Table table = {}) : table_(std::move(table)) {}

  std::atomic<bool> fails = false;  // everything, from now on

  Status MultiGet(std::span<const std::string_view> sorted, const Found& found) override {
    if (fails) return Status::External("injected");
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < sorted.size(); ++i) {
      RT_CHECK(i == 0 || sorted[i - 1] < sorted[i]);
      const auto at = table_.find(sorted[i]);
      if (at != table_.end()) RT_TRY(found(i, at->second));
    }
    return Status::Ok();
  }
  Status Scan(std::string_view from, std::string_view end, const Visit& visit) override {
    if (fails) return Status::External("injected");
    const std::lock_guard lock(mutex_);
    for (auto at = table_.lower_bound(from); at != table_.end() && at->first < end; ++at) {
      RT_ASSIGN(const bool goes_on, visit(at->first, at->second));
      if (!goes_on) break;
    }
    return Status::Ok();
  }
  Status WriteRun(std::span<const StateChange> sorted) override {
    if (fails) return Status::External("injected");
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < sorted.size(); ++i) {
      RT_CHECK(i == 0 || sorted[i - 1].key < sorted[i].key);
      if (sorted[i].value) {
        table_[std::string(sorted[i].key)] = *sorted[i].value;
      } else {
        table_.erase(std::string(sorted[i].key));
      }
    }
    return Status::Ok();
  }
  Result<std::vector<CheckpointFile>> Checkpoint(const std::string& folder) override {
    if (fails) return Status::External("injected");
    const std::lock_guard lock(mutex_);
    checkpoints_[folder] = table_;
    return std::vector<CheckpointFile>{{"table", folder, table_.size(), 0, true}};
  }

  // While nothing is written.
  const Table& table() const { return table_; }
  const Table& checkpoint(const std::string& folder) { return checkpoints_[folder]; }

 private:
  std::mutex mutex_;
  Table table_;
  std::map<std::string, Table> checkpoints_;
};

}  // namespace rowtide

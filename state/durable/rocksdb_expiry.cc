#include "state/durable/rocksdb_expiry.h"

#include <algorithm>
#include <cstring>

#include "state/state_run.h"

namespace rowtide {
namespace {

struct TableExpiry {
  int64_t deadline;
  std::shared_ptr<std::atomic<int64_t>> expired;
};

// With the deadlines as they were when the compaction began.
class ExpiryFilter final : public rocksdb::CompactionFilter {
 public:
  explicit ExpiryFilter(std::map<uint32_t, TableExpiry> tables) : tables_(std::move(tables)) {}
  const char* Name() const override { return "RowtideExpiry"; }

  bool Filter(int /*level*/, const rocksdb::Slice& key, const rocksdb::Slice& value,
              std::string* /*changed*/, bool* /*is_changed*/) const override {
    int64_t written;
    if (key.size() < kBelowKeyHead || value.size() < sizeof(written)) return false;
    const auto table = tables_.find(TableOf({key.data(), key.size()}));
    if (table == tables_.end()) return false;
    std::memcpy(&written, value.data(), sizeof(written));
    if (written > table->second.deadline) return false;
    table->second.expired->fetch_add(1, std::memory_order_relaxed);
    return true;
  }

 private:
  std::map<uint32_t, TableExpiry> tables_;
};

}  // namespace

void RocksDbExpiry::Set(uint32_t table, KeyedStateBackend::Deadline deadline) {
  const std::lock_guard lock(mutex_);
  tables_[table].deadline = std::move(deadline);
}

int64_t RocksDbExpiry::TakeExpired(uint32_t table) {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(table);
  return found == tables_.end() ? 0 : found->second.expired->exchange(0);
}

bool RocksDbExpiry::has_tables() {
  const std::lock_guard lock(mutex_);
  return std::any_of(tables_.begin(), tables_.end(),
                     [](const auto& table) { return table.second.deadline != nullptr; });
}

bool RocksDbExpiry::HasOutlived(uint32_t first, uint32_t last, int64_t written) {
  const std::lock_guard lock(mutex_);
  for (auto table = tables_.lower_bound(first); table != tables_.end() && table->first <= last;
       ++table) {
    if (table->second.deadline && written <= table->second.deadline()) return true;
  }
  return false;
}

std::unique_ptr<rocksdb::CompactionFilter> RocksDbExpiry::CreateCompactionFilter(
    const rocksdb::CompactionFilter::Context& /*context*/) {
  const std::lock_guard lock(mutex_);
  std::map<uint32_t, TableExpiry> tables;
  for (const auto& [number, table] : tables_) {
    if (table.deadline) tables.emplace(number, TableExpiry{table.deadline(), table.expired});
  }
  if (tables.empty()) return nullptr;
  return std::make_unique<ExpiryFilter>(std::move(tables));
}

}  // namespace rowtide

// What RocksDB may leave out of the files that it rewrites: entries of tables with a time-to-live
// whose time is over.
//
//   value   | written: i64, milliseconds | ... |      gone when written <= the table's deadline
//
// A reader would find such an entry expired, so it makes no difference when files are rewritten:
// only that the space of keys that never come back is given back. An outdated value of a key may be
// left out while a newer one lies in another file; it counts all the same.
//
// The tables are named by the lane's thread, the filters run on threads of RocksDB.
#pragma once

#include <rocksdb/compaction_filter.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "engine/keyed_state.h"

namespace rowtide {

class RocksDbExpiry final : public rocksdb::CompactionFilterFactory {
 public:
  void Set(uint32_t table, KeyedStateBackend::Deadline deadline);
  int64_t TakeExpired(uint32_t table);
  bool has_tables();
  // Whether in one of these tables what was written then, in milliseconds, has expired by now.
  bool HasOutlived(uint32_t first, uint32_t last, int64_t written);

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context& context) override;
  const char* Name() const override { return "RowtideExpiry"; }

 private:
  struct Table {
    KeyedStateBackend::Deadline deadline;
    std::shared_ptr<std::atomic<int64_t>> expired = std::make_shared<std::atomic<int64_t>>(0);
  };
  std::mutex mutex_;
  std::map<uint32_t, Table> tables_;  // under the mutex
};

}  // namespace rowtide

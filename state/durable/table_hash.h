// The hash of a table, taken while RocksDB writes it and kept in its manifest: so no file of a
// checkpoint is read back for the hash that the checkpoint's own manifest has of it.
#pragma once

#include <rocksdb/file_checksum.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

namespace rowtide {

class TableHash final : public rocksdb::FileChecksumGenerator {
 public:
  static constexpr const char* kName = "xxh3";
  TableHash() : state_(XXH3_createState(), XXH3_freeState) { XXH3_64bits_reset(state_.get()); }
  void Update(const char* data, size_t bytes) override {
    XXH3_64bits_update(state_.get(), data, bytes);
  }
  void Finalize() override {
    const uint64_t hash = XXH3_64bits_digest(state_.get());
    hash_.assign(reinterpret_cast<const char*>(&hash), sizeof(hash));
  }
  std::string GetChecksum() const override { return hash_; }
  const char* Name() const override { return kName; }
  static uint64_t Of(const std::string& checksum) {
    uint64_t hash = 0;
    std::memcpy(&hash, checksum.data(), std::min(sizeof(hash), checksum.size()));
    return hash;
  }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
  std::string hash_;
};

class TableHashes final : public rocksdb::FileChecksumGenFactory {
 public:
  std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
      const rocksdb::FileChecksumGenContext& context) override {
    if (!context.requested_checksum_func_name.empty() &&
        context.requested_checksum_func_name != TableHash::kName)
      return nullptr;
    return std::make_unique<TableHash>();
  }
  const char* Name() const override { return TableHash::kName; }
};

}  // namespace rowtide

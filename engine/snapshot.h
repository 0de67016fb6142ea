// The bytes of a snapshot, written and read field by field.
//
// Little-endian fixed-width numbers; byte strings carry their length as u64. A reader never trusts
// the bytes: every read checks what is left and fails with kCorruption, naming the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/status.h"

namespace rowtide {

class SnapshotWriter {
 public:
  void PutU8(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void PutU32(uint32_t value) { PutRaw(&value, sizeof(value)); }
  void PutU64(uint64_t value) { PutRaw(&value, sizeof(value)); }
  void PutI64(int64_t value) { PutRaw(&value, sizeof(value)); }
  void PutBytes(std::string_view bytes) {
    PutU64(bytes.size());
    bytes_.append(bytes);
  }
  // Bytes that another writer has written.
  void Append(std::string_view bytes) { bytes_.append(bytes); }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void PutRaw(const void* data, size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  std::string bytes_;
};

class SnapshotReader {
 public:
  // Borrows `bytes`, which must outlive the reader and every view it returns.
  explicit SnapshotReader(std::string_view bytes) : rest_(bytes) {}

  Result<uint8_t> U8(const char* field);
  Result<uint32_t> U32(const char* field);
  Result<uint64_t> U64(const char* field);
  Result<int64_t> I64(const char* field);
  Result<std::string_view> Bytes(const char* field);
  bool AtEnd() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }

 private:
  template <typename T>
  Result<T> Number(const char* field);
  std::string_view rest_;
};

}  // namespace rowtide

#include "engine/snapshot.h"

#include <cstring>

namespace rowtide {

template <typename T>
Result<T> SnapshotReader::Number(const char* field) {
  if (rest_.size() < sizeof(T)) return Status::Corruption("snapshot ends inside field {}", field);
  T value;
  std::memcpy(&value, rest_.data(), sizeof(T));
  rest_.remove_prefix(sizeof(T));
  return value;
}

Result<uint8_t> SnapshotReader::U8(const char* field) { return Number<uint8_t>(field); }
Result<uint32_t> SnapshotReader::U32(const char* field) { return Number<uint32_t>(field); }
Result<uint64_t> SnapshotReader::U64(const char* field) { return Number<uint64_t>(field); }
Result<int64_t> SnapshotReader::I64(const char* field) { return Number<int64_t>(field); }

Result<std::string_view> SnapshotReader::Bytes(const char* field) {
  RT_ASSIGN(const uint64_t size, U64(field));
  if (size > rest_.size()) {
    return Status::Corruption("snapshot field {} claims {} bytes, {} are left", field, size,
                              rest_.size());
  }
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

}  // namespace rowtide

// The pieces of protobuf's wire format: tags, varints, and what nobody wants.
//
//   tag = field number << 3 | wire type      0 varint, 1 eight bytes, 2 length and bytes,
//                                            3 and 4 around a group, 5 four bytes
//
// What begins before `end` is read without another look at it: 10 bytes behind are readable, as
// they are in every block. Whoever reads looks whether he has come too far before he goes on.
#pragma once

#include <cstdint>
#include <string>

#include "connectors/formats/protobuf_schema.h"

namespace rowtide {

enum ProtoWire : uint32_t {
  kWireVarint = 0,
  kWireFixed64 = 1,
  kWireBytes = 2,
  kWireGroup = 3,
  kWireGroupEnd = 4,
  kWireFixed32 = 5
};

// What is beyond these bits of a tag does not count, as in the library.
inline constexpr uint64_t kTagBits = 0xffffffff;

// The wire type of a field that is not repeated. Requires: not kOther.
inline uint32_t WireOf(ProtoKind kind) {
  switch (kind) {
    case ProtoKind::kFixed32:
    case ProtoKind::kFloat: return kWireFixed32;
    case ProtoKind::kFixed64:
    case ProtoKind::kDouble: return kWireFixed64;
    case ProtoKind::kString:
    case ProtoKind::kBytes: return kWireBytes;
    default: return kWireVarint;
  }
}

// Where the number ends; null: it has more than ten bytes. Requires: 10 readable bytes.
inline const char* ReadVarint(const char* at, uint64_t* value) {
  uint64_t bits = static_cast<uint8_t>(*at++);
  if (bits >= 0x80) [[unlikely]] {
    bits &= 0x7f;
    for (int shift = 7;; shift += 7) {
      if (shift > 63) return nullptr;
      const uint64_t byte = static_cast<uint8_t>(*at++);
      bits |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
  }
  *value = bits;
  return at;
}

inline void AppendVarint(uint64_t bits, std::string* out) {
  for (; bits >= 0x80; bits >>= 7) out->push_back(static_cast<char>(bits | 0x80));
  out->push_back(static_cast<char>(bits));
}

inline uint64_t Zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t Unzigzag(uint64_t bits) {
  return static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
}

// Where the field behind that tag ends, which may be behind `end`; null: it is none. `depth`: how
// many groups may stand in each other.
const char* SkipProtoField(uint64_t tag, const char* at, const char* end, int depth);

}  // namespace rowtide

// The numbers of Avro's binary encoding, and the walk over a value that nobody wants.
//
//   -3   zigzag 5   | 05 |            seven bits a byte, the lowest first; the top bit: goes on
//   300  zigzag 600 | d8 04 |
//
// What begins before `end` is read without another look at it: 10 bytes behind are readable, as
// they are in every block. Whoever reads looks whether he has come too far before he goes on.
#pragma once

#include <cstdint>
#include <string>

#include "connectors/formats/avro_schema.h"

namespace rowtide {

// Where the number ends; null: it has more than 64 bits. Requires: 10 readable bytes.
inline const char* ReadAvroLong(const char* at, int64_t* value) {
  uint64_t bits = static_cast<uint8_t>(*at++);
  if (bits >= 0x80) [[unlikely]] {
    bits &= 0x7f;
    for (int shift = 7;; shift += 7) {
      const uint64_t byte = static_cast<uint8_t>(*at++);
      if (shift == 63 && byte > 1) return nullptr;
      bits |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
  }
  *value = static_cast<int64_t>(bits >> 1) ^ -static_cast<int64_t>(bits & 1);
  return at;
}

// Writes up to 10 bytes; returns where they end.
inline char* PutAvroLong(int64_t value, char* to) {
  uint64_t bits = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  for (; bits >= 0x80; bits >>= 7) *to++ = static_cast<char>(bits | 0x80);
  *to++ = static_cast<char>(bits);
  return to;
}

inline void AppendAvroLong(int64_t value, std::string* out) {
  char bytes[10];
  out->append(bytes, static_cast<size_t>(PutAvroLong(value, bytes) - bytes));
}

// Where the value ends, which may be behind `end`; null: it is none. `depth`: how many values may
// stand in each other.
const char* SkipAvroValue(const AvroType& type, const char* at, const char* end, int64_t depth);

}  // namespace rowtide

// Copies of a few to a few hundred bytes without a branch on their length, which varies from row to
// row: pieces of fixed size that overlap. Both write exactly the bytes asked for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace rowtide {

// Requires: size > 8.
inline void CopyLong(const char* from, size_t size, char* to) {
  if (size < 16) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
    return;
  }
  if (size < 32) {
    std::memcpy(to, from, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
    return;
  }
  const char* const last = from + size - 32;
  char* const last_to = to + size - 32;
  for (; last - from > 64; from += 32, to += 32) std::memcpy(to, from, 32);
  std::memcpy(to, from, 32);
  std::memcpy(std::min(to + 32, last_to), std::min(from + 32, last), 32);
  std::memcpy(last_to, last, 32);
}

// Requires: size <= 16.
inline void CopyShort(const char* from, size_t size, char* to) {
  if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}

}  // namespace rowtide

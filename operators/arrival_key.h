// An arrival number as a sort key of ordered state: eight bytes, big-endian, so that later ones
// sort behind.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "state/key_codec.h"

namespace rowtide {

class ArrivalKey {
 public:
  explicit ArrivalKey(uint64_t arrival) : bytes_(__builtin_bswap64(arrival)) {}
  // Borrows this object.
  SortKeyView view() const {
    const std::string_view text{reinterpret_cast<const char*>(&bytes_), sizeof(bytes_)};
    return {SortPrefixOf(text), text};
  }
  // Requires: eight bytes made by this class.
  static uint64_t Read(std::string_view sort_key) {
    uint64_t bytes;
    std::memcpy(&bytes, sort_key.data(), sizeof(bytes));
    return __builtin_bswap64(bytes);
  }

 private:
  uint64_t bytes_;
};

}  // namespace rowtide

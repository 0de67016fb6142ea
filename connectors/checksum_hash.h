// What a changelog is reduced to when its rows need not be kept: how many of each kind, a checksum
// that depends on the order of all rows (of each lane), and one that does not.
//
//   Add(kInsert, "+I [1,\"a\"]\n")     ->   +I 1 -U 0 +U 0 -D 0 ordered=0x… unordered=0x…
//
// The bytes are those of the script line, kind and newline included. The `checksum` sink and the
// programs in tests/bench/limit share this file, so equal output shows as equal text.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace rowtide {

struct ChecksumState {
  uint64_t counts[4] = {0, 0, 0, 0};  // by row kind: +I -U +U -D
  uint64_t ordered = 0;
  uint64_t unordered = 0;

  // Requires: kind < 4. `line` is the whole script line.
  void Add(unsigned kind, std::string_view line) {
    constexpr uint64_t kMultiplier = 0x9e3779b185ebca87;
    const uint64_t hash = XXH3_64bits(line.data(), line.size());
    ++counts[kind];
    ordered = ((ordered << 5 | ordered >> 59) * kMultiplier) ^ hash;
    unordered += hash;
  }

  // Rows that came beside these: there is no order among them, so `ordered` says little from here.
  void Merge(const ChecksumState& other) {
    for (size_t kind = 0; kind < 4; ++kind) counts[kind] += other.counts[kind];
    ordered ^= other.ordered;
    unordered += other.unordered;
  }

  std::string Text() const {
    char text[192];
    const int bytes = std::snprintf(
        text, sizeof text, "+I %llu -U %llu +U %llu -D %llu ordered=0x%016llx unordered=0x%016llx",
        static_cast<unsigned long long>(counts[0]), static_cast<unsigned long long>(counts[1]),
        static_cast<unsigned long long>(counts[2]), static_cast<unsigned long long>(counts[3]),
        static_cast<unsigned long long>(ordered), static_cast<unsigned long long>(unordered));
    return std::string(text, static_cast<size_t>(bytes));
  }
};

}  // namespace rowtide

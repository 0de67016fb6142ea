// Key groups: what keyed state is cut into, so that another number of lanes can share it out anew.
//
//   canonical key bytes -> murmur3 mod 128 -> group 0..127 -> lane, of however many there are
//
//   lanes 3   |  0 ..  42 | 43 ..  85 | 86 .. 127 |     contiguous ranges, as Flink cuts them
//   lanes 2   |  0 ..    63    | 64 ..    127     |
//
// The group of a key is part of every checkpoint: the hash and the number of groups never change.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowtide {

inline constexpr int kKeyGroups = 128;

// 0 .. kKeyGroups - 1. `canonical_key`: as KeyCodec writes it (state/key_codec.h).
int KeyGroupOf(std::string_view canonical_key);

// The groups that one lane holds, both ends included.
struct KeyGroupRange {
  int first = 0;
  int last = kKeyGroups - 1;

  bool all() const { return first == 0 && last == kKeyGroups - 1; }
  bool Has(int group) const { return group >= first && group <= last; }
  bool HasKey(std::string_view canonical_key) const {
    return all() || Has(KeyGroupOf(canonical_key));
  }
  friend bool operator==(const KeyGroupRange&, const KeyGroupRange&) = default;
};

// As Flink's KeyGroupRangeAssignment. Requires: 0 <= lane < lanes <= kKeyGroups.
constexpr KeyGroupRange KeyGroupsOfLane(int lane, int lanes) {
  return {(lane * kKeyGroups + lanes - 1) / lanes, ((lane + 1) * kKeyGroups - 1) / lanes};
}
constexpr int LaneOfKeyGroup(int group, int lanes) { return group * lanes / kKeyGroups; }

}  // namespace rowtide

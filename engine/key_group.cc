#include "engine/key_group.h"

#include <bit>
#include <cstring>

namespace rowtide {
namespace {

// MurmurHash3_x86_32 of Austin Appleby (public domain), seed 0.
uint32_t Murmur3(std::string_view bytes) {
  constexpr uint32_t kFirst = 0xcc9e2d51;
  constexpr uint32_t kSecond = 0x1b873593;
  uint32_t hash = 0;
  size_t at = 0;
  for (; at + 4 <= bytes.size(); at += 4) {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    hash ^= std::rotl(word * kFirst, 15) * kSecond;
    hash = std::rotl(hash, 13) * 5 + 0xe6546b64;
  }
  uint32_t rest = 0;
  for (size_t i = bytes.size(); i > at; --i)
    rest = (rest << 8) | static_cast<uint8_t>(bytes[i - 1]);
  hash ^= std::rotl(rest * kFirst, 15) * kSecond;
  hash ^= static_cast<uint32_t>(bytes.size());
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return hash ^ (hash >> 16);
}

}  // namespace

int KeyGroupOf(std::string_view canonical_key) {
  return static_cast<int>(Murmur3(canonical_key) % static_cast<uint32_t>(kKeyGroups));
}

}  // namespace rowtide

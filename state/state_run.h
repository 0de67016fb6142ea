// Changes on their way from the hot tier to the backend: gathered in any order, written in the
// order of their keys.
//
//   Put(3, "b", "x")  Put(1, "z", "y")  Remove(3, "a")   ->   1 z: y | 3 a: gone | 3 b: x
//
// Bytes lie in blocks, so a run grows without being copied. Gathered by the lane's thread, sorted
// and written by another one. A run that is full is handed on; if that is done between two key
// groups, runs of one checkpoint do not overlap, and lie side by side in one level of the backend.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/key_group.h"
#include "engine/keyed_state.h"

namespace rowtide {

// The key of an entry in the backend: table and key group in front of the canonical key.
inline constexpr size_t kBelowKeyHead = sizeof(uint32_t) + 1;
void AppendBelowKey(uint32_t table, std::string_view key, std::string* to);
// What is in front of every key of the table.
std::string TablePrefix(uint32_t table);
// Of such a key. Requires: it is longer than its head.
uint32_t TableOf(std::string_view below_key);
int KeyGroupIn(std::string_view below_key);

class StateRun {
 public:
  static constexpr size_t kBlockBytes = size_t{1} << 20;
  explicit StateRun(size_t block_bytes = kBlockBytes) : block_bytes_(block_bytes) {}

  // A key may come once. Requires: `group` is the key's.
  void Put(uint32_t table, int group, std::string_view key, std::string_view value) {
    Add(table, group, key, value.data(), static_cast<uint32_t>(value.size()));
  }
  void Remove(uint32_t table, int group, std::string_view key) {
    Add(table, group, key, nullptr, kGone);
  }

  // Room for so many bytes: growing on the way is a stop that is felt. It is not touched before.
  void Expect(int64_t bytes) { changes_.reserve(static_cast<size_t>(bytes) / kSmallChange); }
  // All of the other one, which is empty then. Requires: no key is in both.
  void Take(StateRun* other);
  // Empties it; memory stays for what comes next: the first touch of a page costs as much as some
  // dozen entries.
  void Reset();

  bool empty() const { return changes_.empty(); }
  int64_t bytes() const { return bytes_; }
  // Sorts; good until the next change.
  std::span<const StateChange> Sorted();

 private:
  static constexpr uint32_t kGone = 0xffffffff;
  // The first bytes of the key are here as numbers: they decide nearly every comparison.
  struct Change {
    uint64_t first;
    uint64_t second;
    const char* key;  // the value follows it
    uint32_t key_size;
    uint32_t value_size;
    std::string_view key_view() const { return {key, key_size}; }
    bool operator<(const Change& other) const {
      if (first != other.first) return first < other.first;
      if (second != other.second) return second < other.second;
      return key_view() < other.key_view();
    }
  };
  static constexpr size_t kSmallChange = sizeof(Change) + 24;
  void Add(uint32_t table, int group, std::string_view key, const char* value, uint32_t value_size);

  struct Block {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  void OpenBlock(size_t bytes);

  size_t block_bytes_;
  std::vector<Block> blocks_;
  std::vector<Block> unused_;  // all of block_bytes_
  size_t left_ = 0;
  char* next_ = nullptr;
  int64_t bytes_ = 0;
  std::vector<Change> changes_;
  std::vector<StateChange> sorted_;
};

}  // namespace rowtide

#include "state/state_run.h"

#include <algorithm>

#include "state/copy_bytes.h"

namespace rowtide {
namespace {

void WriteHead(uint32_t table, int group, char* to) {
  const uint32_t big_endian = __builtin_bswap32(table);
  std::memcpy(to, &big_endian, sizeof(big_endian));
  to[sizeof(big_endian)] = static_cast<char>(group);
}

// Shorter keys as if they ended in zeros: equal then, and compared in full.
uint64_t WordAt(const char* key, size_t key_size, size_t at) {
  uint64_t word = 0;
  if (key_size >= at + sizeof(word)) {
    std::memcpy(&word, key + at, sizeof(word));  // without a call
  } else if (key_size > at) {
    std::memcpy(&word, key + at, key_size - at);
  }
  return __builtin_bswap64(word);
}

void CopyAny(const char* from, size_t size, char* to) {
  if (size > 16) {
    CopyLong(from, size, to);
  } else {
    CopyShort(from, size, to);
  }
}

}  // namespace

void AppendBelowKey(uint32_t table, std::string_view key, std::string* to) {
  char head[kBelowKeyHead];
  WriteHead(table, KeyGroupOf(key), head);
  to->append(head, sizeof(head)).append(key);
}

std::string TablePrefix(uint32_t table) {
  const uint32_t big_endian = __builtin_bswap32(table);
  return {reinterpret_cast<const char*>(&big_endian), sizeof(big_endian)};
}

uint32_t TableOf(std::string_view below_key) {
  uint32_t big_endian;
  std::memcpy(&big_endian, below_key.data(), sizeof(big_endian));
  return __builtin_bswap32(big_endian);
}

int KeyGroupIn(std::string_view below_key) {
  return static_cast<uint8_t>(below_key[sizeof(uint32_t)]);
}

void StateRun::Add(uint32_t table, int group, std::string_view key, const char* value,
                   uint32_t value_size) {
  const size_t key_size = kBelowKeyHead + key.size();
  const size_t value_bytes = value_size == kGone ? 0 : value_size;
  const size_t bytes = key_size + value_bytes;
  if (bytes > left_) OpenBlock(bytes);
  WriteHead(table, group, next_);
  if (key.data() + key.size() == value) {  // as they lie in memory: in one piece
    CopyAny(key.data(), key.size() + value_bytes, next_ + kBelowKeyHead);
  } else {
    CopyAny(key.data(), key.size(), next_ + kBelowKeyHead);
    CopyAny(value, value_bytes, next_ + key_size);
  }
  changes_.push_back({WordAt(next_, key_size, 0), WordAt(next_, key_size, sizeof(uint64_t)), next_,
                      static_cast<uint32_t>(key_size), value_size});
  next_ += bytes;
  left_ -= bytes;
  bytes_ += static_cast<int64_t>(bytes + sizeof(Change));
}

void StateRun::OpenBlock(size_t bytes) {
  if (bytes <= block_bytes_ && !unused_.empty()) {
    blocks_.push_back(std::move(unused_.back()));
    unused_.pop_back();
  } else {
    const size_t size = std::max(bytes, block_bytes_);
    blocks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  }
  next_ = blocks_.back().bytes.get();
  left_ = blocks_.back().size;
}

void StateRun::Reset() {
  for (Block& block : blocks_) {
    if (block.size == block_bytes_) unused_.push_back(std::move(block));
  }
  blocks_.clear();
  changes_.clear();
  sorted_.clear();
  next_ = nullptr;
  left_ = 0;
  bytes_ = 0;
}

void StateRun::Take(StateRun* other) {
  for (auto& block : other->blocks_) blocks_.push_back(std::move(block));
  changes_.insert(changes_.end(), other->changes_.begin(), other->changes_.end());
  bytes_ += other->bytes_;
  left_ = 0;  // the newest block is another one now
  *other = StateRun(other->block_bytes_);
}

std::span<const StateChange> StateRun::Sorted() {
  std::sort(changes_.begin(), changes_.end());
  sorted_.clear();
  sorted_.reserve(changes_.size());
  for (const Change& change : changes_) {
    sorted_.push_back({change.key_view(), std::nullopt});
    if (change.value_size != kGone)
      sorted_.back().value = std::string_view(change.key + change.key_size, change.value_size);
  }
  return sorted_;
}

}  // namespace rowtide

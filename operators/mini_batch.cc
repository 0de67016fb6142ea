#include "operators/mini_batch.h"

#include <algorithm>
#include <cstring>

#include "engine/status.h"

namespace rowtide {
namespace {
constexpr size_t kChunkBytes = size_t{64} << 10;
constexpr size_t kFirstSlots = 64;
constexpr int64_t kRowsMax = int64_t{1} << 40;
}  // namespace

uint32_t Bundle::FindOrAdd(std::string_view key, uint64_t hash) {
  if (slots_.size() < 2 * static_cast<size_t>(keys_.rows() + 1))
    Rehash(std::max(kFirstSlots, 2 * slots_.size()));
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const uint32_t number = slots_[at] - 1;
    if (keys_.hash(static_cast<int>(number)) == hash && keys_.key(static_cast<int>(number)) == key)
      return number;
  }
  const uint32_t number = static_cast<uint32_t>(keys_.rows());
  keys_.Add(key, hash);
  lists_.push_back({});
  slots_[at] = number + 1;
  return number;
}

void Bundle::Rehash(size_t slots) {
  slots_.assign(slots, 0);
  for (int number = 0; number < keys_.rows(); ++number) {
    size_t at = keys_.hash(number) & (slots - 1);
    while (slots_[at] != 0) at = (at + 1) & (slots - 1);
    slots_[at] = static_cast<uint32_t>(number) + 1;
  }
}

void Bundle::Append(uint32_t key, RowKind kind, std::string_view row) {
  Item item{kind, 0, 0, 0, 0, kNone};
  Store(&item, row);
  const uint32_t number = static_cast<uint32_t>(items_.size());
  items_.push_back(item);
  List& list = lists_[key];
  if (list.first == kNone) {
    list.first = number;
  } else {
    items_[list.last].next = number;
  }
  list.last = number;
}

void Bundle::ReplaceLast(uint32_t key, RowKind kind, std::string_view row) {
  if (!HasRows(key)) return Append(key, kind, row);
  Item& item = items_[lists_[key].last];
  item.kind = kind;
  Store(&item, row);
}

// A row that fits into the place of the one it replaces goes there.
void Bundle::Store(Item* item, std::string_view row) {
  if (row.size() > item->room || item->room == 0) {
    if (chunks_.empty() || row.size() > chunk_left_) {
      const size_t bytes = std::max(kChunkBytes, row.size());
      chunks_.emplace_back(new char[bytes]);
      bytes_ += static_cast<int64_t>(bytes);
      size_->bytes += static_cast<int64_t>(bytes);
      chunk_left_ = bytes;
      chunk_used_ = 0;
    }
    item->chunk = static_cast<uint32_t>(chunks_.size() - 1);
    item->offset = static_cast<uint32_t>(chunk_used_);
    item->room = static_cast<uint32_t>(row.size());
    chunk_used_ += row.size();
    chunk_left_ -= row.size();
  }
  item->size = static_cast<uint32_t>(row.size());
  if (!row.empty()) std::memcpy(chunks_[item->chunk].get() + item->offset, row.data(), row.size());
}

void Bundle::KeysFrom(int first, int rows_max, KeyBatch* keys) const {
  keys->Clear();
  const int end = std::min(keys_.rows(), first + rows_max);
  for (int number = first; number < end; ++number) keys->Add(keys_.key(number), keys_.hash(number));
}

void Bundle::Clear() {
  rows_added_ = 0;
  keys_.Clear();
  lists_.clear();
  items_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
  chunks_.clear();
  chunk_left_ = chunk_used_ = 0;
  size_->bytes -= bytes_;
  bytes_ = 0;
}

void Bundle::Snapshot(SnapshotWriter& writer) const {
  writer.PutI64(rows_added_);
  writer.PutU32(static_cast<uint32_t>(keys_.rows()));
  for (int number = 0; number < keys_.rows(); ++number) {
    writer.PutBytes(keys_.key(number));
    for (uint32_t row = lists_[static_cast<size_t>(number)].first; row != kNone;
         row = At(row).next) {
      writer.PutU8(1);
      writer.PutU8(static_cast<uint8_t>(At(row).kind));
      writer.PutBytes(At(row).bytes);
    }
    writer.PutU8(0);
  }
}

Status Bundle::Restore(SnapshotReader& reader) {
  Clear();
  return Merge(reader);
}

Status Bundle::Merge(SnapshotReader& reader) {
  RT_ASSIGN(const int64_t rows_added, reader.I64("bundle rows"));
  if (rows_added < 0 || rows_added > kRowsMax)
    return Status::Corruption("a bundle of the snapshot has taken in {} rows", rows_added);
  RT_ASSIGN(const uint32_t keys, reader.U32("bundle keys"));
  const uint32_t known = static_cast<uint32_t>(keys_.rows());
  uint32_t next = known;
  bool keeps_all = true;
  int64_t kept_rows = 0;
  for (uint32_t i = 0; i < keys; ++i) {
    RT_ASSIGN(const std::string_view key, reader.Bytes("bundle key"));
    const bool keeps = key_groups_.HasKey(key);
    keeps_all &= keeps;
    const uint32_t number = keeps ? FindOrAdd(key, HashBytes(key)) : kNone;
    if (keeps && number >= known && number != next++)
      return Status::Corruption("a bundle of the snapshot has a key twice");
    for (bool is_first = true;; is_first = false) {
      RT_ASSIGN(const uint8_t more, reader.U8("bundle row follows"));
      if (more == 0 && is_first)
        return Status::Corruption("a bundle of the snapshot has a key without rows");
      if (more == 0) break;
      RT_ASSIGN(const uint8_t kind, reader.U8("bundle row kind"));
      if (kind > static_cast<uint8_t>(RowKind::kDelete))
        return Status::Corruption("row kind {} in a bundle", kind);
      RT_ASSIGN(const std::string_view row, reader.Bytes("bundle row"));
      if (check_) RT_TRY(check_(row));
      if (!keeps) continue;
      Append(number, static_cast<RowKind>(kind), row);
      ++kept_rows;
    }
  }
  rows_added_ += keeps_all ? rows_added : kept_rows;
  return Status::Ok();
}

}  // namespace rowtide

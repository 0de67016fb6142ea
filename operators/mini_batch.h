// A mini-batch's bundle: rows gathered by key until a count, a watermark, a tick or the end flushes
// them.
//
//   rows a1 b1 a2   ->   keys in order of first arrival: a: a1 a2 | b: b1
//
// The operator decides what to keep of a key: every row (Append), the first (Append once) or the
// last (ReplaceLast). `rows_added` counts all rows since the last flush, over all keys, kept or
// not: that is what mini-batch.size bounds. The bundle is part of the snapshot, so a checkpoint
// changes no output (flink-rank-dedup.md 6.10). Of bundles that are merged, a key has the rows of
// all; a bundle that gives keys away counts the rows that it keeps.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/changelog_mode.h"
#include "engine/operator.h"
#include "state/key_codec.h"
#include "state/state_part.h"

namespace rowtide {

// table.exec.mini-batch.*; size 0 = off.
struct MiniBatch {
  int64_t size = 0;
  bool enabled() const { return size > 0; }
  friend bool operator==(const MiniBatch&, const MiniBatch&) = default;
};

class Bundle final : public StatePart {
 public:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Row {
    RowKind kind;
    std::string_view bytes;
    uint32_t next;  // the key's next row, or kNone
  };

  explicit Bundle(const OperatorContext& context)
      : size_(context.state_size), key_groups_(context.key_groups) {}
  ~Bundle() override { Clear(); }

  int64_t rows_added() const { return rows_added_; }
  void CountRow() { ++rows_added_; }
  // The number of the key, in order of first arrival.
  uint32_t FindOrAdd(std::string_view key, uint64_t hash);
  void Append(uint32_t key, RowKind kind, std::string_view row);
  void ReplaceLast(uint32_t key, RowKind kind, std::string_view row);
  bool HasRows(uint32_t key) const { return lists_[key].first != kNone; }
  // Requires: HasRows.
  Row First(uint32_t key) const { return At(lists_[key].first); }
  Row Last(uint32_t key) const { return At(lists_[key].last); }
  Row At(uint32_t row) const {
    const Item& item = items_[row];
    return {item.kind, {chunks_[item.chunk].get() + item.offset, item.size}, item.next};
  }

  // As ValueState::CheckValues, of each row.
  void CheckRows(std::function<Status(std::string_view row)> check) { check_ = std::move(check); }

  int keys() const { return keys_.rows(); }
  // Keys [first, first + up to rows_max) as a batch of keys.
  void KeysFrom(int first, int rows_max, KeyBatch* keys) const;
  void Clear();

  void Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;

 private:
  struct List {
    uint32_t first = kNone;
    uint32_t last = kNone;
  };
  struct Item {
    RowKind kind;
    uint32_t size;
    uint32_t room;
    uint32_t chunk;
    uint32_t offset;
    uint32_t next;
  };
  void Store(Item* item, std::string_view row);
  void Rehash(size_t slots);

  std::function<Status(std::string_view row)> check_;
  StateSize* size_;
  KeyGroupRange key_groups_;
  int64_t rows_added_ = 0;
  KeyBatch keys_;
  std::vector<List> lists_;
  std::vector<Item> items_;
  std::vector<uint32_t> slots_;  // key number + 1; open addressing
  std::vector<std::unique_ptr<char[]>> chunks_;
  size_t chunk_left_ = 0;
  size_t chunk_used_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace rowtide

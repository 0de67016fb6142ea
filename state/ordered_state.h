// Ordered state: key -> rows ordered by (sort key, arrival number). Any change, the n-th row and
// the number of rows with a sort key cost O(log rows of the key).
//
//   Insert(7,b) Insert(5,a) Insert(7,c)   ->   0: 5 a | 1: 7 b | 2: 7 c   positions count from 0
//   Erase(1)                              ->   0: 5 a | 1: 7 c
//
// Equal sort keys keep their arrival order: a new row goes behind them. Rows are addressed by
// position; a position holds until the next change. Each row carries a tag, 30 bits of a hash that
// the caller chooses (of the content, or of a row key), by which it is found among many. Rows are
// opaque bytes; they may be overwritten in place.
//
//   per key   a counted B+ tree of 32-row leaves; up to 32 rows a single leaf of 4, 8, 12 ... 32
//   leaf      | prefix of the sort key: 16 bytes | arrival: u64 | tag: 30 bits, record: 34 | ...
//   record    | sort key size: u32 | row size: u32 | sort key, unless the prefix is all | row |
//
// In a backend (engine/keyed_state.h) a key is one entry, as in memory: all of its rows or none.
// One lane.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "state/key_codec.h"
#include "state/value_state.h"

namespace rowtide {

class OrderedState final : public StatePart {
  struct Row;

 public:
  explicit OrderedState(const OperatorContext& context) : OrderedState(context, Ttl(context)) {}
  OrderedState(const OperatorContext& context, Ttl ttl);

  // As in ValueState. A key without rows has no value and is forgotten by Settle.
  Status FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries) {
    return roots_.FindOrCreate(keys, entries);
  }
  Status FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                      std::vector<Entry>* entries) {
    return roots_.FindOrCreate(keys, rows, entries);
  }
  void Settle() { roots_.Settle(); }
  void Touch(Entry key) { roots_.Touch(key); }
  const ValueState& keys() const { return roots_; }

  int64_t rows(Entry key) const { return roots_.Has(key) ? RootOf(key)->rows : 0; }
  // The prefix of the last row's sort key, without touching the tree. Requires: rows > 0.
  SortPrefix last_prefix(Entry key) const {
    const Root* root = RootOf(key);
    return (SortPrefix{root->last_high} << 64) | root->last_low;
  }
  // True when the sort key is less than the last row's. Requires: rows > 0.
  bool BeforeLast(Entry key, const SortKeyView& sort) const {
    const SortPrefix last = last_prefix(key);
    if (sort.prefix != last) return sort.prefix < last;
    return sort.bytes.size() > sizeof(SortPrefix) && Compare(sort, RowAt(key, rows(key) - 1)) < 0;
  }
  void Prefetch(Entry key) const { roots_.Prefetch(key); }
  // Fetches the first rows of a key whose entry is at hand.
  void PrefetchRows(Entry key) const {
    if (!roots_.Has(key)) return;
    const char* node = roots_arena().At(RootOf(key)->node);
    for (int line = 0; line < 6; ++line) __builtin_prefetch(node + 64 * line);
  }

  // What a loop over many keys keeps of each beside it, so that it need not go to the entry to
  // decide or to fetch ahead. Good until the next change of the key that it is not handed to.
  struct Outlook {
    SortPrefix last = 0;  // of the last row
    int64_t rows = 0;
    const char* leaf = nullptr;  // when all rows are in one
    char* root = nullptr;        // null when there are no rows
  };
  Outlook OutlookOf(Entry key) const {
    Outlook outlook;
    if (roots_.Has(key)) Look(RootOf(key), &outlook);
    return outlook;
  }
  // Fetches the rows; later on, once they are at hand, what those say that a new row with that
  // sort key would push on, as far as `wants(place)` says so.
  static void PrefetchRows(const Outlook& key) {
    if (key.leaf == nullptr) return;
    __builtin_prefetch(key.root, 1);
    const char* const end = key.leaf + sizeof(Leaf) + static_cast<size_t>(key.rows) * sizeof(Row);
    for (const char* line = key.leaf; line <= end; line += 64) __builtin_prefetch(line, 1);
  }
  template <typename Wants>
  void PrefetchPushed(const Outlook& key, SortPrefix sort, const Wants& wants) const {
    if (key.leaf == nullptr) return;
    const Leaf* leaf = reinterpret_cast<const Leaf*>(key.leaf);
    for (uint32_t i = leaf->count; i-- > 0;) {
      const Row& row = leaf->rows[i];
      if (PrefixOf(row) <= sort) return;
      if (wants(PlaceOf(row))) PrefetchRecord(row);
    }
  }
  void PrefetchLast(const Outlook& key) const {
    if (key.leaf == nullptr) return;
    const Leaf* leaf = reinterpret_cast<const Leaf*>(key.leaf);
    PrefetchRecord(leaf->rows[leaf->count - 1]);
  }

  // Inserts behind all rows with a sort key <= `sort`; returns its position. Does not move the TTL
  // clock.
  int64_t Insert(Entry key, const SortKeyView& sort, std::string_view row, uint64_t tag = 0);
  // As Insert, with the row's bytes left to be written by the caller.
  struct Inserted {
    int64_t position;
    char* room;
  };
  Inserted InsertRoom(Entry key, const SortKeyView& sort, size_t row_bytes, uint64_t tag) {
    Outlook outlook = OutlookOf(key);
    return InsertRoom(key, sort, row_bytes, tag, &outlook);
  }
  // Keeps the outlook of the key up to date.
  Inserted InsertRoom(Entry key, const SortKeyView& sort, size_t row_bytes, uint64_t tag,
                      Outlook* outlook);
  void Erase(Entry key, int64_t position);
  void EraseAll(Entry key);
  // Drops all rows from `position` on.
  void Truncate(Entry key, int64_t position);
  // Other bytes at the same place.
  void Replace(Entry key, int64_t position, std::string_view row);

  // Positions [first, last) of the rows with that sort key.
  struct Range {
    int64_t first;
    int64_t last;
    int64_t count() const { return last - first; }
  };
  int64_t LowerBound(Entry key, const SortKeyView& sort) const;
  int64_t UpperBound(Entry key, const SortKeyView& sort) const;
  Range EqualRange(Entry key, const SortKeyView& sort) const {
    return {LowerBound(key, sort), UpperBound(key, sort)};
  }

  // Walks rows in order. Valid until the next change of the key.
  class Cursor {
   public:
    Cursor() = default;
    bool valid() const { return index_ < count_; }
    int64_t position() const { return first_ + index_; }
    std::string_view row() const { return RowOf(state_->RecordOf(here())); }
    // Where the row lies, found without touching it. It stays there as long as it is stored; then
    // another one may.
    const char* place() const { return state_->PlaceOf(here()); }
    // Valid as long as the cursor lives and stays.
    std::string_view sort_key() const {
      return SortKeyOf(here(), state_->RecordOf(here()), short_key_);
    }
    SortPrefix prefix() const { return PrefixOf(here()); }
    uint64_t arrival() const { return here().arrival; }
    // Fetches the next rows of this leaf, this one included.
    void Prefetch(int64_t rows) const;
    bool MayHaveTag(uint64_t tag) const {
      return (here().record ^ tag) >> HotTable::kTagShift == 0;
    }
    void Next() {
      if (++index_ == count_ && in_tree_) NextLeaf();
    }

   private:
    friend class OrderedState;
    // Of a key whose rows are in one leaf.
    Cursor(const OrderedState* state, Entry key, const char* leaf, int index, int count)
        : state_(state), key_(key), leaf_(leaf), index_(index), count_(count) {}
    const Row& here() const { return reinterpret_cast<const Leaf*>(leaf_)->rows[index_]; }
    void NextLeaf();
    const OrderedState* state_ = nullptr;
    Entry key_;
    const char* leaf_ = nullptr;
    int64_t first_ = 0;  // position of the leaf's first row
    int index_ = 0;
    int count_ = 0;
    bool in_tree_ = false;  // there may be a next leaf
    mutable char short_key_[sizeof(SortPrefix)];
  };
  // The bytes of the row under the cursor, to be overwritten.
  char* MutableRow(Entry key, const Cursor& cursor) {
    roots_.BeforeChange(key);
    return const_cast<char*>(cursor.row().data());
  }
  // Invalid when there is no such position.
  Cursor At(Entry key, int64_t position) const {
    if (position < 0 || position >= rows(key)) return Cursor();
    const Root* root = RootOf(key);
    if (root->height > 0) return AtInTree(key, position);
    // Made in place: a copy would wait for its parts to be stored.
    return Cursor(this, key, NodeAt<char>(root->node), static_cast<int>(position),
                  static_cast<int>(root->rows));
  }
  Cursor Begin(Entry key) const { return At(key, 0); }
  // At the lower bound of `sort`, with one descent; invalid when all rows lie before it.
  Cursor Seek(Entry key, const SortKeyView& sort) const;
  // The row under the cursor has that sort key.
  static bool Has(const Cursor& cursor, const SortKeyView& sort) {
    if (!cursor.valid() || cursor.prefix() != sort.prefix) return false;
    return sort.bytes.size() <= sizeof(SortPrefix) || cursor.sort_key() == sort.bytes;
  }
  // The first row in positions [first, last) with the tag for which `matches(row)` holds; -1 when
  // none.
  template <typename Match>
  int64_t FindTagged(Entry key, Range range, uint64_t tag, const Match& matches) const {
    for (Cursor cursor = At(key, range.first); cursor.valid() && cursor.position() < range.last;
         cursor.Next()) {
      if (cursor.MayHaveTag(tag) && matches(cursor.row())) return cursor.position();
    }
    return -1;
  }

  // As ValueState::CheckValues, of each row with its sort key.
  using CheckRow = std::function<Status(std::string_view sort_key, std::string_view row)>;
  void CheckRows(CheckRow check) { check_ = std::move(check); }

  // How many rows were written to some place, ever: by the caller, a restore, whatever.
  uint64_t rows_written() const { return rows_written_; }

  void Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;

 private:
  struct Root {
    int64_t rows;
    uint64_t next_arrival;
    uint64_t last_high;
    uint64_t last_low;
    Arena::Ref node;
    uint32_t height;  // 0 = the root is a leaf
    uint32_t unused;
  };
  struct Row {
    uint64_t high;
    uint64_t low;
    uint64_t arrival;
    uint64_t record;  // tag << 34 | reference
  };
  static_assert(sizeof(Row) == 32, "the drawing above");
  struct Leaf {
    uint32_t count;
    uint32_t capacity;
    Row rows[];
  };
  struct Child {
    Row first;
    int64_t rows;
    Arena::Ref node;
  };
  struct Inner {
    uint32_t count;
    uint32_t unused;
    Child children[];
  };
  struct BelowRow;
  struct Record {
    uint32_t sort_size;
    uint32_t row_size;
    char bytes[];
  };
  static constexpr uint32_t kFanout = 32;
  static constexpr int kHeightMax = 16;
  struct Step {
    Inner* inner;
    uint32_t child;
  };
  struct Path {
    Step steps[kHeightMax];
    Leaf* leaf;
    uint32_t index;    // in the leaf
    int64_t position;  // of the leaf's first row
  };

  const Root* RootOf(Entry key) const {
    return reinterpret_cast<const Root*>(roots_.Value(key).data());
  }
  void Look(const Root* root, Outlook* outlook) const {
    outlook->last = (SortPrefix{root->last_high} << 64) | root->last_low;
    outlook->rows = root->rows;
    outlook->leaf = root->height == 0 ? NodeAt<char>(root->node) : nullptr;
    outlook->root = const_cast<char*>(reinterpret_cast<const char*>(root));
  }
  Root* MutableRoot(Entry key) { return roots_.DataAs<Root>(key); }
  const Arena& roots_arena() const { return const_cast<ValueState&>(roots_).arena(); }
  Arena& arena() { return roots_.arena(); }
  template <typename T>
  T* NodeAt(Arena::Ref ref) const {
    return reinterpret_cast<T*>(roots_arena().At(ref));
  }
  void PrefetchRecord(const Row& row) const {
    const char* record = reinterpret_cast<const char*>(RecordOf(row));
    for (int line = 0; line < 4; ++line) __builtin_prefetch(record + 64 * line);
  }
  const char* PlaceOf(const Row& row) const {
    return NodeAt<char>(row.record & HotTable::kRefMask);
  }
  Record* RecordOf(const Row& row) const { return NodeAt<Record>(row.record & HotTable::kRefMask); }
  static SortPrefix PrefixOf(const Row& row) { return (SortPrefix{row.high} << 64) | row.low; }
  // Bytes of the sort key in the record: none when the prefix holds all of them.
  static size_t KeptSort(size_t sort_size) {
    return sort_size <= sizeof(SortPrefix) ? 0 : sort_size;
  }
  static std::string_view RowOf(const Record* record) {
    return {record->bytes + KeptSort(record->sort_size), record->row_size};
  }
  // Written to `room` if it is short.
  static std::string_view SortKeyOf(const Row& row, const Record* record, char* room) {
    if (record->sort_size > sizeof(SortPrefix)) return {record->bytes, record->sort_size};
    const uint64_t words[2] = {__builtin_bswap64(row.high), __builtin_bswap64(row.low)};
    std::memcpy(room, words, sizeof(words));
    return {room, record->sort_size};
  }
  Cursor AtInTree(Entry key, int64_t position) const;
  int Compare(const SortKeyView& sort, const Row& row) const;
  const Row& RowAt(Entry key, int64_t position) const;
  void DescendTo(const Root* root, int64_t position, Path* path) const;
  // To where a row with that sort key goes: behind (`upper`) or before the rows with an equal one.
  void DescendBySort(const Root* root, const SortKeyView& sort, bool upper, Path* path) const;
  Leaf* NewLeaf(uint32_t capacity, Arena::Ref* ref);
  Inner* NewInner(Arena::Ref* ref);
  void FreeRecord(const Row& row);
  void FreeNode(Arena::Ref node, uint32_t height);
  // The first of the leaf's rows that does not stay before the place (DescendBySort).
  uint32_t PlaceInLeaf(const Leaf* leaf, const SortKeyView& sort, int goes_on) const;
  uint32_t InsertIntoLeaf(Root* root, const SortKeyView& sort, const Row& row);
  void EraseFromLeaf(Root* root, uint32_t index);
  Leaf* GrowLeaf(Root* root);
  void InsertRow(Root* root, Path* path, const Row& row);
  void SplitLeaf(Root* root, Path* path);
  void AddChild(Root* root, Path* path, int level, const Child& child);
  void RemoveChild(Root* root, Path* path, int level);
  void MergeLeaf(Root* root, Path* path);
  void RefreshFirst(Path* path, uint32_t height);
  void RefreshLast(Root* root);
  Status ReadRows(SnapshotReader& reader, Entry key);
  Root* BeginKey(Entry key, uint64_t next_arrival);
  bool AppendRow(Root* root, SortKeyView sort, std::string_view row_bytes, uint64_t arrival,
                 uint32_t tag);
  template <typename Visit>
  void ForEachRow(const Root* root, const Visit& visit) const;
  void WriteBelow(const Root* root, std::string* to) const;
  Status ReadBelow(std::string_view bytes, Entry key);
  Row MakeRow(const SortKeyView& sort, size_t row_bytes, uint64_t arrival, uint64_t tag);

  ValueState roots_;
  CheckRow check_;
  uint64_t rows_written_ = 0;
};

}  // namespace rowtide

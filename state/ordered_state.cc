#include "state/ordered_state.h"

#include <algorithm>

namespace rowtide {
namespace {

constexpr uint32_t kFirstLeafRows = 4;
constexpr uint32_t kCountedRows = 16;
constexpr uint64_t kTagMask = ~HotTable::kRefMask;

template <typename T>
void OpenGap(T* items, uint32_t count, uint32_t at) {
  std::memmove(static_cast<void*>(items + at + 1), items + at, (count - at) * sizeof(T));
}
template <typename T>
void CloseGap(T* items, uint32_t count, uint32_t at) {
  std::memmove(static_cast<void*>(items + at), items + at + 1, (count - at - 1) * sizeof(T));
}

}  // namespace

OrderedState::OrderedState(const OperatorContext& context, Ttl ttl) : roots_(context, ttl) {
  roots_.ExpectValues(sizeof(Root));
  roots_.OnForget([this](char* value) {
    const Root* root = reinterpret_cast<const Root*>(value);
    FreeNode(root->node, root->height);
  });
  roots_.SetBelowForm(
      {[this](const char* value, std::string* to) {
         WriteBelow(reinterpret_cast<const Root*>(value), to);
       },
       [this](std::string_view bytes, Entry key) { return ReadBelow(bytes, key); }});
}

// --- comparing and finding ---

int OrderedState::Compare(const SortKeyView& sort, const Row& row) const {
  const SortPrefix prefix = PrefixOf(row);
  if (sort.prefix != prefix) return sort.prefix < prefix ? -1 : 1;
  if (sort.bytes.size() <= sizeof(SortPrefix)) return 0;
  char room[sizeof(SortPrefix)];
  return sort.bytes.compare(SortKeyOf(row, RecordOf(row), room));
}

void OrderedState::DescendTo(const Root* root, int64_t position, Path* path) const {
  Arena::Ref node = root->node;
  path->position = 0;
  for (uint32_t h = root->height; h-- > 0;) {
    Inner* inner = NodeAt<Inner>(node);
    uint32_t child = 0;
    while (child + 1 < inner->count && position - path->position >= inner->children[child].rows) {
      path->position += inner->children[child++].rows;
    }
    path->steps[h] = {inner, child};
    node = inner->children[child].node;
  }
  path->leaf = NodeAt<Leaf>(node);
  path->index = static_cast<uint32_t>(position - path->position);
}

void OrderedState::DescendBySort(const Root* root, const SortKeyView& sort, bool upper,
                                 Path* path) const {
  // a row stays before the place while Compare(sort, row) >= goes_on
  const int goes_on = upper ? 0 : 1;
  Arena::Ref node = root->node;
  path->position = 0;
  for (uint32_t h = root->height; h-- > 0;) {
    Inner* inner = NodeAt<Inner>(node);
    // the last child whose first row stays before the place, else child 0
    uint32_t low = 1, high = inner->count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (Compare(sort, inner->children[middle].first) >= goes_on) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    const uint32_t child = low - 1;
    for (uint32_t i = 0; i < child; ++i) path->position += inner->children[i].rows;
    path->steps[h] = {inner, child};
    node = inner->children[child].node;
  }
  path->leaf = NodeAt<Leaf>(node);
  path->index = PlaceInLeaf(path->leaf, sort, goes_on);
}

inline uint32_t OrderedState::PlaceInLeaf(const Leaf* leaf, const SortKeyView& sort,
                                          int goes_on) const {
  if (goes_on == 0 && sort.bytes.size() <= sizeof(SortPrefix) && leaf->count <= kCountedRows) {
    // Prefixes decide, and counting a few of them costs less than the branches of a search.
    uint32_t place = 0;
    for (uint32_t i = 0; i < leaf->count; ++i) {
      const Row& row = leaf->rows[i];
      place += PrefixOf(row) <= sort.prefix;
    }
    return place;
  }
  uint32_t low = 0, high = leaf->count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (Compare(sort, leaf->rows[middle]) >= goes_on) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const OrderedState::Row& OrderedState::RowAt(Entry key, int64_t position) const {
  Path path;
  DescendTo(RootOf(key), position, &path);
  return path.leaf->rows[path.index];
}

int64_t OrderedState::LowerBound(Entry key, const SortKeyView& sort) const {
  if (rows(key) == 0) return 0;
  Path path;
  DescendBySort(RootOf(key), sort, false, &path);
  return path.position + path.index;
}

int64_t OrderedState::UpperBound(Entry key, const SortKeyView& sort) const {
  if (rows(key) == 0) return 0;
  Path path;
  DescendBySort(RootOf(key), sort, true, &path);
  return path.position + path.index;
}

// --- nodes and records ---

OrderedState::Leaf* OrderedState::NewLeaf(uint32_t capacity, Arena::Ref* ref) {
  *ref = arena().Allocate(sizeof(Leaf) + capacity * sizeof(Row));
  Leaf* leaf = NodeAt<Leaf>(*ref);
  leaf->count = 0;
  leaf->capacity = capacity;
  return leaf;
}

OrderedState::Inner* OrderedState::NewInner(Arena::Ref* ref) {
  *ref = arena().Allocate(sizeof(Inner) + kFanout * sizeof(Child));
  Inner* inner = NodeAt<Inner>(*ref);
  inner->count = 0;
  return inner;
}

inline OrderedState::Row OrderedState::MakeRow(const SortKeyView& sort, size_t row_bytes,
                                               uint64_t arrival, uint64_t tag) {
  ++rows_written_;
  const size_t kept = KeptSort(sort.bytes.size());
  const Arena::Ref ref = arena().Allocate(sizeof(Record) + kept + row_bytes);
  Record* record = NodeAt<Record>(ref);
  record->sort_size = static_cast<uint32_t>(sort.bytes.size());
  record->row_size = static_cast<uint32_t>(row_bytes);
  if (kept > 0) std::memcpy(record->bytes, sort.bytes.data(), kept);
  return {static_cast<uint64_t>(sort.prefix >> 64), static_cast<uint64_t>(sort.prefix), arrival,
          (tag & kTagMask) | ref};
}

void OrderedState::FreeRecord(const Row& row) {
  const Record* record = RecordOf(row);
  const size_t bytes = sizeof(Record) + KeptSort(record->sort_size) + record->row_size;
  arena().Free(row.record & HotTable::kRefMask, Arena::ClassOf(bytes));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, which is at most kHeightMax
void OrderedState::FreeNode(Arena::Ref node, uint32_t height) {
  if (height == 0) {
    const Leaf* leaf = NodeAt<Leaf>(node);
    for (uint32_t i = 0; i < leaf->count; ++i) FreeRecord(leaf->rows[i]);
    arena().Free(node, Arena::ClassOf(sizeof(Leaf) + leaf->capacity * sizeof(Row)));
    return;
  }
  const Inner* inner = NodeAt<Inner>(node);
  for (uint32_t i = 0; i < inner->count; ++i) FreeNode(inner->children[i].node, height - 1);
  arena().Free(node, Arena::ClassOf(sizeof(Inner) + kFanout * sizeof(Child)));
}

// --- inserting ---

// The usual key: up to 32 rows in one leaf, and no path to it.
inline uint32_t OrderedState::InsertIntoLeaf(Root* root, const SortKeyView& sort, const Row& row) {
  Leaf* leaf = NodeAt<Leaf>(root->node);
  const uint32_t index = PlaceInLeaf(leaf, sort, 0);
  if (leaf->count == leaf->capacity) {
    if (leaf->capacity == kFanout) {
      Path path;
      path.position = 0;
      path.leaf = leaf;
      path.index = index;
      InsertRow(root, &path, row);
      return index;
    }
    leaf = GrowLeaf(root);
  }
  if (index == leaf->count) {
    root->last_high = row.high;
    root->last_low = row.low;
  } else {
    OpenGap(leaf->rows, leaf->count, index);
  }
  leaf->rows[index] = row;
  ++leaf->count;
  ++root->rows;
  return index;
}

int64_t OrderedState::Insert(Entry key, const SortKeyView& sort, std::string_view row,
                             uint64_t tag) {
  const Inserted inserted = InsertRoom(key, sort, row.size(), tag);
  std::memcpy(inserted.room, row.data(), row.size());
  return inserted.position;
}

OrderedState::Inserted OrderedState::InsertRoom(Entry key, const SortKeyView& sort,
                                                size_t row_bytes, uint64_t tag, Outlook* outlook) {
  Root* root = reinterpret_cast<Root*>(outlook->root);
  if (root == nullptr) {
    root = BeginKey(key, 0);
  } else {
    roots_.BeforeChange(key);
  }
  const Row row = MakeRow(sort, row_bytes, root->next_arrival++, tag);
  char* const room = RecordOf(row)->bytes + KeptSort(sort.bytes.size());
  int64_t position;
  if (root->height == 0) {
    position = InsertIntoLeaf(root, sort, row);
  } else {
    Path path;
    DescendBySort(root, sort, true, &path);
    position = path.position + path.index;
    InsertRow(root, &path, row);
  }
  Look(root, outlook);
  return {position, room};
}

void OrderedState::InsertRow(Root* root, Path* path, const Row& row) {
  const bool is_last = path->position + path->index == root->rows;
  if (path->leaf->count == path->leaf->capacity) SplitLeaf(root, path);
  Leaf* leaf = path->leaf;
  OpenGap(leaf->rows, leaf->count, path->index);
  leaf->rows[path->index] = row;
  ++leaf->count;
  ++root->rows;
  for (uint32_t h = 0; h < root->height; ++h)
    ++path->steps[h].inner->children[path->steps[h].child].rows;
  if (path->index == 0) RefreshFirst(path, root->height);
  if (is_last) {
    root->last_high = row.high;
    root->last_low = row.low;
  }
}

// A root leaf of more room. Requires: fewer than 32 rows fit.
OrderedState::Leaf* OrderedState::GrowLeaf(Root* root) {
  const Leaf* leaf = NodeAt<Leaf>(root->node);
  Arena::Ref ref;
  Leaf* larger = NewLeaf(leaf->capacity + (leaf->capacity < 16 ? 4 : 8), &ref);
  std::memcpy(static_cast<void*>(larger->rows), leaf->rows, leaf->count * sizeof(Row));
  larger->count = leaf->count;
  arena().Free(root->node, Arena::ClassOf(sizeof(Leaf) + leaf->capacity * sizeof(Row)));
  root->node = ref;
  return larger;
}

// Makes room in a full leaf: a root leaf grows to 32 rows, a larger one gives half of its rows to a
// new neighbour, or only its last one when rows keep coming at the end.
void OrderedState::SplitLeaf(Root* root, Path* path) {
  Leaf* leaf = path->leaf;
  Arena::Ref ref;
  if (leaf->capacity < kFanout) {
    path->leaf = GrowLeaf(root);
    return;
  }
  if (root->height == 0) {
    Inner* inner = NewInner(&ref);
    inner->count = 1;
    inner->children[0] = {leaf->rows[0], root->rows, root->node};
    root->node = ref;
    root->height = 1;
    path->steps[0] = {inner, 0};
  }
  Arena::Ref right_ref;
  Leaf* right = NewLeaf(kFanout, &right_ref);
  const uint32_t kept = path->index == leaf->count ? leaf->count - 1 : leaf->count / 2;
  right->count = leaf->count - kept;
  std::memcpy(static_cast<void*>(right->rows), leaf->rows + kept, right->count * sizeof(Row));
  leaf->count = kept;
  path->steps[0].inner->children[path->steps[0].child].rows -= right->count;
  AddChild(root, path, 0, {right->rows[0], right->count, right_ref});
  if (path->index > kept) {
    path->leaf = right;
    path->index -= kept;
    ++path->steps[0].child;
  }
}

// Adds a child behind the one that the path takes at that height (0 = above the leaves), splitting
// what is full. NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
void OrderedState::AddChild(Root* root, Path* path, int level, const Child& child) {
  const size_t h = static_cast<size_t>(level);
  Inner* inner = path->steps[h].inner;
  if (inner->count == kFanout) {
    if (h + 1 == root->height) {
      Arena::Ref ref;
      Inner* top = NewInner(&ref);
      top->count = 1;
      top->children[0] = {inner->children[0].first, root->rows, root->node};
      root->node = ref;
      ++root->height;
      RT_CHECK(root->height < kHeightMax);
      path->steps[h + 1] = {top, 0};
    }
    Arena::Ref right_ref;
    Inner* right = NewInner(&right_ref);
    const uint32_t kept =
        path->steps[h].child + 1 == inner->count ? inner->count - 1 : inner->count / 2;
    right->count = inner->count - kept;
    std::memcpy(static_cast<void*>(right->children), inner->children + kept,
                right->count * sizeof(Child));
    inner->count = kept;
    int64_t moved = 0;
    for (uint32_t i = 0; i < right->count; ++i) moved += right->children[i].rows;
    // The rows of the child to be added have left the counts below, but not yet those above.
    const bool goes_right = path->steps[h].child >= kept;
    if (goes_right) moved += child.rows;
    path->steps[h + 1].inner->children[path->steps[h + 1].child].rows -= moved;
    AddChild(root, path, level + 1, {right->children[0].first, moved, right_ref});
    if (goes_right) {
      path->steps[h] = {right, path->steps[h].child - kept};
      ++path->steps[h + 1].child;
    }
    inner = path->steps[h].inner;
  }
  const uint32_t at = path->steps[h].child + 1;
  OpenGap(inner->children, inner->count, at);
  inner->children[at] = child;
  ++inner->count;
}

void OrderedState::RefreshFirst(Path* path, uint32_t height) {
  Row first = path->leaf->rows[0];
  for (uint32_t h = 0; h < height; ++h) {
    path->steps[h].inner->children[path->steps[h].child].first = first;
    if (path->steps[h].child != 0) return;
  }
}

void OrderedState::RefreshLast(Root* root) {
  Path path;
  DescendTo(root, root->rows - 1, &path);
  const Row& last = path.leaf->rows[path.index];
  root->last_high = last.high;
  root->last_low = last.low;
}

// --- erasing ---

void OrderedState::Erase(Entry key, int64_t position) {
  Root* root = MutableRoot(key);
  RT_DCHECK(position >= 0 && position < root->rows);
  if (root->rows == 1) return EraseAll(key);
  if (root->height == 0) return EraseFromLeaf(root, static_cast<uint32_t>(position));
  Path path;
  DescendTo(root, position, &path);
  Leaf* leaf = path.leaf;
  const Row erased = leaf->rows[path.index];
  CloseGap(leaf->rows, leaf->count, path.index);
  --leaf->count;
  --root->rows;
  for (uint32_t h = 0; h < root->height; ++h)
    --path.steps[h].inner->children[path.steps[h].child].rows;
  if (leaf->count == 0) {
    arena().Free(path.steps[0].inner->children[path.steps[0].child].node,
                 Arena::ClassOf(sizeof(Leaf) + leaf->capacity * sizeof(Row)));
    RemoveChild(root, &path, 0);
  } else {
    if (path.index == 0) RefreshFirst(&path, root->height);
    if (leaf->count < kFanout / 4) MergeLeaf(root, &path);
  }
  FreeRecord(erased);
  if (position == root->rows) RefreshLast(root);
}

void OrderedState::EraseFromLeaf(Root* root, uint32_t index) {
  Leaf* leaf = NodeAt<Leaf>(root->node);
  FreeRecord(leaf->rows[index]);
  CloseGap(leaf->rows, leaf->count, index);
  --leaf->count;
  --root->rows;
  const Row& last = leaf->rows[leaf->count - 1];
  root->last_high = last.high;
  root->last_low = last.low;
}

// Joins a leaf of few rows with a neighbour below the same node, if that has few as well.
void OrderedState::MergeLeaf(Root* root, Path* path) {
  Inner* parent = path->steps[0].inner;
  if (parent->count < 2) return;
  const uint32_t left_child = path->steps[0].child == 0 ? 0 : path->steps[0].child - 1;
  Child& to = parent->children[left_child];
  const Child& from = parent->children[left_child + 1];
  Leaf* left = NodeAt<Leaf>(to.node);
  const Leaf* right = NodeAt<Leaf>(from.node);
  if (left->count + right->count > kFanout / 2) return;
  std::memcpy(static_cast<void*>(left->rows + left->count), right->rows,
              right->count * sizeof(Row));
  left->count += right->count;
  to.rows += from.rows;
  arena().Free(from.node, Arena::ClassOf(sizeof(Leaf) + right->capacity * sizeof(Row)));
  path->steps[0].child = left_child + 1;
  RemoveChild(root, path, 0);
}

// Takes out the child that the path takes at that height, whose node is freed already; empty nodes
// above go with it. NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
void OrderedState::RemoveChild(Root* root, Path* path, int level) {
  const size_t h = static_cast<size_t>(level);
  Inner* inner = path->steps[h].inner;
  CloseGap(inner->children, inner->count, path->steps[h].child);
  --inner->count;
  const uint8_t inner_class = Arena::ClassOf(sizeof(Inner) + kFanout * sizeof(Child));
  if (inner->count == 0) {  // never the root: a key without rows has no tree
    arena().Free(path->steps[h + 1].inner->children[path->steps[h + 1].child].node, inner_class);
    return RemoveChild(root, path, level + 1);
  }
  if (path->steps[h].child == 0) {
    const Row first = inner->children[0].first;
    for (size_t above = h + 1; above < root->height; ++above) {
      path->steps[above].inner->children[path->steps[above].child].first = first;
      if (path->steps[above].child != 0) break;
    }
  }
  while (root->height > 0 && NodeAt<Inner>(root->node)->count == 1) {
    const Arena::Ref only = NodeAt<Inner>(root->node)->children[0].node;
    arena().Free(root->node, inner_class);
    root->node = only;
    --root->height;
  }
}

void OrderedState::EraseAll(Entry key) {
  if (!roots_.Has(key)) return;
  roots_.BeforeChange(key);
  const Root* root = RootOf(key);
  FreeNode(root->node, root->height);
  roots_.Erase(key);
}

void OrderedState::Truncate(Entry key, int64_t position) {
  if (position <= 0) return EraseAll(key);
  while (rows(key) > position) Erase(key, rows(key) - 1);
}

void OrderedState::Replace(Entry key, int64_t position, std::string_view row) {
  ++rows_written_;
  Root* root = MutableRoot(key);
  Path path;
  DescendTo(root, position, &path);
  Row& place = path.leaf->rows[path.index];
  Record* record = RecordOf(place);
  const size_t kept = KeptSort(record->sort_size);
  const size_t bytes = sizeof(Record) + kept;
  if (Arena::ClassOf(bytes + row.size()) != Arena::ClassOf(bytes + record->row_size)) {
    const Arena::Ref ref = arena().Allocate(bytes + row.size());
    Record* larger = NodeAt<Record>(ref);
    std::memcpy(static_cast<void*>(larger), record, bytes);
    FreeRecord(place);
    place.record = (place.record & kTagMask) | ref;
    if (path.index == 0) RefreshFirst(&path, root->height);
    record = larger;
  }
  record->row_size = static_cast<uint32_t>(row.size());
  std::memcpy(record->bytes + kept, row.data(), row.size());
}

// --- walking ---

OrderedState::Cursor OrderedState::AtInTree(Entry key, int64_t position) const {
  Path path;
  DescendTo(RootOf(key), position, &path);
  Cursor cursor;
  cursor.state_ = this;
  cursor.key_ = key;
  cursor.leaf_ = reinterpret_cast<const char*>(path.leaf);
  cursor.first_ = path.position;
  cursor.index_ = static_cast<int>(path.index);
  cursor.count_ = static_cast<int>(path.leaf->count);
  cursor.in_tree_ = true;
  return cursor;
}

OrderedState::Cursor OrderedState::Seek(Entry key, const SortKeyView& sort) const {
  Cursor cursor;
  if (rows(key) == 0) return cursor;
  Path path;
  DescendBySort(RootOf(key), sort, false, &path);
  cursor.state_ = this;
  cursor.key_ = key;
  cursor.leaf_ = reinterpret_cast<const char*>(path.leaf);
  cursor.first_ = path.position;
  cursor.index_ = static_cast<int>(path.index);
  cursor.count_ = static_cast<int>(path.leaf->count);
  cursor.in_tree_ = RootOf(key)->height > 0;
  if (cursor.index_ == cursor.count_ && cursor.in_tree_) cursor.NextLeaf();
  return cursor;
}

void OrderedState::Cursor::NextLeaf() { *this = state_->At(key_, first_ + count_); }

void OrderedState::Cursor::Prefetch(int64_t rows) const {
  const Leaf* leaf = reinterpret_cast<const Leaf*>(leaf_);
  const int end = static_cast<int>(std::min<int64_t>(count_, index_ + rows));
  for (int i = index_; i < end; ++i) state_->PrefetchRecord(leaf->rows[i]);
}

// --- snapshots, and what lies below ---

OrderedState::Root* OrderedState::BeginKey(Entry key, uint64_t next_arrival) {
  Arena::Ref node;
  NewLeaf(kFirstLeafRows, &node);
  Root* root = reinterpret_cast<Root*>(roots_.Assign(key, sizeof(Root)));
  *root = {0, next_arrival, 0, 0, node, 0, 0};
  return root;
}

// False when the row does not belong behind those that are there.
bool OrderedState::AppendRow(Root* root, SortKeyView sort, std::string_view row_bytes,
                             uint64_t arrival, uint32_t tag) {
  const Row row = MakeRow(sort, row_bytes.size(), arrival, uint64_t{tag} << HotTable::kTagShift);
  if (!row_bytes.empty())
    std::memcpy(const_cast<char*>(RowOf(RecordOf(row)).data()), row_bytes.data(), row_bytes.size());
  Path path;
  DescendBySort(root, sort, true, &path);
  const bool in_order = path.position + path.index == root->rows;
  InsertRow(root, &path, row);
  return in_order;
}

// Calls `visit(row, record)`.
template <typename Visit>
void OrderedState::ForEachRow(const Root* root, const Visit& visit) const {
  for (int64_t position = 0; position < root->rows;) {
    Path path;
    DescendTo(root, position, &path);
    for (; path.index < path.leaf->count; ++path.index, ++position) {
      const Row& row = path.leaf->rows[path.index];
      visit(row, RecordOf(row));
    }
  }
}

void OrderedState::Snapshot(SnapshotWriter& writer) const {
  roots_.SnapshotWith(writer, [this](Entry key, SnapshotWriter& to) {
    const Root* root = RootOf(key);
    to.PutU64(static_cast<uint64_t>(root->rows));
    to.PutU64(root->next_arrival);
    ForEachRow(root, [&](const Row& row, const Record* record) {
      to.PutU64(row.arrival);
      to.PutU32(static_cast<uint32_t>(row.record >> HotTable::kTagShift));
      char room[sizeof(SortPrefix)];
      to.PutBytes(SortKeyOf(row, record, room));
      to.PutBytes(RowOf(record));
    });
  });
}

Status OrderedState::Restore(SnapshotReader& reader) {
  roots_.Clear();
  return Merge(reader);
}

Status OrderedState::Merge(SnapshotReader& reader) {
  return roots_.MergeWith(reader,
                          [this](SnapshotReader& from, Entry key) { return ReadRows(from, key); });
}

Status OrderedState::ReadRows(SnapshotReader& reader, Entry key) {
  RT_ASSIGN(const uint64_t rows, reader.U64("rows of a key"));
  RT_ASSIGN(const uint64_t next_arrival, reader.U64("next arrival"));
  if (rows == 0) return Status::Corruption("a key of the snapshot has no rows");
  Root* const root = key ? BeginKey(key, next_arrival) : nullptr;
  for (uint64_t i = 0; i < rows; ++i) {
    RT_ASSIGN(const uint64_t arrival, reader.U64("arrival"));
    RT_ASSIGN(const uint32_t tag, reader.U32("tag"));
    RT_ASSIGN(const std::string_view sort, reader.Bytes("sort key"));
    RT_ASSIGN(const std::string_view row, reader.Bytes("row"));
    if (check_) RT_TRY(check_(sort, row));
    if (root != nullptr && !AppendRow(root, {SortPrefixOf(sort), sort}, row, arrival, tag))
      return Status::Corruption("rows of a key of the snapshot are not in order");
  }
  return Status::Ok();
}

// | next arrival: u64 | then, per row: | BelowRow | sort key | row |
struct OrderedState::BelowRow {
  uint64_t arrival;
  uint32_t tag;
  uint32_t sort_size;
  uint32_t row_size;
  uint32_t unused;
};

void OrderedState::WriteBelow(const Root* root, std::string* to) const {
  to->append(reinterpret_cast<const char*>(&root->next_arrival), sizeof(root->next_arrival));
  ForEachRow(root, [to](const Row& row, const Record* record) {
    char room[sizeof(SortPrefix)];
    const BelowRow head{row.arrival, static_cast<uint32_t>(row.record >> HotTable::kTagShift),
                        record->sort_size, record->row_size, 0};
    to->append(reinterpret_cast<const char*>(&head), sizeof(head));
    to->append(SortKeyOf(row, record, room)).append(RowOf(record));
  });
}

Status OrderedState::ReadBelow(std::string_view bytes, Entry key) {
  uint64_t next_arrival;
  if (bytes.size() < sizeof(next_arrival) + sizeof(BelowRow))
    return Status::Corruption("a key of the state has {} bytes, too few for a row", bytes.size());
  std::memcpy(&next_arrival, bytes.data(), sizeof(next_arrival));
  bytes.remove_prefix(sizeof(next_arrival));
  Root* const root = BeginKey(key, next_arrival);
  while (!bytes.empty()) {
    BelowRow head;
    if (bytes.size() >= sizeof(head)) std::memcpy(&head, bytes.data(), sizeof(head));
    if (bytes.size() < sizeof(head) ||
        bytes.size() - sizeof(head) < uint64_t{head.sort_size} + head.row_size)
      return Status::Corruption("a row of the state is cut off");
    const std::string_view sort = bytes.substr(sizeof(head), head.sort_size);
    const std::string_view row = bytes.substr(sizeof(head) + head.sort_size, head.row_size);
    if (check_) RT_TRY(check_(sort, row));
    if (!AppendRow(root, {SortPrefixOf(sort), sort}, row, head.arrival, head.tag))
      return Status::Corruption("rows of a key of the state are not in order");
    bytes.remove_prefix(sizeof(head) + head.sort_size + head.row_size);
  }
  return Status::Ok();
}

}  // namespace rowtide

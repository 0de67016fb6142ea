#include "state/counted_numbers.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace rowtide {
namespace {

constexpr int64_t kLogRoomMin = 4;
constexpr int64_t kLogRoomMax = 4096;

// How much a log of a key with so many numbers holds.
uint32_t RoomFor(int64_t numbers) {
  const auto quarter = static_cast<uint64_t>(std::max(numbers / 4, kLogRoomMin));
  return static_cast<uint32_t>(std::bit_floor(std::min<uint64_t>(quarter, kLogRoomMax)));
}

// The first of the sorted numbers [begin, end) that is not less: found in few steps if it is near.
uint32_t Gallop(const int64_t* numbers, uint32_t begin, uint32_t end, int64_t number) {
  uint32_t step = 1;
  while (begin + step <= end && numbers[begin + step - 1] < number) {
    begin += step;
    step *= 2;
  }
  const int64_t* const found =
      std::lower_bound(numbers + begin, numbers + std::min(begin + step, end), number);
  return static_cast<uint32_t>(found - numbers);
}

}  // namespace

CountedNumbers::CountedNumbers(const OperatorContext& context, Ttl ttl) : roots_(context, ttl) {
  roots_.ExpectValues(sizeof(Root));
  roots_.OnForget([this](char* value) { FreeAll(reinterpret_cast<const Root*>(value)); });
  roots_.SetBelowForm(
      {[this](const char* value, std::string* to) {
         WriteBelow(reinterpret_cast<Root*>(const_cast<char*>(value)), to);
       },
       [this](std::string_view bytes, Entry key) { return ReadBelow(bytes, key); }});
}

// --- the log ---

void CountedNumbers::Begin(Entry key) {
  Root* root = reinterpret_cast<Root*>(roots_.Assign(key, sizeof(Root)));
  *root = {};
  NewLog(root);
}

void CountedNumbers::NewLog(Root* root) {
  root->room = RoomFor(root->numbers);
  root->log = arena().Allocate(root->room * sizeof(int64_t));
}

CountedNumbers::Root* CountedNumbers::MakeRoom(Entry key) {
  Root* root = roots_.DataAs<Root>(key);
  FoldLog(root);
  if (RoomFor(root->numbers) != root->room) {
    arena().Free(root->log, Arena::ClassOf(root->room * sizeof(int64_t)));
    NewLog(root);
  }
  return root;
}

// Empties the log into `changes_`: each number once, with what it changed by in the end.
void CountedNumbers::SortLog(Root* root) {
  changes_.clear();
  int64_t* const log = NodeAt<int64_t>(root->log);
  int64_t* added = log;
  int64_t* const added_end = log + root->added;
  int64_t* removed = log + root->room - root->removed;
  int64_t* const removed_end = log + root->room;
  std::sort(added, added_end);
  std::sort(removed, removed_end);
  while (added != added_end || removed != removed_end) {
    const bool takes_added = removed == removed_end || (added != added_end && *added <= *removed);
    const int64_t number = takes_added ? *added : *removed;
    int64_t count = 0;
    for (; added != added_end && *added == number; ++added) ++count;
    for (; removed != removed_end && *removed == number; ++removed) --count;
    if (count != 0) changes_.push_back({number, count});
  }
  root->added = root->removed = 0;
}

void CountedNumbers::FoldLog(Root* root) {
  if (root->added + root->removed == 0) return;
  SortLog(root);
  Apply(root, changes_);
}

void CountedNumbers::Fold(Entry key) {
  if (roots_.Has(key)) FoldLog(roots_.DataAs<Root>(key));
}

int64_t CountedNumbers::Change(Entry key, int64_t number, bool removes) {
  if (!roots_.Has(key)) Begin(key);
  Root* root = roots_.DataAs<Root>(key);
  const Counted change{number, removes ? -1 : 1};
  Apply(root, {&change, 1});
  if (root->numbers == 0) EraseAll(key);
  return changed_count_;
}

// --- folding ---

void CountedNumbers::Apply(Root* root, std::span<const Counted> changes) {
  while (!changes.empty()) {
    Path path = Descend(root, changes[0].number);
    size_t here = 1;
    while (here < changes.size() && changes[here].number <= path.last) ++here;
    ApplyToLeaf(root, &path, changes.first(here));
    changes = changes.subspan(here);
  }
}

CountedNumbers::Path CountedNumbers::Descend(const Root* root, int64_t number) const {
  Path path;
  path.leaf = root->tree;
  path.last = std::numeric_limits<int64_t>::max();
  for (uint32_t h = root->height; h-- > 0;) {
    Inner* inner = NodeAt<Inner>(path.leaf);
    // the last child that does not begin behind the number, else child 0
    uint32_t low = 1, high = inner->count;
    while (low < high) {
      const uint32_t middle = (low + high) / 2;
      if (inner->children[middle].first <= number) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    if (low < inner->count) path.last = inner->children[low].first - 1;
    path.steps[h] = {inner, low - 1};
    path.leaf = inner->children[low - 1].node;
  }
  return path;
}

void CountedNumbers::ApplyToLeaf(Root* root, Path* path, std::span<const Counted> changes) {
  Leaf empty{0, 0};
  Leaf* leaf = path->leaf == 0 ? &empty : NodeAt<Leaf>(path->leaf);
  const bool appends =
      leaf->numbers == 0 || leaf->number[leaf->numbers - 1] < changes.front().number;
  if (leaf->wide == 0 && Merge(root, leaf, changes, &narrow_)) {
    TakeNeighbour(root, path, &narrow_);
    return Write(root, path, appends, narrow_);
  }
  Merge(root, leaf, changes, &wide_);
  TakeNeighbour(root, path, &wide_);
  Write(root, path, appends, wide_);
}

// False when a count does not fit; then nothing has changed.
template <typename Count>
bool CountedNumbers::Merge(Root* root, Leaf* leaf, std::span<const Counted> changes,
                           Merged<Count>* merged) {
  if (merged->numbers.size() < leaf->numbers + changes.size()) {
    merged->numbers.resize(leaf->numbers + changes.size() + kLeafNumbers);
    merged->counts.resize(merged->numbers.size());
  }
  int64_t* to = merged->numbers.data();
  Count* to_counts = merged->counts.data();
  uint32_t at = 0;
  int64_t numbers = 0, negatives = 0, count = 0;
  const auto copy_until = [&](uint32_t end) {
    const uint32_t run = end - at;
    std::memcpy(to, leaf->number + at, run * sizeof(int64_t));
    if (leaf->wide == 0) {
      std::copy_n(leaf->counts<int8_t>() + at, run, to_counts);
    } else {
      for (uint32_t i = 0; i < run; ++i)
        to_counts[i] = static_cast<Count>(leaf->counts<int64_t>()[at + i]);
    }
    to += run;
    to_counts += run;
    at = end;
  };
  for (const Counted& change : changes) {
    copy_until(Gallop(leaf->number, at, leaf->numbers, change.number));
    count = change.count;
    if (at < leaf->numbers && leaf->number[at] == change.number) {
      const int64_t before = leaf->count(at++);
      negatives -= before < 0;
      --numbers;
      count += before;
    }
    if (count == 0) continue;
    if (count != static_cast<Count>(count)) return false;
    ++numbers;
    negatives += count < 0;
    *to++ = change.number;
    *to_counts++ = static_cast<Count>(count);
  }
  copy_until(leaf->numbers);
  merged->size = static_cast<size_t>(to - merged->numbers.data());
  root->numbers += numbers;
  root->negatives += negatives;
  changed_count_ = count;
  return true;
}

// A leaf of few numbers takes in the next one below the same node, if that has few as well.
template <typename Count>
void CountedNumbers::TakeNeighbour(Root* root, Path* path, Merged<Count>* merged) {
  if (root->height == 0 || merged->size == 0 || merged->size >= kLeafNumbers / 4) return;
  Inner* inner = path->steps[0].inner;
  const uint32_t next = path->steps[0].child + 1;
  if (next >= inner->count) return;
  const Arena::Ref ref = inner->children[next].node;
  Leaf* leaf = NodeAt<Leaf>(ref);
  if (leaf->numbers > kLeafNumbers / 2 || (leaf->wide != 0 && sizeof(Count) == 1)) return;
  const size_t size = merged->size + leaf->numbers;
  if (merged->numbers.size() < size) {
    merged->numbers.resize(size);
    merged->counts.resize(size);
  }
  for (uint32_t i = 0; i < leaf->numbers; ++i) {
    merged->numbers[merged->size] = leaf->number[i];
    merged->counts[merged->size++] = static_cast<Count>(leaf->count(i));
  }
  FreeLeaf(ref);
  std::memmove(static_cast<void*>(inner->children + next), inner->children + next + 1,
               (inner->count - next - 1) * sizeof(Child));
  --inner->count;
}

// What was merged takes the place of the path's leaf; it becomes several if it is too much for one,
// each full if numbers keep coming at the end.
template <typename Count>
void CountedNumbers::Write(Root* root, Path* path, bool appends, const Merged<Count>& merged) {
  if (merged.size == 0) {
    if (path->leaf == 0) return;
    FreeLeaf(path->leaf);
    if (root->height == 0) {
      root->tree = 0;
    } else {
      RemoveChild(root, path, 0);
    }
    return Shrink(root);
  }
  size_t piece = merged.size;
  if (merged.size > kLeafNumbers) {
    const size_t usual = kLeafNumbers * 3 / 4;
    const size_t pieces = (merged.size + usual - 1) / usual;
    piece = appends ? kLeafNumbers : (merged.size + pieces - 1) / pieces;
  }
  SetLeaf(root, path, WriteLeaf(path->leaf, merged, 0, std::min(piece, merged.size)));
  for (size_t first = piece; first < merged.size; first += piece) {
    const Arena::Ref leaf = WriteLeaf(0, merged, first, std::min(piece, merged.size - first));
    AddChild(root, path, 0, {merged.numbers[first], leaf});
  }
  Shrink(root);
}

// Into the block of the old leaf, if that is of the right size; else the old one is freed.
template <typename Count>
Arena::Ref CountedNumbers::WriteLeaf(Arena::Ref old, const Merged<Count>& merged, size_t first,
                                     size_t numbers) {
  constexpr bool kWide = sizeof(Count) > 1;
  const uint8_t size_class = Arena::ClassOf(LeafBytes(numbers, kWide));
  Arena::Ref ref = old;
  if (old != 0) {
    const Leaf* leaf = NodeAt<Leaf>(old);
    if (Arena::ClassOf(LeafBytes(leaf->numbers, leaf->wide != 0)) != size_class) {
      FreeLeaf(old);
      ref = 0;
    }
  }
  if (ref == 0) ref = arena().AllocateClass(size_class);
  Leaf* leaf = NodeAt<Leaf>(ref);
  leaf->numbers = static_cast<uint32_t>(numbers);
  leaf->wide = kWide ? 1 : 0;
  std::memcpy(leaf->number, merged.numbers.data() + first, numbers * sizeof(int64_t));
  std::memcpy(leaf->template counts<Count>(), merged.counts.data() + first,
              numbers * sizeof(Count));
  return ref;
}

// --- the tree ---

void CountedNumbers::SetLeaf(Root* root, Path* path, Arena::Ref leaf) {
  path->leaf = leaf;
  if (root->height == 0) {
    root->tree = leaf;
  } else {
    path->steps[0].inner->children[path->steps[0].child].node = leaf;
  }
}

// Adds a child behind the one that the path takes at that height (0 = above the leaves), splitting
// what is full; the path takes the new one then. NOLINTNEXTLINE(misc-no-recursion): as deep as the
// tree
void CountedNumbers::AddChild(Root* root, Path* path, int level, const Child& child) {
  const size_t h = static_cast<size_t>(level);
  if (h == root->height) {
    const Arena::Ref ref = arena().Allocate(kInnerBytes);
    Inner* top = NodeAt<Inner>(ref);
    top->count = 1;
    top->children[0] = {std::numeric_limits<int64_t>::min(), root->tree};
    root->tree = ref;
    ++root->height;
    RT_CHECK(root->height < kHeightMax);
    path->steps[h] = {top, 0};
  }
  Step* step = &path->steps[h];
  if (step->inner->count == kFanout) {
    Inner* inner = step->inner;
    const Arena::Ref right_ref = arena().Allocate(kInnerBytes);
    Inner* right = NodeAt<Inner>(right_ref);
    const uint32_t kept = step->child + 1 == kFanout ? kFanout - 1 : kFanout / 2;
    right->count = kFanout - kept;
    std::memcpy(static_cast<void*>(right->children), inner->children + kept,
                right->count * sizeof(Child));
    inner->count = kept;
    AddChild(root, path, level + 1, {right->children[0].first, right_ref});
    if (step->child >= kept) {
      *step = {right, step->child - kept};
    } else {
      --path->steps[h + 1].child;
    }
  }
  Inner* inner = step->inner;
  const uint32_t at = ++step->child;
  std::memmove(static_cast<void*>(inner->children + at + 1), inner->children + at,
               (inner->count - at) * sizeof(Child));
  inner->children[at] = child;
  ++inner->count;
}

// Takes out the child that the path takes at that height, whose node is freed already; empty nodes
// above go with it. NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
void CountedNumbers::RemoveChild(Root* root, Path* path, int level) {
  const size_t h = static_cast<size_t>(level);
  Inner* inner = path->steps[h].inner;
  const uint32_t at = path->steps[h].child;
  std::memmove(static_cast<void*>(inner->children + at), inner->children + at + 1,
               (inner->count - at - 1) * sizeof(Child));
  if (--inner->count > 0) return;
  if (h + 1 == root->height) {
    arena().Free(root->tree, Arena::ClassOf(kInnerBytes));
    root->tree = 0;
    root->height = 0;
    return;
  }
  const Step& above = path->steps[h + 1];
  arena().Free(above.inner->children[above.child].node, Arena::ClassOf(kInnerBytes));
  RemoveChild(root, path, level + 1);
}

void CountedNumbers::Shrink(Root* root) {
  while (root->height > 0 && NodeAt<Inner>(root->tree)->count == 1) {
    const Arena::Ref only = NodeAt<Inner>(root->tree)->children[0].node;
    arena().Free(root->tree, Arena::ClassOf(kInnerBytes));
    root->tree = only;
    --root->height;
  }
}

void CountedNumbers::FreeLeaf(Arena::Ref ref) {
  const Leaf* leaf = NodeAt<Leaf>(ref);
  arena().Free(ref, Arena::ClassOf(LeafBytes(leaf->numbers, leaf->wide != 0)));
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, which is at most kHeightMax
void CountedNumbers::FreeNode(Arena::Ref node, uint32_t height) {
  if (height == 0) return FreeLeaf(node);
  const Inner* inner = NodeAt<Inner>(node);
  for (uint32_t i = 0; i < inner->count; ++i) FreeNode(inner->children[i].node, height - 1);
  arena().Free(node, Arena::ClassOf(kInnerBytes));
}

void CountedNumbers::FreeAll(const Root* root) {
  arena().Free(root->log, Arena::ClassOf(root->room * sizeof(int64_t)));
  if (root->tree != 0) FreeNode(root->tree, root->height);
}

void CountedNumbers::EraseAll(Entry key) {
  if (!roots_.Has(key)) return;
  roots_.BeforeChange(key);
  FreeAll(RootOf(key));
  roots_.Erase(key);
}

CountedNumbers::Counted CountedNumbers::Lowest(Entry key) const {
  const Root* root = RootOf(key);
  Arena::Ref node = root->tree;
  for (uint32_t h = root->height; h > 0; --h) node = NodeAt<Inner>(node)->children[0].node;
  Leaf* leaf = NodeAt<Leaf>(node);
  return {leaf->number[0], leaf->count(0)};
}

CountedNumbers::Counted CountedNumbers::Highest(Entry key) const {
  const Root* root = RootOf(key);
  Arena::Ref node = root->tree;
  for (uint32_t h = root->height; h > 0; --h) {
    const Inner* inner = NodeAt<Inner>(node);
    node = inner->children[inner->count - 1].node;
  }
  Leaf* leaf = NodeAt<Leaf>(node);
  return {leaf->number[leaf->numbers - 1], leaf->count(leaf->numbers - 1)};
}

// --- snapshots ---

void CountedNumbers::FoldAll() {
  std::vector<Entry> keys;
  roots_.ForEach([&](Entry key) { keys.push_back(key); });
  for (const Entry key : keys) {
    Root* root = roots_.DataAs<Root>(key);
    FoldLog(root);
    if (root->numbers == 0) EraseAll(key);
  }
  roots_.Settle();
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree, which is at most kHeightMax
template <typename Visit>
void CountedNumbers::ForEachLeaf(Arena::Ref node, uint32_t height, const Visit& visit) const {
  if (height == 0) return visit(NodeAt<Leaf>(node));
  const Inner* inner = NodeAt<Inner>(node);
  for (uint32_t i = 0; i < inner->count; ++i)
    ForEachLeaf(inner->children[i].node, height - 1, visit);
}

void CountedNumbers::ForEach(Entry key, const std::function<void(Counted)>& visit) const {
  if (!roots_.Has(key) || RootOf(key)->numbers == 0) return;
  ForEachLeaf(RootOf(key)->tree, RootOf(key)->height, [&visit](Leaf* leaf) {
    for (uint32_t i = 0; i < leaf->numbers; ++i) visit({leaf->number[i], leaf->count(i)});
  });
}

void CountedNumbers::Snapshot(SnapshotWriter& writer) const {
  // Folding changes how the numbers lie, not which they are.
  if (!roots_.tiered()) const_cast<CountedNumbers*>(this)->FoldAll();
  roots_.SnapshotWith(writer, [this](Entry key, SnapshotWriter& to) {
    const Root* root = RootOf(key);
    to.PutU64(static_cast<uint64_t>(root->numbers));
    ForEachLeaf(root->tree, root->height, [&to](Leaf* leaf) {
      for (uint32_t i = 0; i < leaf->numbers; ++i) {
        to.PutI64(leaf->number[i]);
        to.PutI64(leaf->count(i));
      }
    });
  });
}

Status CountedNumbers::Restore(SnapshotReader& reader) {
  roots_.Clear();
  return Merge(reader);
}

Status CountedNumbers::Merge(SnapshotReader& reader) {
  return roots_.MergeWith(
      reader, [this](SnapshotReader& from, Entry key) { return ReadNumbers(from, key); });
}

Status CountedNumbers::ReadNumbers(SnapshotReader& reader, Entry key) {
  RT_ASSIGN(const uint64_t numbers, reader.U64("numbers of a key"));
  if (numbers == 0) return Status::Corruption("a key of the snapshot has no numbers");
  if (key) Begin(key);
  changes_.clear();
  int64_t last = 0;
  for (uint64_t i = 0; i < numbers; ++i) {
    RT_ASSIGN(const int64_t number, reader.I64("number"));
    RT_ASSIGN(const int64_t count, reader.I64("count of a number"));
    if (count == 0) return Status::Corruption("a number of the snapshot has the count 0");
    if (i > 0 && number <= last)
      return Status::Corruption("numbers of a key of the snapshot are not in order");
    last = number;
    if (!key) continue;
    changes_.push_back({number, count});
    if (changes_.size() == kLogRoomMax || i + 1 == numbers) {
      Apply(roots_.DataAs<Root>(key), changes_);
      changes_.clear();
    }
  }
  return Status::Ok();
}

// Pairs of a number and its count; none, when all came and left since the key was folded last.
void CountedNumbers::WriteBelow(Root* root, std::string* to) {
  FoldLog(root);
  if (root->numbers == 0) return;
  ForEachLeaf(root->tree, root->height, [to](Leaf* leaf) {
    for (uint32_t i = 0; i < leaf->numbers; ++i) {
      const Counted counted{leaf->number[i], leaf->count(i)};
      to->append(reinterpret_cast<const char*>(&counted), sizeof(counted));
    }
  });
}

Status CountedNumbers::ReadBelow(std::string_view bytes, Entry key) {
  if (bytes.size() % sizeof(Counted) != 0)
    return Status::Corruption("numbers of a key of the state have {} bytes", bytes.size());
  if (bytes.empty()) return Status::Ok();
  Begin(key);
  while (!bytes.empty()) {
    const size_t some = std::min(bytes.size() / sizeof(Counted), static_cast<size_t>(kLogRoomMax));
    changes_.resize(some);
    std::memcpy(static_cast<void*>(changes_.data()), bytes.data(), some * sizeof(Counted));
    for (size_t i = 0; i < some; ++i) {
      if (changes_[i].count == 0 || (i > 0 && changes_[i].number <= changes_[i - 1].number))
        return Status::Corruption("numbers of a key of the state are not in order");
    }
    Apply(roots_.DataAs<Root>(key), changes_);
    bytes.remove_prefix(some * sizeof(Counted));
  }
  return Status::Ok();
}

}  // namespace rowtide

// Counted numbers: key -> numbers and how often each is there, for a MIN or MAX whose values leave.
//
//   Note(+7) Note(+5) Note(+7)   ->   5: 1 | 7: 2      lowest 5, highest 7
//   Note(-5)                     ->   7: 2             lowest 7
//   Note(-9)                     ->   7: 2 | 9: -1     a number that was never there
//
// A change is noted in the log of its key and nothing else is touched. Only when the log is full,
// or when somebody asks, it is sorted and folded into the tree, leaf by leaf: so what the change of
// a number in the middle costs is its share of a merge, however many numbers there are, and the
// lowest one after a removal costs O(log numbers) for each change that was noted since.
//
//   per key   a log, room for a quarter of the numbers, 4 to 4,096; a B+ tree of sorted leaves
//   log       | added: i64 ... ->           <- ... removed: i64 |
//   leaf      | numbers: u32 | wide: u32 | number: i64 ... | count: i8, or i64 if wide ... |
//
// Numbers whose count is 0 are not kept; a key without any has no value and is forgotten by Settle.
// A snapshot holds the numbers folded, so it does not tell when they were; likewise what a backend
// holds of a key, which is all of its numbers or none. One lane.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "state/value_state.h"

namespace rowtide {

class CountedNumbers final : public StatePart {
 public:
  struct Counted {
    int64_t number;
    int64_t count;
  };

  CountedNumbers(const OperatorContext& context, Ttl ttl);

  // As in ValueState.
  Status FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries) {
    return roots_.FindOrCreate(keys, entries);
  }
  void Settle() { roots_.Settle(); }
  const ValueState& keys() const { return roots_; }
  void Touch(Entry key) { roots_.Touch(key); }
  // Fetches the key's entry; later on, once that is at hand, where its next change will be noted.
  void Prefetch(Entry key) const { roots_.Prefetch(key); }
  void PrefetchLog(Entry key) const {
    if (!roots_.Has(key)) return;
    const Root* root = RootOf(key);
    const int64_t* log = NodeAt<int64_t>(root->log);
    __builtin_prefetch(log + root->added, 1);
    __builtin_prefetch(log + root->room - root->removed - 1, 1);
  }

  // One more of the number, or one less.
  void Note(Entry key, int64_t number, bool removes) {
    if (!roots_.Has(key)) Begin(key);
    Root* root = roots_.DataAs<Root>(key);
    if (root->added + root->removed == root->room) root = MakeRoom(key);
    int64_t* log = NodeAt<int64_t>(root->log);
    if (removes) {
      log[root->room - ++root->removed] = number;
    } else {
      log[root->added++] = number;
    }
  }
  // Works off what was noted.
  void Fold(Entry key);
  // One more of the number, or one less, at once; returns its count after it. Requires: folded.
  int64_t Change(Entry key, int64_t number, bool removes);
  void EraseAll(Entry key);

  // --- what was there when the key was folded last ---
  bool has_numbers(Entry key) const { return roots_.Has(key); }
  // With a count above zero, below zero.
  int64_t positives(Entry key) const {
    return roots_.Has(key) ? RootOf(key)->numbers - RootOf(key)->negatives : 0;
  }
  int64_t negatives(Entry key) const { return roots_.Has(key) ? RootOf(key)->negatives : 0; }
  // Requires: a number is there.
  Counted Lowest(Entry key) const;
  Counted Highest(Entry key) const;
  // In their order.
  void ForEach(Entry key, const std::function<void(Counted)>& visit) const;

  void Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;

 private:
  struct Root {
    int64_t numbers;  // in the tree
    int64_t negatives;
    Arena::Ref tree;  // 0 = none
    Arena::Ref log;
    uint32_t height;  // 0 = the tree is a leaf
    uint32_t room;    // of the log
    uint32_t added;   // in the log
    uint32_t removed;
  };
  struct Leaf {
    uint32_t numbers;
    uint32_t wide;
    int64_t number[];
    template <typename Count>
    Count* counts() {
      return reinterpret_cast<Count*>(number + numbers);
    }
    int64_t count(uint32_t i) {
      return wide != 0 ? counts<int64_t>()[i] : int64_t{counts<int8_t>()[i]};
    }
  };
  // `first` separates: numbers of the child are not less, those of the child before are.
  struct Child {
    int64_t first;
    Arena::Ref node;
  };
  struct Inner {
    uint32_t count;
    uint32_t unused;
    Child children[];
  };
  static constexpr uint32_t kLeafNumbers = 256;
  static constexpr uint32_t kFanout = 32;
  static constexpr int kHeightMax = 16;
  static constexpr size_t kInnerBytes = sizeof(Inner) + kFanout * sizeof(Child);
  struct Step {
    Inner* inner;
    uint32_t child;
  };
  struct Path {
    Step steps[kHeightMax];
    Arena::Ref leaf;
    int64_t last;  // the highest number that belongs there
  };
  // The merged content of a leaf, before it is written.
  template <typename Count>
  struct Merged {
    std::vector<int64_t> numbers;
    std::vector<Count> counts;
    size_t size = 0;
  };

  const Arena& arena() const { return const_cast<ValueState&>(roots_).arena(); }
  Arena& arena() { return roots_.arena(); }
  template <typename T>
  T* NodeAt(Arena::Ref ref) const {
    return reinterpret_cast<T*>(arena().At(ref));
  }
  const Root* RootOf(Entry key) const {
    return reinterpret_cast<const Root*>(roots_.Value(key).data());
  }
  static size_t LeafBytes(size_t numbers, bool wide) {
    return sizeof(Leaf) + numbers * (sizeof(int64_t) + (wide ? sizeof(int64_t) : 1));
  }
  void Begin(Entry key);
  Root* MakeRoom(Entry key);
  void NewLog(Root* root);
  void SortLog(Root* root);
  void Apply(Root* root, std::span<const Counted> changes);
  Path Descend(const Root* root, int64_t number) const;
  void ApplyToLeaf(Root* root, Path* path, std::span<const Counted> changes);
  template <typename Count>
  bool Merge(Root* root, Leaf* leaf, std::span<const Counted> changes, Merged<Count>* merged);
  template <typename Count>
  void TakeNeighbour(Root* root, Path* path, Merged<Count>* merged);
  template <typename Count>
  void Write(Root* root, Path* path, bool appends, const Merged<Count>& merged);
  template <typename Count>
  Arena::Ref WriteLeaf(Arena::Ref old, const Merged<Count>& merged, size_t first, size_t numbers);
  void SetLeaf(Root* root, Path* path, Arena::Ref leaf);
  void AddChild(Root* root, Path* path, int level, const Child& child);
  void RemoveChild(Root* root, Path* path, int level);
  void Shrink(Root* root);
  void FreeLeaf(Arena::Ref ref);
  void FreeNode(Arena::Ref node, uint32_t height);
  void FreeAll(const Root* root);
  Status ReadNumbers(SnapshotReader& reader, Entry key);
  void WriteBelow(Root* root, std::string* to);
  Status ReadBelow(std::string_view bytes, Entry key);
  void FoldLog(Root* root);
  void FoldAll();
  template <typename Visit>
  void ForEachLeaf(Arena::Ref node, uint32_t height, const Visit& visit) const;

  ValueState roots_;
  int64_t changed_count_ = 0;  // of the number that was changed last
  std::vector<Counted> changes_;
  Merged<int8_t> narrow_;
  Merged<int64_t> wide_;
};

}  // namespace rowtide

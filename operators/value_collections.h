// What an aggregate keeps when values can leave: all values of the group, in ordered state.
//
//   DistinctValues   value -> count      DISTINCT: rows become arrivals and departures of values
//   ValueCounts      value -> count      MIN and MAX, cached in the entry, looked up when it
//                                        leaves; of whole numbers: operators/number_extremes.h
//   ValueList        values by arrival   FIRST_VALUE, LAST_VALUE, LISTAGG; a retraction takes the
//                                        oldest equal one
//
// A change costs O(log values of the group). Counts may go below zero for values that were never
// there, and cancel when those arrive, as in Flink. The collections of a group die with it: when
// its last row leaves, or, with a TTL, when it begins anew. Calls over the same argument and filter
// share a collection.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "operators/accumulators.h"
#include "state/key_codec.h"
#include "state/ordered_state.h"
#include "state/row_codec.h"
#include "state/shown_state.h"

namespace rowtide {

// The TTL of collections runs a little longer than their group's: the group, which every row
// touches, goes first.
Ttl CollectionTtl(const OperatorContext& context);

class DistinctValues {
 public:
  // `arguments`: columns of `input`, together one value; NULL is a value.
  DistinctValues(const Schema& input, const std::vector<int>& arguments,
                 const OperatorContext& context);

  StatePart* part() { return &state_; }
  // `key`: of the groups, over `input`. Likewise below.
  std::unique_ptr<ShownState> Shown(const Schema& input, const KeyCodec& key);
  Status Find(const KeyBatch& keys) { return state_.FindOrCreate(keys, &keys_); }
  // Requires: Find with the keys of the units. `steps`: per row, the rows' own with kStepApply and
  // kStepRetract changed to mean "the value is new" and "the value is gone".
  void Run(const RowBatch& batch, const GroupRows& rows, std::vector<uint8_t>* steps);
  void Settle() { state_.Settle(); }

 private:
  OrderedState state_;
  Schema arguments_;
  SortKeyCodec codec_;
  SortKeyBatch values_;
  std::vector<Entry> keys_;
};

// A result that a collection computes: where it is kept and where it goes.
struct CollectionTarget {
  AggregateFunction function = AggregateFunction::kMin;
  int offset = 0;   // in the entry
  int second = -1;  // LISTAGG's separator column
  ResultColumn* before = nullptr;
  ResultColumn* after = nullptr;
};

// The values of one argument and the targets that want their extremes.
class ExtremeValues {
 public:
  static std::unique_ptr<ExtremeValues> Create(const Schema& input, int argument,
                                               const OperatorContext& context);
  virtual ~ExtremeValues() = default;

  // Bytes of each target in the entry, and whether they begin with a TextCell.
  static int EntryBytes(const Type& argument);
  static bool HasText(const Type& argument) { return LayoutOf(argument) == Layout::kBytes; }

  virtual StatePart* part() = 0;
  virtual std::unique_ptr<ShownState> Shown(const Schema& input, const KeyCodec& key) = 0;
  virtual Status Find(const KeyBatch& keys) = 0;
  // Requires: Find with the keys of the units.
  virtual void Run(const RowBatch& batch, const GroupRows& rows,
                   const std::vector<CollectionTarget>& targets, StringBlocks* strings) = 0;
  virtual void Settle() = 0;
};

class ValueCounts final : public ExtremeValues {
 public:
  ValueCounts(const Schema& input, int argument, const OperatorContext& context);

  StatePart* part() override { return &state_; }
  std::unique_ptr<ShownState> Shown(const Schema& input, const KeyCodec& key) override;
  Status Find(const KeyBatch& keys) override { return state_.FindOrCreate(keys, &keys_); }
  void Run(const RowBatch& batch, const GroupRows& rows,
           const std::vector<CollectionTarget>& targets, StringBlocks* strings) override;
  void Settle() override { state_.Settle(); }

 private:
  template <typename Cell>
  void RunAs(const RowBatch& batch, const GroupRows& rows,
             const std::vector<CollectionTarget>& targets, StringBlocks* strings);

  OrderedState state_;
  int argument_;
  Schema values_schema_;
  Layout layout_;
  SortKeyCodec codec_;
  SortKeyBatch values_;
  std::vector<Entry> keys_;
};

class ValueList {
 public:
  ValueList(const Schema& input, int argument, const OperatorContext& context);

  static constexpr int kEntryBytes = 8;  // of the list, at `offset`: the number of the next arrival

  std::vector<StatePart*> parts() { return {&by_arrival_, &by_value_}; }
  std::unique_ptr<ShownState> Shown(const Schema& input, const KeyCodec& key);
  Status Find(const KeyBatch& keys) {
    RT_TRY(by_arrival_.FindOrCreate(keys, &arrival_keys_));
    return by_value_.FindOrCreate(keys, &value_keys_);
  }
  void Run(const RowBatch& batch, const GroupRows& rows, int offset,
           const std::vector<CollectionTarget>& targets, StringBlocks* strings);
  void Settle() {
    by_arrival_.Settle();
    by_value_.Settle();
  }

 private:
  void Add(Entry arrival_key, Entry value_key, const RowBatch& batch, int row, char* next_arrival);
  void RemoveOldest(Entry arrival_key, Entry value_key, int row);
  void Emit(const CollectionTarget& target, Entry arrival_key, const RowBatch& batch, int row,
            StringBlocks* strings, ResultColumn* to, int unit);

  OrderedState by_arrival_;  // sort key: arrival, big-endian; row: the value
  OrderedState by_value_;    // sort key: the value; row: its arrival
  int argument_;
  Schema values_schema_;
  Layout layout_;
  SortKeyCodec codec_;
  SortKeyBatch values_;
  std::vector<Entry> arrival_keys_;
  std::vector<Entry> value_keys_;
  std::string text_;
};

}  // namespace rowtide

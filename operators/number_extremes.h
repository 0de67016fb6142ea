// MIN and MAX of whole numbers (also DATE, TIME, TIMESTAMP(3), small DECIMAL and BOOLEAN) whose
// values can leave.
//
//   in the entry, per target   | extreme: in its width | how often it is there: i64 |
//   in the collection          the other values, noted (state/counted_numbers.h)
//
// As long as the extreme is there, what comes and goes behind it changes no result: it is noted,
// and the collection is asked only when the last of the extreme leaves. A retraction of what was
// never there gives what Flink gives, count by count, so it and what follows it go the slow way
// until the numbers add up again. One lane.
#pragma once

#include <vector>

#include "operators/value_collections.h"
#include "state/counted_numbers.h"

namespace rowtide {

class NumberExtremes final : public ExtremeValues {
 public:
  // Requires: Holds(the argument's type).
  NumberExtremes(const Schema& input, int argument, const OperatorContext& context);
  static bool Holds(const Type& argument);

  StatePart* part() override { return &numbers_; }
  std::unique_ptr<ShownState> Shown(const Schema& input, const KeyCodec& key) override;
  Status Find(const KeyBatch& keys) override { return numbers_.FindOrCreate(keys, &keys_); }
  void Run(const RowBatch& batch, const GroupRows& rows,
           const std::vector<CollectionTarget>& targets, StringBlocks* strings) override;
  void Settle() override { numbers_.Settle(); }

 private:
  template <typename T>
  void RunAs(const RowBatch& batch, const GroupRows& rows,
             const std::vector<CollectionTarget>& targets);
  template <typename T>
  bool ChangesNoted(char* entry, const std::vector<CollectionTarget>& targets, T value,
                    bool retracts) const;
  template <typename T>
  void ChangeExactly(Entry key, char* entry, const std::vector<CollectionTarget>& targets, T value,
                     bool retracts);
  template <typename T>
  void Emit(Entry key, const char* at, ResultColumn* to, int unit) const;

  CountedNumbers numbers_;
  int argument_;
  Field field_;
  Layout layout_;
  std::vector<Entry> keys_;
};

}  // namespace rowtide

// ROW_NUMBER() OVER (PARTITION BY … ORDER BY v) that is no Top-N: every row with its number, kept
// up to date.
//
//   numbers of   5 a            +I a 1
//                3 b 5 a        +I b 1, -U a 1, +U a 2
//                3 b 4 c 5 a    +I c 2, -U a 2, +U a 3
//                4 c 5 a        -D b 1, -U c 2, +U c 1, -U a 3, +U a 2        (b is taken back)
//
// Rows with equal sort keys keep their arrival order. A retraction takes the first row of equal
// content; one that is not found is counted. A change costs a row out for each row behind it: that
// is what the query asks for.
//
// State: the rows of each partition. Counters: `unmatched_retraction`, `expired`.
#pragma once

#include <memory>
#include <vector>

#include "operators/expressions/expression.h"
#include "operators/keyed_operator.h"
#include "operators/output_rows.h"
#include "state/ordered_state.h"
#include "state/row_codec.h"

namespace rowtide {

struct OverRowNumberSpec {
  std::vector<int> partition;
  std::vector<SortKey> order;
  Schema output;  // the input's columns and the number
  bool generates_update_before = true;
};

class OverRowNumber final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(OverRowNumberSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  ShownStates Shown() override;

 private:
  OverRowNumber(OverRowNumberSpec spec, const Schema& input, const OperatorContext& context);
  Status Add(Entry key, RowKind kind, int row, Collector& out);
  Status Remove(Entry key, int row, Collector& out);
  // The rows from `position` on were numbered by `shift` more before.
  Status EmitShifted(Entry key, int64_t position, int64_t shift, Collector& out);
  Status FlushWhenFull(Collector& out);

  OverRowNumberSpec spec_;
  Schema input_;
  int64_t* unmatched_retractions_;
  KeyCodec key_codec_;
  SortKeyCodec sort_codec_;
  RowCodec row_codec_;
  OrderedState rows_;
  OutputRows output_;

  // --- scratch ---
  KeyBatch keys_;
  SortKeyBatch sorts_;
  EncodedRows encoded_;
  std::vector<Entry> entries_;
};

}  // namespace rowtide

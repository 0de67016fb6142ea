// What a changelog comes to: takes all kinds of rows, and puts out the ones that are left when the
// input ends, as +I. This is `SET 'execution.runtime-mode' = 'batch'`.
//
//   +I a1   +I b1   -U a1   +U a2   -D b1   end
//   –       –       –       –       –       +I a2
//
// Rows match by content; a bag, so equal rows count. They come out in the given order, and where
// that leaves a choice (or there is none) in the order in which they came to be final: a row that
// was replaced takes the place of its last version. A retraction of a row that is not there is
// counted.
//
// State: the rows, each with how often it is there and its arrival. Counter:
// `unmatched_retraction`. There is no TTL: nothing that is left is left out.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "operators/keyed_operator.h"
#include "operators/output_rows.h"
#include "state/key_codec.h"
#include "state/row_codec.h"
#include "state/value_state.h"

namespace rowtide {

struct FinalRowsSpec {
  std::vector<SortField> order;  // empty = by arrival alone
};

class FinalRows final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(FinalRowsSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  Status Advance(int input, Time time, Collector& out) override;

 private:
  // In front of the row's bytes in state.
  struct Kept {
    int64_t count;
    uint64_t arrival;
  };
  struct Numbers {
    uint64_t next_arrival = 0;
    void Merge(const Numbers& other) { next_arrival = std::max(next_arrival, other.next_arrival); }
  };
  FinalRows(FinalRowsSpec spec, const Schema& input, const OperatorContext& context);
  void Add(Entry entry, std::string_view row);
  void Remove(Entry entry);
  Status EmitAll(Collector& out);
  struct Candidate;
  void SetSortKeys(std::vector<Candidate>* rows) const;

  FinalRowsSpec spec_;
  int64_t* unmatched_retractions_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  SortKeyCodec sort_codec_;
  ValueState rows_;
  SavedNumbers<Numbers> numbers_;
  OutputRows output_;

  // --- scratch ---
  KeyBatch keys_;
  EncodedRows encoded_;
  std::vector<Entry> entries_;
};

}  // namespace rowtide

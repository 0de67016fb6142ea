// The changelog of a group aggregate, written column by column: group columns from the input,
// results from the calls.
//
//   Add(-U, key row 3, unit 3, before)   Add(+U, key row 3, unit 3, after)   ...   FlushTo(out)
//
// Strings of the group columns share the input's blocks, those of results lie in the calls' string
// blocks, which are handed on with the batches. A zero of a DOUBLE or FLOAT group column is written
// as 0.0, never -0.0: the group is one, so all its rows must say the same (flink-rank-dedup.md
// 15.9).
#pragma once

#include <vector>

#include "engine/operator.h"
#include "operators/group_calls.h"

namespace rowtide {

// One column of results: for each of `rows` entries of `results`, unit * 2 (the result before) or
// unit * 2 + 1 (after).
Column GatherResults(const ResultColumn& before, const ResultColumn& after, const int32_t* results,
                     size_t rows);

class GroupOutput {
 public:
  // `separate_zeros`: group columns are passed on bit by bit.
  GroupOutput(std::vector<int> group, bool separate_zeros)
      : group_(std::move(group)), separate_zeros_(separate_zeros) {}

  // Makes room for so many more rows.
  void Reserve(size_t rows) {
    if (rows_ + rows <= kinds_.size()) return;
    kinds_.resize(rows_ + rows);
    key_rows_.resize(rows_ + rows);
    results_.resize(rows_ + rows);
  }
  // Requires: room.
  void Add(RowKind kind, int key_row, int unit, bool after) {
    // Through pointers: an index would be checked for each row.
    kinds_.data()[rows_] = static_cast<char>(kind);
    key_rows_.data()[rows_] = key_row;
    results_.data()[rows_] = unit * 2 + (after ? 1 : 0);
    ++rows_;
  }
  // Emits what was added, up to 1,024 rows a batch. `keys` holds the group columns in its own
  // places.
  Status FlushTo(const RowBatch& keys, const GroupCalls& calls, StringBlocks* strings,
                 Collector& out);

 private:
  RowBatch BatchOf(const RowBatch& keys, const GroupCalls& calls,
                   const std::vector<BlockPointer>& blocks, size_t first, size_t rows) const;

  std::vector<int> group_;
  bool separate_zeros_;
  size_t rows_ = 0;  // that many of these are in use
  std::vector<char> kinds_;
  std::vector<int32_t> key_rows_;
  std::vector<int32_t> results_;  // unit * 2, + 1: the result after
};

}  // namespace rowtide

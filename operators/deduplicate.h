// Deduplicate: the first or the last row of each key, as a changelog (flink-rank-dedup.md 6).
//
//   order     keeps   emits                                       state per key
//   PROCTIME  first   +I of a key's first row                     a flag
//   PROCTIME  last    +I, then -U/+U of each row that differs     the row
//   ROWTIME   first   +I when the watermark has passed the row    the waiting row, then a flag
//   ROWTIME   first   eager: -U/+U when an earlier row comes      the row
//   ROWTIME   last    +I, then -U/+U of each row not earlier      the row
//
// Of a row that nobody can ask for again (row time, no -U, no mini-batch, no watch) the time alone
// is kept. All take +I only. With a mini-batch, rows are gathered in a bundle and meet the state at
// the flush. Counters: `duplicate`, rows that are left out for a kept one, and `late`. With a
// watch, `duplicate` are the rows that differ from the kept one, left out or not
// (operators/conflict_watch.h).
#pragma once

#include <memory>
#include <vector>

#include "engine/operator.h"
#include "operators/conflict_watch.h"
#include "operators/mini_batch.h"

namespace rowtide {

struct DeduplicateSpec {
  Schema schema;  // of the input and of the output
  std::vector<int> keys;
  bool rowtime = false;   // else processing time: arrival decides
  int order_column = -1;  // rowtime: the column in ORDER BY
  bool keeps_last = false;
  bool outputs_insert_only = false;  // ROWTIME first: wait for the watermark
  bool emits_update_before = true;
  // table.exec.deduplicate.insert-update-after-sensitive-enabled
  bool insert_update_after_sensitive = true;
  MiniBatch mini_batch;
  // table.exec.deduplicate.mini-batch.compact-changes-enabled
  bool compacts_changes = false;
};

// Watched or not, the changelog is the same.
Result<std::unique_ptr<Operator>> Create(const DeduplicateSpec& spec,
                                         const OperatorContext& context,
                                         std::unique_ptr<ConflictWatch> watch = nullptr);

// kDataError unless every row of the batch is +I.
Status CheckInsertOnly(const RowBatch& batch, const char* operator_name);

// The forms behind Create; Requires: the spec asks for that order.
std::unique_ptr<Operator> CreateProctimeDeduplicate(const DeduplicateSpec& spec,
                                                    const OperatorContext& context,
                                                    std::unique_ptr<ConflictWatch> watch);
std::unique_ptr<Operator> CreateRowtimeDeduplicate(const DeduplicateSpec& spec,
                                                   const OperatorContext& context,
                                                   std::unique_ptr<ConflictWatch> watch);
std::unique_ptr<Operator> CreateRowtimeFirstOnce(const DeduplicateSpec& spec,
                                                 const OperatorContext& context,
                                                 std::unique_ptr<ConflictWatch> watch);

}  // namespace rowtide

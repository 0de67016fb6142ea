// GROUP BY: one row a group, kept up to date. Also SELECT DISTINCT (no calls) and global aggregates
// (no group columns).
//
//   input      +I a 3     +I a 4                   -D a 3                   -D a 4
//   SUM        +I a 3     -U a 3, +U a 7           -U a 7, +U a 4           -D a 4
//
// A group begins with the first row that adds to it; a retraction of an unknown group is dropped
// and counted. It is gone when its last row is (counted only if the input can retract). An
// unchanged result is not emitted again, unless a TTL is set: then it is, so that state downstream
// stays alive. With mini-batch a group changes at most once per bundle. The second of two phases
// (`merges_partials`) reads what LocalGroupAggregate puts out and always works in bundles.
// Behaviour: flink-rank-dedup.md section 10.
//
// State: an entry a group (group_entries.h), collections of values (value_collections.h), the
// bundle. Counters: `unmatched_retraction`, `expired`.
#pragma once

#include <memory>
#include <vector>

#include "operators/bundle_rows.h"
#include "operators/group_calls.h"
#include "operators/group_entries.h"
#include "operators/group_output.h"
#include "operators/keyed_operator.h"
#include "operators/mini_batch.h"

namespace rowtide {

struct GroupAggregateSpec {
  std::vector<int> group;          // columns of the input; none = one global group
  std::vector<Aggregation> calls;  // arguments: columns of the input, or of `raw_input`
  Schema output;                   // the group columns, then a column per call
  bool counts_rows = false;        // the input can retract
  bool generates_update_before = true;
  MiniBatch mini_batch;
  bool merges_partials = false;  // the input is what LocalGroupAggregate puts out
  int count_star = -1;           // with partials: the call that is the row count, or -1
  Schema raw_input;              // with partials: the input of the local phase
};

class GroupAggregate final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(GroupAggregateSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  Status Advance(int input, Time time, Collector& out) override;
  ShownStates Shown() override;

 private:
  class ShownGroups;
  enum class Change : uint8_t { kNone, kInsert, kUpdate, kDelete };

  GroupAggregate(GroupAggregateSpec spec, const Schema& input, std::unique_ptr<GroupCalls> calls,
                 int row_count_column, const OperatorContext& context);

  Status ProcessRows(const RowBatch& batch, Collector& out);
  Status AddToBundle(const RowBatch& batch, Collector& out);
  Status FlushBundle(Collector& out);
  Status FlushKeys(int first, Collector& out);
  Status Begin(const KeyBatch& keys, int rows);
  void StepRow(const RowKind* kinds, int row);
  void StepUnit(const RowBatch& rows, int first, int last, int unit);
  int64_t CountOf(const char* entry) const;
  Status RunAndEmit(const RowBatch& batch, const GroupRows& rows, Collector& out);

  GroupAggregateSpec spec_;
  Schema input_;
  bool ttl_;
  bool keeps_unknown_partials_;  // Flink's rows for a first bundle of retractions only (15.19)
  int row_count_column_;         // of partials, or -1
  int64_t* unmatched_retractions_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  std::unique_ptr<GroupCalls> calls_;
  GroupEntries entries_;
  Bundle bundle_;
  GroupOutput output_;

  // --- scratch of one batch ---
  KeyBatch keys_;         // of the rows of a batch
  KeyBatch bundle_keys_;  // of the units of a flush
  BundleRows bundle_rows_;
  EncodedRows encoded_;
  StringBlocks strings_;
  std::vector<uint8_t> steps_;  // per row
  std::vector<char*> unit_entries_;
  std::vector<Change> changes_;  // per unit
};

}  // namespace rowtide

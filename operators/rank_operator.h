// What the forms of Rank share: encoded keys of the batch at hand, the end of the range, and what
// is emitted when ranks shift.
//
//   insert c at rank 2, N = 3, with number:   a b d  ->  a c b d    -U b 2, +U c 2, -U d 3, +U b 3
//   the same without number:                                        -D d, +I c
//
// A row is emitted only if its rank lies in [start, end]; -U only if wanted. Offsets (start > 1)
// use the numbered form.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "operators/keyed_operator.h"
#include "operators/output_rows.h"
#include "operators/rank.h"
#include "operators/recent_rows.h"
#include "operators/shown_rows.h"
#include "state/key_codec.h"
#include "state/key_groups.h"
#include "state/ordered_state.h"
#include "state/row_codec.h"
#include "state/row_writer.h"
#include "state/value_state.h"

namespace rowtide {

class RankOperator : public KeyedOperator {
 public:
  ShownStates Shown() final;

 protected:
  // What a form keeps of each partition.
  virtual std::unique_ptr<ShownState> ShownRanks() = 0;
  // Rows of the input by partition, or other columns.
  ShownForm FormOf(const std::string& name) const {
    return {name, spec_.input, key_codec_, spec_.input};
  }
  ShownForm FormOf(const std::string& name, Schema rows) const {
    return {name, spec_.input, key_codec_, std::move(rows)};
  }
  RankOperator(std::string name, const RankSpec& spec, const OperatorContext& context);

  // Encodes partition keys and sort keys of the batch and finds the ends of its partitions.
  Status Encode(const RowBatch& batch);
  // The last rank that is asked for in the row's partition; at most 0 when there is none.
  int64_t EndOf(int row) const { return ends_ ? row_ends_[static_cast<size_t>(row)] : spec_.end; }
  // How many rows are taken in before the sort key has to be better than the worst: the end. Flink
  // takes 100 when the end is variable (flink-rank-dedup.md 15.6).
  int64_t AdmittedOf(int64_t end) const { return ends_ && flink_compat_ ? kFlinkVariableEnd : end; }
  void TouchEnd(int row) {
    if (ends_) ends_->Touch(end_entries_[static_cast<size_t>(row)]);
  }

  void Emit(RowKind kind, const char* row, int64_t rank, int64_t end) {
    if (rank < spec_.start || rank > end) return;
    if (kind == RowKind::kUpdateBefore && !spec_.emits_update_before) return;
    output_.Add(kind, row, rank);
  }
  // Rows go out by name as long as the batch at hand is worked on, if that is what is wanted there.
  // Requires: called when the keys of the batch have been looked up. From then on
  // EmitInsertedByName follows every insert.
  void EmitByName(Collector& out);
  bool by_name() const { return taker_ != nullptr; }
  Status Flush(Collector& out);
  // After a row was inserted at `position`: every rank from there on has a new owner.
  void EmitInserted(const OrderedState& state, Entry key, int64_t position, int64_t end);
  // The same; `inserted` is at that row.
  void EmitInsertedByName(OrderedState::Cursor&& inserted, int64_t end);
  // After `removed`, a copy, was erased from `position`.
  void EmitRemoved(const OrderedState& state, Entry key, int64_t position, const char* removed,
                   int64_t end);

  // Of a state that holds a BIGINT a partition, and of one that holds rows.
  static Status CheckNumber(std::string_view value);
  void CheckRowsOf(OrderedState* state) {
    state->CheckRows(
        [this](std::string_view, std::string_view row) { return row_codec_.Check(row); });
  }

  static constexpr int64_t kFlinkVariableEnd = 100;

  const RankSpec spec_;
  const bool flink_compat_;
  const bool numbered_;          // the number is output, or the range has an offset
  const bool sorts_by_arrival_;  // a PROCTIME column in ORDER BY
  KeyCodec key_codec_;
  SortKeyCodec sort_codec_;
  RowCodec row_codec_;
  RowWriter writer_;
  OutputRows output_;
  KeyBatch keys_;
  KeyGroups groups_;  // for those that ask state once a group
  SortKeyBatch sorts_;
  std::optional<RecentRows> recent_;  // of those who can emit by name
  std::vector<Entry> entries_;
  int64_t* null_keys_;
  int64_t* beyond_rank_;

 private:
  Status FindEnds(const RowBatch& batch);
  struct Saved {
    uint64_t next_arrival;
    void Merge(const Saved& other) { next_arrival = std::max(next_arrival, other.next_arrival); }
  };
  SavedNumbers<Saved> saved_;
  std::optional<ValueState> ends_;  // with a variable end: partition -> int64
  std::vector<Entry> end_entries_;
  std::vector<int64_t> row_ends_;
  int64_t* other_ends_;
  NamedRowsTaker* taker_ = nullptr;
};

}  // namespace rowtide

// All calls of one group aggregate together: where each keeps its bytes in the entry, and running
// them over a batch.
//
//   steps of the rows -> per FILTER: fewer rows apply
//                     -> per DISTINCT: only new and vanished values apply -> the calls
//
// Each call then loops over the rows by itself, before and after results by unit. The operator
// decides which rows begin and end a group (operators/accumulators.h, Step) and what to emit. Over
// partials (global phase), logs of values are unpacked into rows first. Calls that hold values
// share collections by argument, filter and DISTINCT. One lane.
#pragma once

#include <memory>
#include <vector>

#include "operators/accumulators.h"
#include "operators/partial_layout.h"
#include "operators/value_collections.h"
#include "state/row_codec.h"

namespace rowtide {

class GroupCalls {
 public:
  // Over rows of `input`. `header_bytes`: what the operator keeps in front of the accumulators.
  static Result<std::unique_ptr<GroupCalls>> Create(std::vector<Aggregation> calls,
                                                    const Schema& input, int header_bytes,
                                                    const OperatorContext& context);
  // Over what a local phase put out, `first_column` being the first column behind the group
  // columns.
  static Result<std::unique_ptr<GroupCalls>> CreateMerging(std::vector<Aggregation> calls,
                                                           const Schema& raw_input,
                                                           const PartialLayout& layout,
                                                           int first_column, int header_bytes,
                                                           const OperatorContext& context);
  ~GroupCalls();

  int size() const { return static_cast<int>(before_.size()); }
  int entry_bytes() const { return entry_bytes_; }
  const std::vector<int>& text_offsets() const { return text_offsets_; }
  std::vector<StatePart*> parts();
  // Appends its collections. `key`: of the groups, over `input`.
  void Show(const Schema& input, const KeyCodec& key, ShownStates* shown);

  // Looks up the collections of the units' groups.
  Status Find(const KeyBatch& keys);
  // Requires: Find. Results of rows without kStepOpen or kStepClose are undefined.
  void Run(const RowBatch& batch, const GroupRows& rows, int units, StringBlocks* strings);
  void Settle();

  const ResultColumn& before(int call) const { return before_[static_cast<size_t>(call)]; }
  const ResultColumn& after(int call) const { return after_[static_cast<size_t>(call)]; }
  // All results of the unit are what they were; NULL = NULL, NaN = NaN (not so under flink-compat).
  bool Unchanged(int unit) const;

 private:
  struct RowSet;
  struct Filtered;
  struct Distinct;
  struct Simple;
  struct Extremes;
  struct Listed;

  GroupCalls();
  Status Build(std::vector<Aggregation> calls, const Schema& input, int header_bytes,
               const OperatorContext& context, const PartialLayout* layout, int first_column);
  Status AddSimple(int index, const Aggregation& call, const Schema& input, int source,
                   const PartialLayout* layout, int first_column);
  void AddScanning(int index, const Aggregation& call, const Schema& input,
                   const std::vector<int>& arguments, int source, const OperatorContext& context);
  int FilterSource(int source, int filter);
  int DistinctSource(int source, const std::vector<int>& arguments, const Schema& input,
                     const OperatorContext& context);
  int LogSet(int column, uint8_t filter, const Schema& schema);
  int Take(int bytes, bool text);
  GroupRows RowsOf(int source) const;
  const RowBatch& BatchOf(int source) const;

  // Sums of FLOAT and DOUBLE under retraction are exact; false: Flink's rounding, and its NaN that
  // differs from itself.
  bool exact_sums_ = true;
  int entry_bytes_ = 0;
  std::vector<int> text_offsets_;
  std::vector<ResultColumn> before_;
  std::vector<ResultColumn> after_;
  // Where rows come from: the batch, or an unpacked log; then steps changed by FILTER and DISTINCT.
  struct Source {
    int set = 0;
    std::vector<uint8_t> steps;  // empty: the set's own
    bool own_steps = false;
  };
  std::vector<std::unique_ptr<RowSet>> sets_;
  std::vector<Source> sources_;
  std::vector<Filtered> filtered_;
  std::vector<Distinct> distinct_;
  std::vector<Simple> simple_;
  std::vector<Extremes> extremes_;
  std::vector<Listed> listed_;
};

}  // namespace rowtide

// The first of two phases: folds each bundle to one row of partial results per group, which
// GroupAggregate then merges.
//
//   bundle  +I a 1, +I a 2, +I b 5, -D b 5   ->   +I a (3, 2) | +I b (0, 0)
//           SUM over updates: (sum, count)
//
// Groups leave in order of first arrival, all as +I, even where everything cancelled. The columns
// behind the group columns are those of operators/partial_layout.h. State: the bundle. Flushed by
// its size, a watermark, a tick, the end.
#pragma once

#include <memory>
#include <vector>

#include "operators/bundle_rows.h"
#include "operators/group_calls.h"
#include "operators/keyed_operator.h"
#include "operators/mini_batch.h"

namespace rowtide {

struct LocalGroupAggregateSpec {
  std::vector<int> group;
  std::vector<Aggregation> calls;
  bool counts_rows = false;  // the input can retract
  int count_star = -1;       // the call that is the row count, or -1
  MiniBatch mini_batch;
};

class LocalGroupAggregate final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(LocalGroupAggregateSpec spec, const Schema& input,
                                                  const OperatorContext& context);
  // The group columns and the partial columns.
  static Schema OutputSchema(const LocalGroupAggregateSpec& spec, const Schema& input);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  ShownStates Shown() override;
  Status Advance(int input, Time time, Collector& out) override;

 private:
  // Where a partial column comes from.
  struct Part {
    enum class Kind : uint8_t { kCall, kSeparator, kLog, kNull };
    Kind kind = Kind::kNull;
    int index = -1;  // of the call or of the log; the separator's column, -1 = a comma
    Layout layout = Layout::kInt64;
  };
  struct Log {
    std::vector<int> arguments;
    std::vector<int> filters;
    RowCodec codec;
    EncodedRows rows;
  };

  LocalGroupAggregate(LocalGroupAggregateSpec spec, const Schema& input,
                      const OperatorContext& context);
  Status Plan(const Schema& input, const OperatorContext& context);
  void PlanCall(const Aggregation& call, const std::vector<int>& columns, const Schema& input,
                std::vector<Aggregation>* calls);
  Status Flush(Collector& out);
  Status FlushKeys(int first, Collector& out);
  Column PartOf(const Part& part, int units);
  Column LogColumn(Log* log, int units);

  LocalGroupAggregateSpec spec_;
  Schema input_;
  PartialLayout layout_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  std::vector<Part> parts_;  // per partial column
  std::vector<Log> logs_;
  std::unique_ptr<GroupCalls> calls_;
  Bundle bundle_;

  // --- scratch ---
  KeyBatch keys_;
  EncodedRows encoded_;
  BundleRows rows_;
  StringBlocks strings_;
  std::vector<uint8_t> steps_;
  std::vector<char> entries_;
  std::vector<std::string> texts_;
  std::vector<char*> unit_entries_;
  std::vector<int32_t> results_;
};

}  // namespace rowtide

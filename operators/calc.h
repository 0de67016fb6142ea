// Filter and projection in one: keeps the rows on which the condition is TRUE and computes new
// columns of them.
//
//   where a > 1, select b, a + 1        +I (1,x) +I (2,y)   ->   +I (y,3)
//
// Row kinds pass through, so an update half that the condition drops is dropped alone; nobody below
// relies on pairs.
// The selection stays inside: what leaves is dense. Plain columns are shared, not copied, when
// every row passes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/operator.h"
#include "operators/expressions/evaluator.h"

namespace rowtide {

struct CalcSpec {
  Schema input;
  std::optional<Expression> condition;
  std::vector<Expression> projections;
  Schema output;  // names and types of the projections
};

class Calc final : public Operator {
 public:
  static Result<std::unique_ptr<Calc>> Create(CalcSpec spec, const OperatorContext& context);

  const Schema& output_schema() const override { return output_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override;
  Status Advance(int input, Time time, Collector& out) override;
  // CURRENT_WATERMARK is what a Calc remembers.
  Status Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;

 private:
  Calc(Schema output, std::unique_ptr<int64_t> watermark)
      : output_(std::move(output)), watermark_(std::move(watermark)) {}
  Status Filter(const RowBatch& batch, Collector& out);
  Status Project(const RowBatch& batch, Collector& out);

  Schema output_;
  std::unique_ptr<int64_t> watermark_;  // expressions point to it
  std::optional<Schema> trusted_;       // flink-compat: of the input, whose NOT NULL holds anyway
  std::optional<Evaluator> condition_;
  std::vector<Evaluator> projections_;
  std::vector<int> used_;  // input columns that the projections read
  std::vector<int32_t> rows_;
};

}  // namespace rowtide

// UNION ALL: rows of all inputs, as they come. The task merges the watermarks; the planner has made
// the types equal.
//
// No state; the output has the first input's names.
#pragma once

#include <memory>

#include "engine/operator.h"

namespace rowtide {

struct UnionSpec {
  int inputs = 2;
};

class Union final : public Operator {
 public:
  static Result<std::unique_ptr<Operator>> Create(UnionSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  const Schema& output_schema() const override { return schema_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override;

 private:
  explicit Union(const Schema& schema) : schema_(schema) {}
  Schema schema_;
};

}  // namespace rowtide

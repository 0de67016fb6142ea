// Lets everything through but -U: for sinks and operators that need no old images.
//
//   +I a  -U a  +U b  -D b   ->   +I a  +U b  -D b
//
// No state. Called by the job builder for DropUpdateBefore nodes.
#pragma once

#include <memory>
#include <vector>

#include "engine/operator.h"

namespace rowtide {

struct DropUpdateBeforeSpec {};

class DropUpdateBefore final : public Operator {
 public:
  static Result<std::unique_ptr<Operator>> Create(DropUpdateBeforeSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  const Schema& output_schema() const override { return schema_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override;

 private:
  explicit DropUpdateBefore(const Schema& schema) : schema_(schema) {}

  Schema schema_;
  std::vector<int32_t> kept_;
};

}  // namespace rowtide

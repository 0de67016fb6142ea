#include "operators/union.h"

namespace rowtide {

Result<std::unique_ptr<Operator>> Union::Create(UnionSpec spec, const Schema& input,
                                                const OperatorContext&) {
  if (spec.inputs < 1) return Status::InvalidArgument("a union of {} inputs", spec.inputs);
  return std::unique_ptr<Operator>(new Union(input));
}

Status Union::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  return out.Emit(batch);
}

}  // namespace rowtide

#include "operators/drop_update_before.h"

namespace rowtide {

Result<std::unique_ptr<Operator>> DropUpdateBefore::Create(DropUpdateBeforeSpec,
                                                           const Schema& input,
                                                           const OperatorContext&) {
  return std::unique_ptr<Operator>(new DropUpdateBefore(input));
}

Status DropUpdateBefore::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  const RowKind* kinds = batch.kinds_or_null();
  if (!kinds) return out.Emit(batch);
  kept_.clear();
  for (int row = 0; row < batch.rows; ++row) {
    if (kinds[row] != RowKind::kUpdateBefore) kept_.push_back(row);
  }
  if (kept_.size() == static_cast<size_t>(batch.rows)) return out.Emit(batch);
  if (kept_.empty()) return Status::Ok();
  return out.Emit(Select(batch, kept_));
}

}  // namespace rowtide

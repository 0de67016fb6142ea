#include "operators/deduplicate.h"

#include <algorithm>

namespace rowtide {

Result<std::unique_ptr<Operator>> Create(const DeduplicateSpec& spec,
                                         const OperatorContext& context,
                                         std::unique_ptr<ConflictWatch> watch) {
  for (const int key : spec.keys) {
    if (key < 0 || key >= spec.schema.size())
      return Status::InvalidArgument("deduplicate: no column {}", key);
  }
  if (!spec.rowtime) return CreateProctimeDeduplicate(spec, context, std::move(watch));
  if (spec.order_column < 0 || spec.order_column >= spec.schema.size() ||
      !IsTimestamp(spec.schema.type(spec.order_column))) {
    return Status::InvalidArgument("deduplicate by row time needs a timestamp column to order by");
  }
  if (spec.outputs_insert_only && (spec.keeps_last || spec.mini_batch.enabled())) {
    return Status::InvalidArgument(
        "deduplicate: only the first row, without mini-batch, can come as inserts alone");
  }
  return spec.outputs_insert_only ? CreateRowtimeFirstOnce(spec, context, std::move(watch))
                                  : CreateRowtimeDeduplicate(spec, context, std::move(watch));
}

Status CheckInsertOnly(const RowBatch& batch, const char* operator_name) {
  if (!batch.kinds) return Status::Ok();
  const RowKind* kinds = batch.kinds_or_null();
  const RowKind* odd = std::find_if(kinds, kinds + batch.rows,
                                    [](RowKind kind) { return kind != RowKind::kInsert; });
  if (odd == kinds + batch.rows) return Status::Ok();
  return Status::DataError("{} takes insertions only, but was given a {} row", operator_name,
                           Text(*odd));
}

}  // namespace rowtide

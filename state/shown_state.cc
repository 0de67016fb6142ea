#include "state/shown_state.h"

namespace rowtide {
namespace {

Schema ColumnsOf(const Schema& input, const std::vector<int>& columns) {
  Schema schema;
  for (const int column : columns) schema.Add(input.field(column));
  return schema;
}

}  // namespace

ShownState::ShownState(const ShownForm& form)
    : name_(form.name),
      key_schema_(ColumnsOf(form.input, form.key.columns())),
      row_schema_(form.rows),
      key_codec_(form.key.Alone(key_schema_)) {}

Result<BatchBuilder*> ShownRows::BeginRow() {
  if (builder_.full()) RT_TRY(Finish());
  builder_.AppendKind(RowKind::kInsert);
  of_.push_back(key_);
  return &builder_;
}

Status ShownRows::Finish() {
  if (builder_.empty()) return Status::Ok();
  const RowBatch batch = builder_.Finish();
  RT_TRY(visit_(batch, of_));
  of_.clear();
  return Status::Ok();
}

}  // namespace rowtide

#include "operators/over_row_number.h"

#include "operators/shown_rows.h"

namespace rowtide {
namespace {

std::vector<SortField> FieldsOf(const std::vector<SortKey>& order) {
  std::vector<SortField> fields;
  for (const SortKey& key : order)
    fields.push_back({key.column, key.descending, key.nulls_first, false});
  return fields;
}

}  // namespace

Result<std::unique_ptr<Operator>> OverRowNumber::Create(OverRowNumberSpec spec, const Schema& input,
                                                        const OperatorContext& context) {
  if (spec.output.size() != input.size() + 1 ||
      LayoutOf(spec.output.type(input.size())) != Layout::kInt64) {
    return Status::Internal("ROW_NUMBER puts out its input and a BIGINT");
  }
  return std::unique_ptr<Operator>(new OverRowNumber(std::move(spec), input, context));
}

OverRowNumber::OverRowNumber(OverRowNumberSpec spec, const Schema& input,
                             const OperatorContext& context)
    : KeyedOperator("over_row_number", spec.output),
      spec_(std::move(spec)),
      input_(input),
      unmatched_retractions_(context.counters->Find("unmatched_retraction")),
      key_codec_(input, spec_.partition, context.flink_compat),
      sort_codec_(input, FieldsOf(spec_.order)),
      row_codec_(input),
      rows_(context),
      output_(&row_codec_, true) {
  rows_.CheckRows([this](std::string_view, std::string_view row) { return row_codec_.Check(row); });
  Register(&rows_);
}

ShownStates OverRowNumber::Shown() {
  ShownStates shown;
  shown.push_back(ShowRows({"rows", input_, key_codec_, input_}, &rows_, &row_codec_));
  return shown;
}

Status OverRowNumber::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  sort_codec_.Encode(batch, 0, &sorts_);
  RT_TRY(rows_.FindOrCreate(keys_, &entries_));
  output_.Keep(encoded_.block());
  for (int row = 0; row < batch.rows; ++row) {
    const Entry key = entries_[static_cast<size_t>(row)];
    const RowKind kind = batch.kind(row);
    RT_TRY(Adds(kind) ? Add(key, kind, row, out) : Remove(key, row, out));
    RT_TRY(FlushWhenFull(out));
  }
  rows_.Settle();
  return output_.FlushTo(out);
}

Status OverRowNumber::FlushWhenFull(Collector& out) {
  if (!output_.full()) return Status::Ok();
  RT_TRY(output_.FlushTo(out));
  output_.Keep(encoded_.block());
  return Status::Ok();
}

Status OverRowNumber::Add(Entry key, RowKind kind, int row, Collector& out) {
  const std::string_view content = encoded_.row(row);
  const int64_t position =
      rows_.Insert(key, sorts_.view(row), content, row_codec_.HashContent(content));
  rows_.Touch(key);
  output_.Add(kind, content.data(), position + 1);
  return EmitShifted(key, position + 1, -1, out);
}

Status OverRowNumber::Remove(Entry key, int row, Collector& out) {
  const std::string_view content = encoded_.row(row);
  int64_t position = -1;
  if (rows_.rows(key) > 0) {
    const OrderedState::Range range = rows_.EqualRange(key, sorts_.view(row));
    position = rows_.FindTagged(
        key, range, row_codec_.HashContent(content),
        [&](std::string_view stored) { return row_codec_.Equal(stored, content); });
  }
  if (position < 0) {
    ++*unmatched_retractions_;
    return Status::Ok();
  }
  output_.AddCopy(RowKind::kDelete, rows_.At(key, position).row(), position + 1);
  rows_.Erase(key, position);
  if (rows_.rows(key) == 0) return Status::Ok();
  rows_.Touch(key);
  return EmitShifted(key, position, 1, out);
}

Status OverRowNumber::EmitShifted(Entry key, int64_t position, int64_t shift, Collector& out) {
  for (OrderedState::Cursor cursor = rows_.At(key, position); cursor.valid(); cursor.Next()) {
    const int64_t number = cursor.position() + 1;
    const char* copy = output_.Copy(cursor.row());
    if (spec_.generates_update_before) output_.Add(RowKind::kUpdateBefore, copy, number + shift);
    output_.Add(RowKind::kUpdateAfter, copy, number);
    RT_TRY(FlushWhenFull(out));
  }
  return Status::Ok();
}

}  // namespace rowtide

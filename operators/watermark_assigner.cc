#include "operators/watermark_assigner.h"

#include <algorithm>

#include "operators/watermark_expression.h"

namespace rowtide {
namespace {

// The newest of the moments in rows [first, end) and `newest`.
int64_t NewestOf(const Column& column, const Type& type, int first, int end, int64_t newest) {
  if (column.layout() != Layout::kWideTime && type.precision <= 3 && !column.may_have_nulls()) {
    const int64_t* const millis = column.values<int64_t>();
    for (int row = first; row < end; ++row) newest = std::max(newest, millis[row]);
    return newest;
  }
  for (int row = first; row < end; ++row) {
    if (!column.IsNull(row)) newest = std::max(newest, MomentMillis(column, type, row));
  }
  return newest;
}

}  // namespace

Result<std::unique_ptr<Operator>> WatermarkAssigner::Create(WatermarkAssignerSpec spec,
                                                            const Schema& input,
                                                            const OperatorContext& context) {
  if (spec.rowtime < 0 || spec.rowtime >= input.size() || !IsTimestamp(input.type(spec.rowtime))) {
    return Status::Internal("column {} is no row time", spec.rowtime);
  }
  if (spec.rows_between < 1)
    return Status::Internal("a watermark every {} rows", spec.rows_between);
  std::optional<Evaluator> watermark;
  if (spec.watermark) {
    EvaluationContext evaluation;
    evaluation.clock = context.clock;
    evaluation.local_time_zone = context.local_time_zone;
    evaluation.flink_compat = context.flink_compat;
    RT_ASSIGN(Evaluator evaluator, CompileWatermark(*spec.watermark, input, evaluation));
    watermark.emplace(std::move(evaluator));
  }
  std::vector<Field> fields = input.fields();
  Type& rowtime = fields[static_cast<size_t>(spec.rowtime)].type;
  rowtime = rowtime.WithTimeAttribute(TimeAttribute::kRowtime);
  return std::unique_ptr<Operator>(
      new WatermarkAssigner(std::move(spec), Schema(std::move(fields)), std::move(watermark)));
}

WatermarkAssigner::WatermarkAssigner(WatermarkAssignerSpec spec, Schema schema,
                                     std::optional<Evaluator> watermark)
    : KeyedOperator("watermark_assigner", std::move(schema)),
      spec_(std::move(spec)),
      watermark_(std::move(watermark)) {
  Register(&numbers_);
}

Status WatermarkAssigner::EmitRows(const RowBatch& batch, int first, int end,
                                   Collector& out) const {
  if (first == end) return Status::Ok();
  if (first == 0 && end == batch.rows) return out.Emit(batch);
  return out.Emit(Slice(batch, first, end - first));
}

Status WatermarkAssigner::EmitWatermark(Collector& out) {
  if (numbers_->newest <= numbers_->emitted) return Status::Ok();
  numbers_->emitted = numbers_->newest;
  return out.Advance(Time::Watermark(numbers_->newest));
}

Status WatermarkAssigner::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_TRY(CheckRowtimes(batch, spec_.rowtime, output_schema_.name(spec_.rowtime)));
  if (!watermark_) return out.Emit(batch);
  StringBlocks strings;
  RT_ASSIGN(const Column watermarks, watermark_->Evaluate(batch, &strings));
  int first = 0;
  for (int row = 0; row < batch.rows;) {
    const int64_t due = std::max<int64_t>(spec_.rows_between - numbers_->rows, 1);
    const auto rows = static_cast<int>(std::min<int64_t>(batch.rows - row, due));
    numbers_->newest = NewestOf(watermarks, watermark_->type(), row, row + rows, numbers_->newest);
    row += rows;
    numbers_->rows += rows;
    if (numbers_->rows < spec_.rows_between) break;
    numbers_->rows = 0;
    if (spec_.defers_to_batch_end || numbers_->newest <= numbers_->emitted) continue;
    RT_TRY(EmitRows(batch, first, row, out));
    first = row;
    RT_TRY(EmitWatermark(out));
  }
  RT_TRY(EmitRows(batch, first, batch.rows, out));
  return spec_.defers_to_batch_end ? EmitWatermark(out) : Status::Ok();
}

Status WatermarkAssigner::Advance(int /*input*/, Time time, Collector& out) {
  const bool swallowed = time.kind == Time::Kind::kWatermark &&
                         time.millis != Time::kMaxWatermark && watermark_.has_value();
  return swallowed ? Status::Ok() : out.Advance(time);
}

}  // namespace rowtide

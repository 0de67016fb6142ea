#include "operators/watermark_expression.h"

#include <utility>

namespace rowtide {
namespace {

class ExpressionWatermarks final : public RowWatermarks {
 public:
  ExpressionWatermarks(Evaluator evaluator, int rowtime, std::string name)
      : evaluator_(std::move(evaluator)), rowtime_(rowtime), name_(std::move(name)) {}

  Status Of(const RowBatch& batch, std::vector<int64_t>* watermarks) override {
    if (rowtime_ >= 0) RT_TRY(CheckRowtimes(batch, rowtime_, name_));
    StringBlocks strings;
    RT_ASSIGN(const Column column, evaluator_.Evaluate(batch, &strings));
    watermarks->resize(static_cast<size_t>(batch.rows));
    for (int row = 0; row < batch.rows; ++row) {
      (*watermarks)[static_cast<size_t>(row)] =
          column.IsNull(row) ? Time::kNoWatermark : MomentMillis(column, evaluator_.type(), row);
    }
    return Status::Ok();
  }

 private:
  Evaluator evaluator_;
  const int rowtime_;
  const std::string name_;
};

}  // namespace

Result<std::unique_ptr<RowWatermarks>> CompileWatermarks(const Expression& watermark, int rowtime,
                                                         const Schema& input,
                                                         const EvaluationContext& context) {
  if (rowtime >= input.size() || (rowtime >= 0 && !IsTimestamp(input.type(rowtime))))
    return Status::Internal("column {} is no row time", rowtime);
  RT_ASSIGN(Evaluator evaluator, CompileWatermark(watermark, input, context));
  return std::unique_ptr<RowWatermarks>(std::make_unique<ExpressionWatermarks>(
      std::move(evaluator), rowtime, rowtime < 0 ? "" : input.name(rowtime)));
}

Result<Evaluator> CompileWatermark(const Expression& watermark, const Schema& input,
                                   const EvaluationContext& context) {
  RT_ASSIGN(Evaluator evaluator, Evaluator::Create(watermark, input, context));
  if (!IsTimestamp(evaluator.type()))
    return Status::InvalidArgument("a watermark is a TIMESTAMP, not {}",
                                   ToString(evaluator.type()));
  return evaluator;
}

int64_t MomentMillis(const Column& column, const Type& type, int row) {
  if (column.layout() == Layout::kWideTime) return column.values<WideTime>()[row].millis;
  const int64_t value = column.values<int64_t>()[row];
  if (type.precision <= 3) return value;
  return value / 1000 - (value % 1000 < 0 ? 1 : 0);
}

Status CheckRowtimes(const RowBatch& batch, int column, const std::string& name) {
  const Column& rowtime = batch.columns[static_cast<size_t>(column)];
  if (!rowtime.may_have_nulls()) return Status::Ok();
  for (int row = 0; row < batch.rows; ++row) {
    if (!rowtime.IsNull(row)) continue;
    return Status::DataError("{}row time {} is NULL", PlaceText(batch, row), Quote(name))
        .WithHint(
            "filter such rows out, or make the row time a column that is never NULL, with COALESCE "
            "for example");
  }
  return Status::Ok();
}

}  // namespace rowtide

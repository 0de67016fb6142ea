#include "operators/calc.h"

#include <algorithm>
#include <set>

#include "engine/snapshot.h"

namespace rowtide {
namespace {

// The columns that are used, of the listed rows; the others stay empty.
RowBatch SelectColumns(const RowBatch& batch, const std::vector<int>& used,
                       const std::vector<int32_t>& rows) {
  RowBatch narrow = batch;
  narrow.columns.clear();
  for (int column : used) narrow.columns.push_back(batch.columns[static_cast<size_t>(column)]);
  RowBatch selected = Select(narrow, rows);
  std::vector<Column> wide(batch.columns.size());
  for (size_t i = 0; i < used.size(); ++i) wide[static_cast<size_t>(used[i])] = selected.columns[i];
  selected.columns = std::move(wide);
  return selected;
}

// As Flink's generated code sees a batch: it does not ask whether a NOT NULL column is NULL, and
// takes the zeros and empty strings that lie in such slots.
RowBatch TrustingNotNull(const RowBatch& batch, const Schema& schema) {
  RowBatch trusting = batch;
  for (int i = 0; i < schema.size(); ++i) {
    Column& column = trusting.columns[static_cast<size_t>(i)];
    if (!schema.type(i).nullable && column.may_have_nulls())
      column = Column(column.layout(), column.values_block(), nullptr);
  }
  return trusting;
}

bool HasStrings(const Schema& schema) {
  for (const Field& field : schema.fields()) {
    if (LayoutOf(field.type) == Layout::kBytes) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<Calc>> Calc::Create(CalcSpec spec, const OperatorContext& context) {
  std::unique_ptr<Calc> calc(
      new Calc(std::move(spec.output), std::make_unique<int64_t>(Time::kNoWatermark)));
  const EvaluationContext evaluation{context.clock, context.local_time_zone, calc->watermark_.get(),
                                     context.flink_compat};
  if (spec.condition && !spec.condition->is_true()) {
    RT_ASSIGN(calc->condition_, Evaluator::Create(*spec.condition, spec.input, evaluation));
  }
  std::set<int> used;
  for (const Expression& projection : spec.projections) {
    RT_ASSIGN(Evaluator evaluator, Evaluator::Create(projection, spec.input, evaluation));
    calc->projections_.push_back(std::move(evaluator));
    for (int column : InputsOf(projection)) used.insert(column);
  }
  calc->used_.assign(used.begin(), used.end());
  if (context.flink_compat) calc->trusted_ = spec.input;
  return calc;
}

Status Calc::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  return trusted_ ? Filter(TrustingNotNull(batch, *trusted_), out) : Filter(batch, out);
}

Status Calc::Filter(const RowBatch& batch, Collector& out) {
  if (!condition_) return Project(batch, out);
  RT_TRY(condition_->SelectTrue(batch, &rows_));
  if (rows_.empty()) return Status::Ok();
  if (static_cast<int>(rows_.size()) == batch.rows) return Project(batch, out);
  return Project(SelectColumns(batch, used_, rows_), out);
}

Status Calc::Project(const RowBatch& batch, Collector& out) {
  RowBatch result;
  result.rows = batch.rows;
  result.kinds = batch.kinds;
  result.split = batch.split;
  result.first_record = batch.first_record;
  result.places = batch.places;
  result.file = batch.file;
  StringBlocks strings;
  result.columns.reserve(projections_.size());
  for (Evaluator& projection : projections_) {
    RT_ASSIGN(Column column, projection.Evaluate(batch, &strings));
    result.columns.push_back(std::move(column));
  }
  if (HasStrings(output_)) {
    result.blocks = batch.blocks;
    for (BlockPointer& block : strings.Finish()) result.blocks.push_back(std::move(block));
  }
  return out.Emit(std::move(result));
}

Status Calc::Advance(int input, Time time, Collector& out) {
  if (time.kind == Time::Kind::kWatermark) *watermark_ = time.millis;
  return Operator::Advance(input, time, out);
}

Status Calc::Snapshot(SnapshotWriter& writer) const {
  writer.PutI64(*watermark_);
  return Status::Ok();
}

Status Calc::Restore(SnapshotReader& reader) {
  RT_ASSIGN(*watermark_, reader.I64("watermark"));
  return Status::Ok();
}

Status Calc::Merge(SnapshotReader& reader) {
  RT_ASSIGN(const int64_t watermark, reader.I64("watermark"));
  *watermark_ = std::min(*watermark_, watermark);
  return Status::Ok();
}

}  // namespace rowtide

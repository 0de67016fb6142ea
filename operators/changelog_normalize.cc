#include "operators/changelog_normalize.h"

#include <algorithm>

#include "operators/null_keys.h"
#include "operators/shown_rows.h"

namespace rowtide {

Result<std::unique_ptr<Operator>> ChangelogNormalize::Create(ChangelogNormalizeSpec spec,
                                                             const Schema& input,
                                                             const OperatorContext& context) {
  if (spec.keys.empty()) return Status::Internal("ChangelogNormalize without a key");
  std::optional<Evaluator> condition;
  if (spec.condition) {
    EvaluationContext evaluation;
    evaluation.clock = context.clock;
    evaluation.local_time_zone = context.local_time_zone;
    evaluation.flink_compat = context.flink_compat;
    RT_ASSIGN(Evaluator evaluator, Evaluator::Create(*spec.condition, input, evaluation));
    condition.emplace(std::move(evaluator));
  }
  return std::unique_ptr<Operator>(
      new ChangelogNormalize(std::move(spec), input, std::move(condition), context));
}

ChangelogNormalize::ChangelogNormalize(ChangelogNormalizeSpec spec, const Schema& input,
                                       std::optional<Evaluator> condition,
                                       const OperatorContext& context)
    : KeyedOperator("changelog_normalize", input),
      spec_(std::move(spec)),
      ttl_(context.state_ttl_millis > 0),
      condition_(std::move(condition)),
      null_keys_(context.counters->Find("null_key")),
      unmatched_retractions_(context.counters->Find("unmatched_retraction")),
      key_codec_(input, spec_.keys, context.flink_compat),
      row_codec_(input),
      last_(context),
      bundle_(context),
      output_(&row_codec_, false) {
  last_.CheckValues([this](std::string_view row) { return row_codec_.Check(row); });
  bundle_.CheckRows([this](std::string_view row) { return row_codec_.Check(row); });
  Register(&last_);
  Register(&bundle_);
}

ShownStates ChangelogNormalize::Shown() {
  const Schema& rows = output_schema();
  ShownStates shown;
  shown.push_back(ShowRow({"rows", rows, key_codec_, rows}, &last_, &row_codec_));
  shown.push_back(ShowBundle({"bundle", rows, key_codec_, rows}, &bundle_, &row_codec_));
  return shown;
}

Status ChangelogNormalize::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  *null_keys_ += CountNullKeys(batch, spec_.keys);
  return spec_.mini_batch.enabled() ? AddToBundle(batch, out) : Apply(batch, keys_, out);
}

Status ChangelogNormalize::Advance(int /*input*/, Time time, Collector& out) {
  if (time.kind != Time::Kind::kIdle && spec_.mini_batch.enabled()) RT_TRY(FlushBundle(out));
  return out.Advance(time);
}

Status ChangelogNormalize::AddToBundle(const RowBatch& batch, Collector& out) {
  RT_TRY(row_codec_.EncodeAll(batch, &arriving_));
  for (int row = 0; row < batch.rows; ++row) {
    const uint32_t key = bundle_.FindOrAdd(keys_.key(row), keys_.hash(row));
    if (bundle_.HasRows(key)) {
      bundle_.ReplaceLast(key, batch.kind(row), arriving_.row(row));
    } else {
      bundle_.Append(key, batch.kind(row), arriving_.row(row));
    }
    bundle_.CountRow();
    if (bundle_.rows_added() >= spec_.mini_batch.size) RT_TRY(FlushBundle(out));
  }
  return Status::Ok();
}

Status ChangelogNormalize::FlushBundle(Collector& out) {
  for (int first = 0; first < bundle_.keys(); first += kBatchRows) {
    bundle_.KeysFrom(first, kBatchRows, &bundle_keys_);
    GatherRows(bundle_, row_codec_, first, bundle_keys_.rows(), &bundle_rows_);
    RT_TRY(Apply(bundle_rows_.batch, bundle_keys_, out));
  }
  bundle_.Clear();
  return Status::Ok();
}

Status ChangelogNormalize::Apply(const RowBatch& batch, const KeyBatch& keys, Collector& out) {
  passes_.assign(static_cast<size_t>(batch.rows), condition_ ? 0 : 1);
  if (condition_) {
    RT_TRY(condition_->SelectTrue(batch, &passing_));
    for (int32_t row : passing_) passes_[static_cast<size_t>(row)] = 1;
  }
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  RT_TRY(last_.FindOrCreate(keys, &entries_));
  output_.Keep(encoded_.block());
  for (int row = 0; row < batch.rows; ++row) {
    const Entry entry = entries_[static_cast<size_t>(row)];
    if (Adds(batch.kind(row))) {
      Upsert(entry, encoded_.row(row), passes_[static_cast<size_t>(row)] != 0);
    } else {
      Delete(entry);
    }
    if (output_.full()) {
      RT_TRY(output_.FlushTo(out));
      output_.Keep(encoded_.block());
    }
  }
  last_.Settle();
  return output_.FlushTo(out);
}

void ChangelogNormalize::Upsert(Entry entry, std::string_view row, bool passes) {
  if (!last_.Has(entry)) {
    if (!passes) return;
    output_.Add(RowKind::kInsert, row.data());
    last_.Assign(entry, row);
    return;
  }
  const std::string_view previous = last_.Value(entry);
  if (!ttl_ && row_codec_.Equal(previous, row)) return;
  if (!passes) {
    output_.AddCopy(RowKind::kDelete, previous);
    last_.Erase(entry);
    return;
  }
  if (spec_.generates_update_before) output_.AddCopy(RowKind::kUpdateBefore, previous);
  output_.Add(RowKind::kUpdateAfter, row.data());
  last_.Assign(entry, row);
}

void ChangelogNormalize::Delete(Entry entry) {
  if (!last_.Has(entry)) {
    ++*unmatched_retractions_;
    return;
  }
  output_.AddCopy(RowKind::kDelete, last_.Value(entry));
  last_.Erase(entry);
}

}  // namespace rowtide

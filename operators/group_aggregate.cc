#include "operators/group_aggregate.h"

#include <algorithm>
#include <cstring>

namespace rowtide {
namespace {

constexpr int kCountBytes = 8;  // the row count at the front of an entry
constexpr int kFlushKeys = kBatchRows;

void SetCount(char* entry, int64_t count) { std::memcpy(entry, &count, sizeof(count)); }

Status CheckOutput(const GroupAggregateSpec& spec, const Schema& input) {
  if (spec.output.size() != static_cast<int>(spec.group.size() + spec.calls.size())) {
    return Status::Internal(
        "a group aggregate of {} group columns and {} calls puts out {} columns", spec.group.size(),
        spec.calls.size(), spec.output.size());
  }
  for (size_t i = 0; i < spec.group.size(); ++i) {
    const int column = spec.group[i];
    if (column < 0 || column >= input.size())
      return Status::Internal("no column {} to group by", column);
    if (LayoutOf(input.type(column)) != LayoutOf(spec.output.type(static_cast<int>(i)))) {
      return Status::Internal("group column {} changes its type", input.name(column));
    }
  }
  for (size_t i = 0; i < spec.calls.size(); ++i) {
    if (LayoutOf(spec.calls[i].type) !=
        LayoutOf(spec.output.type(static_cast<int>(spec.group.size() + i)))) {
      return Status::Internal("call {} does not give its column's type", i);
    }
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<Operator>> GroupAggregate::Create(GroupAggregateSpec spec,
                                                         const Schema& input,
                                                         const OperatorContext& context) {
  RT_TRY(CheckOutput(spec, input));
  const int header = spec.counts_rows ? kCountBytes : 0;
  if (!spec.merges_partials) {
    RT_ASSIGN(auto calls, GroupCalls::Create(spec.calls, input, header, context));
    return std::unique_ptr<Operator>(
        new GroupAggregate(std::move(spec), input, std::move(calls), -1, context));
  }
  if (!spec.mini_batch.enabled())
    return Status::Internal("the second phase of an aggregate works in mini-batches");
  const PartialLayout layout =
      LayoutOfPartials(spec.calls, spec.counts_rows, spec.count_star, spec.raw_input);
  const int first_column = static_cast<int>(spec.group.size());
  if (input.size() != first_column + layout.schema.size()) {
    return Status::Internal("partial results of {} columns; {} were expected", input.size(),
                            first_column + layout.schema.size());
  }
  RT_ASSIGN(auto calls, GroupCalls::CreateMerging(spec.calls, spec.raw_input, layout, first_column,
                                                  header, context));
  const int row_count = spec.counts_rows ? first_column + layout.row_count : -1;
  return std::unique_ptr<Operator>(
      new GroupAggregate(std::move(spec), input, std::move(calls), row_count, context));
}

GroupAggregate::GroupAggregate(GroupAggregateSpec spec, const Schema& input,
                               std::unique_ptr<GroupCalls> calls, int row_count_column,
                               const OperatorContext& context)
    : KeyedOperator("group_aggregate", spec.output),
      spec_(std::move(spec)),
      input_(input),
      ttl_(context.state_ttl_millis > 0),
      keeps_unknown_partials_(context.flink_compat),
      row_count_column_(row_count_column),
      unmatched_retractions_(context.counters->Find("unmatched_retraction")),
      key_codec_(input, spec_.group, context.flink_compat),
      row_codec_(input),
      calls_(std::move(calls)),
      entries_(context, calls_->entry_bytes(), calls_->text_offsets()),
      bundle_(context),
      output_(spec_.group, context.flink_compat) {
  Register(entries_.part());
  for (StatePart* part : calls_->parts()) Register(part);
  bundle_.CheckRows([this](std::string_view row) { return row_codec_.Check(row); });
  Register(&bundle_);
}

Status GroupAggregate::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  return spec_.mini_batch.enabled() ? AddToBundle(batch, out) : ProcessRows(batch, out);
}

Status GroupAggregate::Advance(int /*input*/, Time time, Collector& out) {
  if (time.kind != Time::Kind::kIdle && spec_.mini_batch.enabled()) RT_TRY(FlushBundle(out));
  return out.Advance(time);
}

int64_t GroupAggregate::CountOf(const char* entry) const {
  int64_t count;
  std::memcpy(&count, entry, sizeof(count));
  return count;
}

Status GroupAggregate::Begin(const KeyBatch& keys, int rows) {
  RT_TRY(entries_.Find(keys));
  RT_TRY(calls_->Find(keys));
  steps_.assign(static_cast<size_t>(rows), 0);
  unit_entries_.assign(static_cast<size_t>(keys.rows()), nullptr);
  changes_.assign(static_cast<size_t>(keys.rows()), Change::kNone);
  return Status::Ok();
}

// --- per record ---

Status GroupAggregate::ProcessRows(const RowBatch& batch, Collector& out) {
  RT_TRY(Begin(keys_, batch.rows));
  const RowKind* kinds = batch.kinds_or_null();
  for (int row = 0; row < batch.rows; ++row) StepRow(kinds, row);
  return RunAndEmit(batch, {batch.rows, steps_.data(), nullptr, unit_entries_.data()}, out);
}

// Settles what becomes of the row's group; the calls follow.
void GroupAggregate::StepRow(const RowKind* kinds, int row) {
  const size_t index = static_cast<size_t>(row);
  const bool retracts = kinds && !Adds(kinds[row]);
  char* entry = entries_.Data(row);
  const bool exists = entry && (!spec_.counts_rows || CountOf(entry) != 0);
  if (!exists) {
    if (retracts) {
      ++*unmatched_retractions_;
      return;
    }
    if (!entry) entry = entries_.Create(row);
    if (spec_.counts_rows) SetCount(entry, 1);
    if (ttl_) entries_.Touch(row);
    unit_entries_[index] = entry;
    steps_[index] = kStepInit | kStepApply | kStepClose;
    changes_[index] = Change::kInsert;
    return;
  }
  if (ttl_) entries_.Touch(row);
  unit_entries_[index] = entry;
  uint8_t step = kStepOpen | kStepApply | (retracts ? kStepRetract : 0);
  changes_[index] = Change::kUpdate;
  if (spec_.counts_rows) {
    const int64_t count = CountOf(entry) + (retracts ? -1 : 1);
    SetCount(entry, count);
    if (count == 0) {
      entries_.MayBeGone(row);
      changes_[index] = Change::kDelete;
      step |= kStepEnd;
    } else {
      step |= kStepClose;
    }
  } else {
    step |= kStepClose;
  }
  steps_[index] = step;
}

// --- mini-batch ---

Status GroupAggregate::AddToBundle(const RowBatch& batch, Collector& out) {
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  for (int row = 0; row < batch.rows; ++row) {
    const uint32_t key = bundle_.FindOrAdd(keys_.key(row), keys_.hash(row));
    bundle_.Append(key, batch.kind(row), encoded_.row(row));
    bundle_.CountRow();
    if (bundle_.rows_added() >= spec_.mini_batch.size) RT_TRY(FlushBundle(out));
  }
  return Status::Ok();
}

Status GroupAggregate::FlushBundle(Collector& out) {
  for (int first = 0; first < bundle_.keys(); first += kFlushKeys) RT_TRY(FlushKeys(first, out));
  bundle_.Clear();
  return Status::Ok();
}

Status GroupAggregate::FlushKeys(int first, Collector& out) {
  bundle_.KeysFrom(first, kFlushKeys, &bundle_keys_);
  const int units = bundle_keys_.rows();
  GatherRows(bundle_, row_codec_, first, units, &bundle_rows_);
  const RowBatch& batch = bundle_rows_.batch;
  RT_TRY(Begin(bundle_keys_, batch.rows));
  int row = 0;
  for (int unit = 0; unit < units; ++unit) {
    const int end = bundle_rows_.last_rows[static_cast<size_t>(unit)] + 1;
    StepUnit(batch, row, end, unit);
    row = end;
  }
  return RunAndEmit(
      batch, {batch.rows, steps_.data(), bundle_rows_.units.data(), unit_entries_.data()}, out);
}

// Rows [first, last) are all of one group.
void GroupAggregate::StepUnit(const RowBatch& rows, int first, int last, int unit) {
  const int64_t* counts =
      row_count_column_ >= 0
          ? rows.columns[static_cast<size_t>(row_count_column_)].values<int64_t>()
          : nullptr;
  const auto change_of = [&](int row) -> int64_t {
    if (spec_.merges_partials) return counts ? counts[row] : 1;
    return Adds(rows.kind(row)) ? 1 : -1;
  };
  char* entry = entries_.Data(unit);
  const bool existed = entry != nullptr;
  if (!existed) {
    const bool drops = !spec_.merges_partials || !keeps_unknown_partials_;
    for (; drops && first < last && change_of(first) < 0; ++first) ++*unmatched_retractions_;
    if (first == last) return;
    entry = entries_.Create(unit);
  }
  if (ttl_) entries_.Touch(unit);
  unit_entries_[static_cast<size_t>(unit)] = entry;
  int64_t count = spec_.counts_rows ? CountOf(entry) : 1;
  for (int row = first; row < last; ++row) {
    const int64_t change = change_of(row);
    if (spec_.counts_rows) count += change;
    const bool retracts = !spec_.merges_partials && change < 0;
    steps_[static_cast<size_t>(row)] =
        static_cast<uint8_t>(kStepApply | (retracts ? kStepRetract : 0));
  }
  if (spec_.counts_rows) SetCount(entry, count);
  steps_[static_cast<size_t>(first)] |= existed ? kStepOpen : kStepInit;
  Change change = existed ? Change::kUpdate : Change::kInsert;
  if (count == 0) {
    steps_[static_cast<size_t>(last - 1)] |= kStepEnd;
    entries_.MayBeGone(unit);
    change = existed ? Change::kDelete : Change::kNone;
  } else {
    steps_[static_cast<size_t>(last - 1)] |= kStepClose;
  }
  changes_[static_cast<size_t>(unit)] = change;
}

// --- both ---

Status GroupAggregate::RunAndEmit(const RowBatch& batch, const GroupRows& rows, Collector& out) {
  const int units = static_cast<int>(changes_.size());
  calls_->Run(batch, rows, units, &strings_);
  output_.Reserve(2 * changes_.size());
  for (int unit = 0; unit < units; ++unit) {
    const int key_row = rows.units ? bundle_rows_.last_rows[static_cast<size_t>(unit)] : unit;
    switch (changes_[static_cast<size_t>(unit)]) {
      case Change::kNone: break;
      case Change::kInsert: output_.Add(RowKind::kInsert, key_row, unit, true); break;
      case Change::kDelete: output_.Add(RowKind::kDelete, key_row, unit, false); break;
      case Change::kUpdate:
        if (!ttl_ && calls_->Unchanged(unit)) break;
        if (spec_.generates_update_before)
          output_.Add(RowKind::kUpdateBefore, key_row, unit, false);
        output_.Add(RowKind::kUpdateAfter, key_row, unit, true);
        break;
    }
  }
  entries_.Finish([this](const char* entry) { return CountOf(entry) == 0; });
  calls_->Settle();
  return output_.FlushTo(batch, *calls_, &strings_, out);
}

}  // namespace rowtide

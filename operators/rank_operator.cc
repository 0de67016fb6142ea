#include "operators/rank_operator.h"

#include "engine/named_rows.h"
#include "operators/null_keys.h"

namespace rowtide {
namespace {

// A PROCTIME column sorts by arrival; Flink compares nothing there (flink-rank-dedup.md 15.20).
std::vector<SortField> FieldsOf(const RankSpec& spec, bool flink_compat) {
  std::vector<SortField> fields;
  for (const SortKey& key : spec.order) {
    const bool arrival = spec.input.type(key.column).is_proctime();
    if (arrival && flink_compat) continue;
    fields.push_back({key.column, key.descending, key.nulls_first, arrival});
  }
  return fields;
}

int64_t IntegerAt(const Column& column, int row) {
  if (column.IsNull(row)) return 0;
  switch (column.layout()) {
    case Layout::kInt8: return column.values<int8_t>()[row];
    case Layout::kInt16: return column.values<int16_t>()[row];
    case Layout::kInt32: return column.values<int32_t>()[row];
    default: return column.values<int64_t>()[row];
  }
}

}  // namespace

RankOperator::RankOperator(std::string name, const RankSpec& spec, const OperatorContext& context)
    : KeyedOperator(std::move(name), spec.output),
      spec_(spec),
      flink_compat_(context.flink_compat),
      numbered_(spec.outputs_number() || spec.start > 1),
      sorts_by_arrival_(!context.flink_compat &&
                        std::any_of(spec.order.begin(), spec.order.end(),
                                    [&](const SortKey& key) {
                                      return spec.input.type(key.column).is_proctime();
                                    })),
      key_codec_(spec.input, spec.partition, context.flink_compat),
      sort_codec_(spec.input, FieldsOf(spec, context.flink_compat)),
      row_codec_(spec.input),
      writer_(row_codec_),
      output_(&row_codec_, spec.outputs_number()),
      null_keys_(context.counters->Find("null_key")),
      beyond_rank_(context.counters->Find("beyond_rank")),
      other_ends_(nullptr) {
  Register(&saved_);
  if (spec.variable_end >= 0) {
    ends_.emplace(context);
    ends_->CheckValues(CheckNumber);
    Register(&*ends_);
    other_ends_ = context.counters->Find("invalid_top_size");
  }
}

Status RankOperator::CheckNumber(std::string_view value) {
  if (value.size() == sizeof(int64_t)) return Status::Ok();
  return Status::Corruption("a number in the state has {} bytes", value.size());
}

ShownStates RankOperator::Shown() {
  ShownStates shown;
  shown.push_back(ShownRanks());
  if (ends_) shown.push_back(ShowNumber(FormOf("ends", NumberColumn("rank_end")), &*ends_));
  return shown;
}

Status RankOperator::Encode(const RowBatch& batch) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  *null_keys_ += CountNullKeys(batch, spec_.partition);
  sort_codec_.Encode(batch, saved_->next_arrival, &sorts_);
  saved_->next_arrival += static_cast<uint64_t>(batch.rows);
  return ends_ ? FindEnds(batch) : Status::Ok();
}

Status RankOperator::FindEnds(const RowBatch& batch) {
  const Column& column = batch.columns[static_cast<size_t>(spec_.variable_end)];
  RT_TRY(ends_->FindOrCreate(keys_, &end_entries_));
  row_ends_.resize(static_cast<size_t>(batch.rows));
  for (int row = 0; row < batch.rows; ++row) {
    const Entry entry = end_entries_[static_cast<size_t>(row)];
    const int64_t given = IntegerAt(column, row);
    if (!ends_->Has(entry)) {
      std::memcpy(ends_->Assign(entry, sizeof(given)), &given, sizeof(given));
    }
    const int64_t end = ends_->ValueAs<int64_t>(entry);
    if (end != given) ++*other_ends_;
    row_ends_[static_cast<size_t>(row)] = end;
  }
  return Status::Ok();
}

void RankOperator::EmitByName(Collector& out) {
  taker_ = out.named_rows();
  if (taker_ != nullptr) recent_->Follow();
}

Status RankOperator::Flush(Collector& out) {
  if (taker_ == nullptr) return output_.FlushTo(out);
  RT_TRY(output_.FlushNamed(*taker_));
  recent_->Trim();
  return Status::Ok();
}

void RankOperator::EmitInserted(const OrderedState& state, Entry key, int64_t position,
                                int64_t end) {
  int64_t rank = std::max(position + 1, spec_.start);
  if (rank > end) return;
  OrderedState::Cursor cursor = state.At(key, rank - 1);
  if (!cursor.valid()) return;
  cursor.Prefetch(end - rank + 2);
  const char* current = output_.Copy(cursor.row());
  for (; rank <= end; ++rank) {
    cursor.Next();
    if (!cursor.valid()) return Emit(RowKind::kInsert, current, rank, end);
    const char* pushed = output_.Copy(cursor.row());
    Emit(RowKind::kUpdateBefore, pushed, rank, end);
    Emit(RowKind::kUpdateAfter, current, rank, end);
    current = pushed;
  }
}

void RankOperator::EmitInsertedByName(OrderedState::Cursor&& inserted, int64_t end) {
  RecentRows::Copy current = recent_->Put(inserted);
  OrderedState::Cursor& cursor = inserted;
  for (int64_t rank = cursor.position() + 1; rank <= end; ++rank) {
    const bool is_out = rank >= spec_.start;
    cursor.Next();
    if (!cursor.valid()) {
      if (is_out) output_.AddNamed(RowKind::kInsert, current.bytes, current.name, rank);
      return;
    }
    const RecentRows::Copy pushed = recent_->Of(cursor);
    if (is_out) {
      if (spec_.emits_update_before)
        output_.AddNamed(RowKind::kUpdateBefore, pushed.bytes, pushed.name, rank);
      output_.AddNamed(RowKind::kUpdateAfter, current.bytes, current.name, rank);
    }
    current = pushed;
  }
}

void RankOperator::EmitRemoved(const OrderedState& state, Entry key, int64_t position,
                               const char* removed, int64_t end) {
  const int64_t rows = state.rows(key);
  int64_t rank = std::max(position + 1, spec_.start);
  if (rank > end || rank > rows + 1) return;
  const char* before = rank == position + 1 ? removed : output_.Copy(state.At(key, rank - 2).row());
  for (OrderedState::Cursor cursor = state.At(key, rank - 1); rank <= end; ++rank, cursor.Next()) {
    if (!cursor.valid()) return Emit(RowKind::kDelete, before, rank, end);
    const char* after = output_.Copy(cursor.row());
    Emit(RowKind::kUpdateBefore, before, rank, end);
    Emit(RowKind::kUpdateAfter, after, rank, end);
    before = after;
  }
}

}  // namespace rowtide

#include "operators/watermark_compacting_materializer.h"

#include "engine/value_text.h"
#include "operators/shown_rows.h"

namespace rowtide {

Result<std::unique_ptr<Operator>> WatermarkCompactingMaterializer::Create(
    WatermarkCompactingMaterializerSpec spec, const Schema& input, const OperatorContext& context) {
  if (spec.primary_key.empty())
    return Status::Internal("a sink without a primary key needs no materializer");
  return std::unique_ptr<Operator>(
      new WatermarkCompactingMaterializer(std::move(spec), input, context));
}

WatermarkCompactingMaterializer::WatermarkCompactingMaterializer(
    WatermarkCompactingMaterializerSpec spec, const Schema& input, const OperatorContext& context)
    : KeyedOperator("watermark_compacting_materializer", input),
      spec_(std::move(spec)),
      schema_(input),
      unmatched_retractions_(context.counters->Find("unmatched_retraction")),
      conflicts_(context.counters->Find("conflict")),
      key_codec_(input, spec_.primary_key, context.flink_compat),
      row_codec_(input),
      pending_(context),
      shown_(context, Ttl()),
      output_(&row_codec_, false) {
  const auto is_row = [this](std::string_view row) { return row_codec_.Check(row); };
  pending_.CheckRows(is_row);
  shown_.CheckValues(is_row);
  Register(&pending_);
  Register(&shown_);
}

ShownStates WatermarkCompactingMaterializer::Shown() {
  ShownStates shown;
  shown.push_back(ShowRow({"shown", schema_, key_codec_, schema_}, &shown_, &row_codec_));
  shown.push_back(ShowBundle({"pending", schema_, key_codec_, schema_}, &pending_, &row_codec_));
  return shown;
}

Status WatermarkCompactingMaterializer::Process(int /*input*/, const RowBatch& batch,
                                                Collector& /*out*/) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  for (int row = 0; row < batch.rows; ++row) {
    pending_.Append(pending_.FindOrAdd(keys_.key(row), keys_.hash(row)), batch.kind(row),
                    encoded_.row(row));
  }
  return Status::Ok();
}

Status WatermarkCompactingMaterializer::Advance(int /*input*/, Time time, Collector& out) {
  if (time.kind == Time::Kind::kWatermark || time.kind == Time::Kind::kEnd) RT_TRY(Compact(out));
  return out.Advance(time);
}

Status WatermarkCompactingMaterializer::Compact(Collector& out) {
  for (int first = 0; first < pending_.keys(); first += kBatchRows) {
    pending_.KeysFrom(first, kBatchRows, &keys_);
    RT_TRY(shown_.FindOrCreate(keys_, &entries_));
    for (int i = 0; i < keys_.rows(); ++i) {
      RT_TRY(CompactKey(static_cast<uint32_t>(first + i), entries_[static_cast<size_t>(i)]));
    }
    shown_.Settle();
    RT_TRY(output_.FlushTo(out));
  }
  pending_.Clear();
  return Status::Ok();
}

Status WatermarkCompactingMaterializer::CompactKey(uint32_t key, Entry shown) {
  rows_.clear();
  const bool shows = shown_.Has(shown);
  const std::string_view previous = shows ? shown_.Value(shown) : std::string_view();
  if (shows) rows_.push_back(previous);
  Bundle::Row row = pending_.First(key);
  while (true) {
    const bool adds = Adds(row.kind);
    const int known = adds && spec_.upsert_key.empty() ? -1 : FindFirst(row.bytes);
    if (adds && known >= 0) {
      rows_[static_cast<size_t>(known)] = row.bytes;
    } else if (adds) {
      rows_.push_back(row.bytes);
    } else if (known >= 0) {
      rows_.erase(rows_.begin() + known);
    } else {
      ++*unmatched_retractions_;
    }
    if (row.next == Bundle::kNone) break;
    row = pending_.At(row.next);
  }
  if (rows_.size() > 1 && spec_.fails_on_conflict) return Conflict(rows_[0]);
  if (!rows_.empty()) *conflicts_ += static_cast<int64_t>(rows_.size()) - 1;
  if (rows_.empty()) {
    if (!shows) return Status::Ok();
    output_.AddCopy(RowKind::kDelete, previous);
    shown_.Erase(shown);
    return Status::Ok();
  }
  if (shows && (rows_.size() > 1 || row_codec_.Equal(previous, rows_[0]))) return Status::Ok();
  output_.AddCopy(shows ? RowKind::kUpdateAfter : RowKind::kInsert, rows_[0]);
  shown_.Assign(shown, rows_[0]);
  return Status::Ok();
}

int WatermarkCompactingMaterializer::FindFirst(std::string_view row) const {
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (spec_.upsert_key.empty() ? row_codec_.Equal(rows_[i], row) : SameUpsertKey(rows_[i], row)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

bool WatermarkCompactingMaterializer::SameUpsertKey(std::string_view a, std::string_view b) const {
  for (int column : spec_.upsert_key) {
    if (row_codec_.ValueOf(a.data(), column, schema_.type(column)) !=
        row_codec_.ValueOf(b.data(), column, schema_.type(column))) {
      return false;
    }
  }
  return true;
}

Status WatermarkCompactingMaterializer::Conflict(std::string_view row) const {
  std::string key;
  for (int column : spec_.primary_key) {
    if (!key.empty()) key += ", ";
    key += schema_.name(column) + "=";
    const Value value = row_codec_.ValueOf(row.data(), column, schema_.type(column));
    if (IsNull(value)) {
      key += "NULL";
    } else {
      AppendCastText(value, schema_.type(column), "UTC", &key);
    }
  }
  return Status::DataError("two rows claim the primary key [{}]", key)
      .WithErrorCode("RT4003")
      .WithHint(
          "ON CONFLICT DO NOTHING keeps the first one, ON CONFLICT DO DEDUPLICATE the last one");
}

}  // namespace rowtide

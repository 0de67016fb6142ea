#include "operators/sink_materializer.h"

#include <cstring>

#include "operators/arrival_key.h"
#include "operators/shown_rows.h"
#include "operators/value_collections.h"

namespace rowtide {
namespace {

std::vector<SortField> MatchFields(const std::vector<int>& upsert_key) {
  std::vector<SortField> fields;
  for (int column : upsert_key) fields.push_back({column, false, true, false});
  return fields;
}

Status NoArrival(std::string_view bytes) {
  return Status::Corruption("an arrival number in the state has {} bytes", bytes.size());
}

}  // namespace

Result<std::unique_ptr<Operator>> SinkMaterializer::Create(SinkMaterializerSpec spec,
                                                           const Schema& input,
                                                           const OperatorContext& context) {
  if (spec.primary_key.empty())
    return Status::Internal("a sink without a primary key needs no materializer");
  return std::unique_ptr<Operator>(new SinkMaterializer(std::move(spec), input, context));
}

SinkMaterializer::SinkMaterializer(SinkMaterializerSpec spec, const Schema& input,
                                   const OperatorContext& context)
    : KeyedOperator("sink_materializer", input),
      spec_(std::move(spec)),
      unmatched_retractions_(context.counters->Find("unmatched_retraction")),
      key_codec_(input, spec_.primary_key, context.flink_compat),
      row_codec_(input),
      match_codec_(input, MatchFields(spec_.upsert_key)),
      rows_(context),
      index_(context, CollectionTtl(context)),
      output_(&row_codec_, false) {
  rows_.CheckRows([this](std::string_view sort, std::string_view row) {
    return sort.size() == sizeof(uint64_t) ? row_codec_.Check(row) : NoArrival(sort);
  });
  index_.CheckRows([](std::string_view, std::string_view arrival) {
    return arrival.size() == sizeof(uint64_t) ? Status::Ok() : NoArrival(arrival);
  });
  Register(&rows_);
  Register(&index_);
}

ShownStates SinkMaterializer::Shown() {
  const Schema& rows = output_schema();
  ShownStates shown;
  shown.push_back(ShowRows({"rows", rows, key_codec_, rows}, &rows_, &row_codec_));
  return shown;
}

Status SinkMaterializer::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  if (!spec_.upsert_key.empty()) match_codec_.Encode(batch, 0, &matches_);
  RT_TRY(rows_.FindOrCreate(keys_, &row_keys_));
  RT_TRY(index_.FindOrCreate(keys_, &index_keys_));
  output_.Keep(encoded_.block());
  for (int row = 0; row < batch.rows; ++row) {
    const Key key{row_keys_[static_cast<size_t>(row)], index_keys_[static_cast<size_t>(row)]};
    const std::string_view content = encoded_.row(row);
    const ArrivalKey hash(spec_.upsert_key.empty() ? row_codec_.HashContent(content) : 0);
    const SortKeyView match = spec_.upsert_key.empty() ? hash.view() : matches_.view(row);
    if (Adds(batch.kind(row))) {
      Add(key, content, match);
    } else {
      Remove(key, content, match);
    }
    if (output_.full()) {
      RT_TRY(output_.FlushTo(out));
      output_.Keep(encoded_.block());
    }
  }
  rows_.Settle();
  index_.Settle();
  return output_.FlushTo(out);
}

SinkMaterializer::Match SinkMaterializer::FindFirst(Key key, std::string_view row,
                                                    SortKeyView match) const {
  if (rows_.rows(key.rows) == 0 || index_.rows(key.index) == 0) return {};
  OrderedState::Cursor cursor = index_.Seek(key.index, match);
  for (; OrderedState::Has(cursor, match); cursor.Next()) {
    uint64_t arrival;
    std::memcpy(&arrival, cursor.row().data(), sizeof(arrival));
    const int64_t position = rows_.LowerBound(key.rows, ArrivalKey(arrival).view());
    if (position >= rows_.rows(key.rows)) continue;  // the index is from outside, and wrong
    if (!spec_.upsert_key.empty() || row_codec_.Equal(rows_.At(key.rows, position).row(), row)) {
      return {cursor.position(), position};
    }
  }
  return {};
}

void SinkMaterializer::Add(Key key, std::string_view row, SortKeyView match) {
  const int64_t live = rows_.rows(key.rows);
  output_.Add(live == 0 ? RowKind::kInsert : RowKind::kUpdateAfter, row.data());
  // What an expired key left in the index is of no use.
  if (live == 0 && index_.rows(key.index) > 0) index_.EraseAll(key.index);
  const Match known = spec_.upsert_key.empty() ? Match() : FindFirst(key, row, match);
  if (known.in_rows >= 0) {
    rows_.Replace(key.rows, known.in_rows, row);
  } else {
    const uint64_t arrival =
        live == 0 ? 0 : ArrivalKey::Read(rows_.At(key.rows, live - 1).sort_key()) + 1;
    rows_.Insert(key.rows, ArrivalKey(arrival).view(), row);
    index_.Insert(key.index, match, {reinterpret_cast<const char*>(&arrival), sizeof(arrival)});
  }
  rows_.Touch(key.rows);
  index_.Touch(key.index);
}

void SinkMaterializer::Remove(Key key, std::string_view row, SortKeyView match) {
  const Match found = FindFirst(key, row, match);
  if (found.in_rows < 0) {
    ++*unmatched_retractions_;
    return;
  }
  index_.Erase(key.index, found.in_index);
  rows_.Erase(key.rows, found.in_rows);
  const int64_t left = rows_.rows(key.rows);
  if (left == 0) {
    output_.Add(RowKind::kDelete, row.data());
    return;
  }
  if (found.in_rows == left)
    output_.AddCopy(RowKind::kUpdateAfter, rows_.At(key.rows, left - 1).row());
  rows_.Touch(key.rows);
  index_.Touch(key.index);
}

}  // namespace rowtide

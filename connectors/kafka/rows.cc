#include "connectors/kafka/rows.h"

#include <algorithm>
#include <cstring>

#include "connectors/formats/formats.h"
#include "connectors/kafka/metadata_columns.h"

namespace rowtide {
namespace {

// Which of the part's columns are wanted, and where each column of the scan then is.
std::vector<int> WantedOf(const KafkaPart& part, const std::vector<int>& columns,
                          std::vector<int>* places) {
  std::vector<int> wanted;
  places->assign(columns.size(), -1);
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto found = std::find(part.columns.begin(), part.columns.end(), columns[i]);
    if (found == part.columns.end()) continue;
    (*places)[i] = static_cast<int>(wanted.size());
    wanted.push_back(static_cast<int>(found - part.columns.begin()));
  }
  return wanted;
}

}  // namespace

Result<std::unique_ptr<KafkaRows>> KafkaRows::Create(const KafkaSourceSpec& spec,
                                                     const ScanSpec& scan,
                                                     const ConnectorContext& context,
                                                     Rejects* rejects) {
  std::vector<int> value_places, key_places(scan.columns.size(), -1);
  const std::vector<int> values = WantedOf(spec.parts.value, scan.columns, &value_places);
  std::vector<int> keys;
  if (spec.parts.key) keys = WantedOf(*spec.parts.key, scan.columns, &key_places);
  const bool with_keys = spec.parts.key.has_value();
  std::unique_ptr<KafkaRows> rows(new KafkaRows(spec.upsert, with_keys, scan, rejects));
  for (size_t i = 0; i < scan.columns.size(); ++i) {
    const bool is_here = value_places[i] >= 0 || key_places[i] >= 0;
    if (!is_here) return Status::Internal("column {} is in no part of a message", scan.columns[i]);
    const KafkaPart& part = value_places[i] >= 0 ? spec.parts.value : *spec.parts.key;
    const auto at = std::find(part.columns.begin(), part.columns.end(), scan.columns[i]);
    const Type& type = part.table.schema.type(static_cast<int>(at - part.columns.begin()));
    rows->columns_.push_back({with_keys ? key_places[i] : -1, value_places[i], LayoutOf(type)});
  }
  rejects->ReadsFrom(&rows->messages_);
  RT_ASSIGN(rows->value_decoder_,
            CreateRecordDecoder(spec.parts.value.table, values, context, rejects));
  if (with_keys) {
    RT_ASSIGN(rows->key_decoder_,
              CreateRecordDecoder(spec.parts.key->table, keys, context, rejects));
  }
  return rows;
}

Status KafkaRows::Decode(RecordCursor* at, RowBatch* out) {
  const RecordCursor from = *at;
  const bool is_first = (from.record == 0 && from.rows == 0) || key_rows_.empty();
  if (key_decoder_ && is_first) DecodeKeys();
  Records records = messages_.values();
  if (!key_status_.ok()) records.bytes = records.bytes.first(static_cast<size_t>(bad_key_));
  Status status = value_decoder_->Decode(records, at);
  if (status.ok() && !key_status_.ok() && at->record == bad_key_) status = key_status_;
  RowBatch values = value_decoder_->Finish();
  // After an error the record at `at` is the bad one.
  const bool is_inside = status.ok() && at->rows > 0;
  PickRows(values, from.record, at->record + (is_inside ? 1 : 0));
  *out = PutTogether(std::move(values));
  return status;
}

// A key that is none, or of no row, leaves its message without one.
void KafkaRows::DecodeKeys() {
  key_rows_.assign(static_cast<size_t>(messages_.count()), -1);
  RecordCursor at;
  key_status_ = key_decoder_->Decode(messages_.keys(), &at);
  bad_key_ = at.record;
  keys_ = key_decoder_->Finish();
  for (int row = 0; row < keys_.rows; ++row) {
    const int32_t message = RecordOfPlace(keys_.place_of(row)->line);
    int32_t& key = key_rows_[static_cast<size_t>(message)];
    if (key < 0) key = row;
  }
  // They are part of messages, which are counted by their values.
  rejects_->CountRead(-keys_.rows);
}

// The value's rows and tombstones of messages [from, to), in their order.
void KafkaRows::PickRows(const RowBatch& values, int32_t from, int32_t to) {
  picks_.clear();
  int32_t value = 0;
  if (!upsert_ || !messages_.has_tombstones()) {
    for (; value < values.rows; ++value) Add(RecordOfPlace(values.place_of(value)->line), value);
    return;
  }
  for (int32_t message = from; message < to; ++message) {
    for (; value < values.rows && RecordOfPlace(values.place_of(value)->line) == message; ++value)
      Add(message, value);
    if (messages_.is_tombstone(message) && Add(message, -1)) rejects_->CountRead(1);
  }
}

bool KafkaRows::Add(int32_t message, int32_t value) {
  int32_t key = -1;
  if (key_decoder_) key = key_rows_[static_cast<size_t>(message)];
  if (!key_decoder_ || key >= 0) {
    picks_.push_back({message, value, key});
    return true;
  }
  const rd_kafka_message_t& of = messages_.message(message);
  if (of.key != nullptr && of.key_len > 0) {  // the key was rejected, and counted
    if (value >= 0) rejects_->CountRead(-1);
    return false;
  }
  // Nothing but a note: under `fail` Flink goes on as well.
  const RecordPlace place{messages_.offset(message), -1 - int64_t{message}, 0, 0};
  (void)rejects_->TakeQuietly({RejectReason::kNullKey, place, "", "the message has no key", "", ""})
      .ok();
  if (value < 0) rejects_->CountRead(1);
  return false;
}

RowBatch KafkaRows::PutTogether(RowBatch values) const {
  RowBatch batch;
  batch.rows = static_cast<int>(picks_.size());
  if (batch.rows == 0) return batch;
  bool is_whole = batch.rows == values.rows;  // no row of the values is missing or between
  for (int row = 0; is_whole && row < batch.rows; ++row)
    is_whole = picks_[static_cast<size_t>(row)].value == row;
  for (const From& from : columns_) {
    if (is_whole && from.value >= 0) {
      batch.columns.push_back(values.columns[static_cast<size_t>(from.value)]);
    } else {
      batch.columns.push_back(Gather(from, values));
    }
  }
  std::vector<int32_t> numbers;
  numbers.reserve(picks_.size());
  for (const Pick& pick : picks_) numbers.push_back(pick.message);
  StringBlocks strings;
  for (const std::string& key : scan_.metadata)
    batch.columns.push_back(KafkaMetadataColumn(key, messages_, numbers, &strings));
  if (is_whole) {
    batch.places = std::move(values.places);
  } else {
    auto places = std::make_shared<Block>(picks_.size() * sizeof(RowPlace));
    for (size_t row = 0; row < picks_.size(); ++row) {
      reinterpret_cast<RowPlace*>(places->data())[row] = {-1 - int64_t{picks_[row].message},
                                                          messages_.offset(picks_[row].message)};
    }
    batch.places = places;
  }
  if (upsert_) {
    auto kinds = std::make_shared<Block>(picks_.size());
    for (size_t row = 0; row < picks_.size(); ++row) {
      kinds->data()[row] =
          static_cast<char>(picks_[row].value < 0 ? RowKind::kDelete : RowKind::kUpdateAfter);
    }
    batch.kinds = kinds;
  } else if (is_whole || values.kinds == nullptr) {
    batch.kinds = std::move(values.kinds);
  } else {
    auto kinds = std::make_shared<Block>(picks_.size());
    for (size_t row = 0; row < picks_.size(); ++row)
      kinds->data()[row] = values.kinds->data()[picks_[row].value];
    batch.kinds = kinds;
  }
  batch.blocks = std::move(values.blocks);
  batch.blocks.insert(batch.blocks.end(), keys_.blocks.begin(), keys_.blocks.end());
  for (BlockPointer& block : strings.Finish()) batch.blocks.push_back(std::move(block));
  return batch;
}

Column KafkaRows::Gather(const From& from, const RowBatch& values) const {
  ColumnBuilder column(from.layout);
  column.Reserve(static_cast<int>(picks_.size()));
  const auto width = static_cast<size_t>(WidthOf(from.layout));
  for (const Pick& pick : picks_) {
    const bool is_value = from.value >= 0 && pick.value >= 0;
    const bool is_key = !is_value && from.key >= 0 && pick.key >= 0;
    if (!is_value && !is_key) {
      column.AppendNull();
      continue;
    }
    const Column& of = is_value ? values.columns[static_cast<size_t>(from.value)]
                                : keys_.columns[static_cast<size_t>(from.key)];
    const int32_t row = is_value ? pick.value : pick.key;
    if (of.IsNull(row)) {
      column.AppendNull();
    } else {
      column.AppendBytes(of.data() + static_cast<size_t>(row) * width);
    }
  }
  return column.Finish();
}

}  // namespace rowtide

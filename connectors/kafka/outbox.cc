#include "connectors/kafka/outbox.h"

#include <algorithm>
#include <cmath>

#include "connectors/formats/formats.h"
#include "connectors/kafka/sink_topics.h"
#include "engine/batch_builder.h"

namespace rowtide {
namespace {

int ColumnOf(const TableSpec& table, std::string_view metadata) {
  const auto found = std::find(table.metadata.begin(), table.metadata.end(), metadata);
  return found == table.metadata.end() ? -1 : static_cast<int>(found - table.metadata.begin());
}

int64_t MillisOf(const Value& value, const Type& type) {
  if (const auto* wide = std::get_if<WideTime>(&value)) return wide->millis;
  const int64_t units = std::get<int64_t>(value);
  if (type.precision <= 3) return units;
  return units >= 0 ? units / 1000 : -((-units + 999) / 1000);
}

}  // namespace

KafkaOutbox::KafkaOutbox(const TableSpec& table, const KafkaSinkSpec& spec, bool keeps_last,
                         bool joins)
    : table_name_(table.name),
      spec_(spec),
      keeps_last_(keeps_last),
      joins_(joins),
      row_key_(table),
      schema_(table.schema),
      topic_column_(ColumnOf(table, "topic")),
      timestamp_column_(ColumnOf(table, "timestamp")) {
  // Where the table has one topic, it is that one whatever rows say.
  if (!spec.topics.pattern && spec.topics.names.size() == 1) topic_column_ = -1;
  if (topic_column_ < 0) topic_names_ = spec.topics.names;
}

Result<std::unique_ptr<KafkaOutbox>> KafkaOutbox::Create(const TableSpec& table,
                                                         const KafkaSinkSpec& spec, bool keeps_last,
                                                         bool joins) {
  std::unique_ptr<KafkaOutbox> outbox(new KafkaOutbox(table, spec, keeps_last, joins));
  RT_ASSIGN(outbox->value_encoder_, CreateRecordEncoder(spec.parts.value.table));
  if (spec.parts.key) {
    RT_ASSIGN(outbox->key_encoder_, CreateRecordEncoder(spec.parts.key->table));
  }
  return outbox;
}

// --- rows come in ---

RowBatch KafkaOutbox::Project(const RowBatch& batch, const std::vector<int>& columns) {
  RowBatch part;
  part.rows = batch.rows;
  part.kinds = batch.kinds;
  part.blocks = batch.blocks;
  for (const int column : columns)
    part.columns.push_back(batch.columns[static_cast<size_t>(column)]);
  return part;
}

Status KafkaOutbox::Add(const RowBatch& batch, int32_t partition) {
  if (batch.rows == 0) return Status::Ok();
  std::vector<Entry> entries(static_cast<size_t>(batch.rows));
  for (Entry& entry : entries) entry.partition = partition;
  RT_TRY(AddValues(batch, &entries));
  RT_TRY(AddMetadata(batch, &entries));
  if (key_encoder_ != nullptr)
    RT_TRY(key_encoder_->Encode(Project(batch, spec_.parts.key->columns), &keys_));
  const size_t first = entries_.size();
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  if (keeps_last_) Replace(first);
  if (joins_) Join(batch, first);
  held_bytes_ = keys_.bytes.size() + values_.bytes.size() + entries_.size() * sizeof(Entry);
  return Status::Ok();
}

// A row that takes away is a tombstone where the key says what is gone; a format of changes writes
// it down like any other.
Status KafkaOutbox::AddValues(const RowBatch& batch, std::vector<Entry>* entries) {
  const RowBatch part = Project(batch, spec_.parts.value.columns);
  auto next = static_cast<int64_t>(values_.records.size());
  std::vector<int32_t> adding;
  for (int row = 0; row < batch.rows; ++row) {
    if (spec_.upsert && !Adds(batch.kind(row))) continue;
    (*entries)[static_cast<size_t>(row)].value = next++;
    adding.push_back(row);
  }
  const bool all = static_cast<int>(adding.size()) == batch.rows;
  return value_encoder_->Encode(all ? part : Select(part, adding), &values_);
}

Status KafkaOutbox::AddMetadata(const RowBatch& batch, std::vector<Entry>* entries) {
  if (topic_column_ < 0 && timestamp_column_ < 0) return Status::Ok();
  for (int row = 0; row < batch.rows; ++row) {
    Entry& entry = (*entries)[static_cast<size_t>(row)];
    if (topic_column_ >= 0) {
      const Column& column = batch.columns[static_cast<size_t>(topic_column_)];
      if (column.IsNull(row))
        return Status::DataError("table {}: metadata column {} is NULL; it names the topic",
                                 table_name_, Quote(schema_.name(topic_column_)));
      RT_ASSIGN(entry.topic, TopicNumber(column.values<StringView>()[row].view()));
    }
    if (timestamp_column_ >= 0) {
      const Type& type = schema_.type(timestamp_column_);
      const Value value = ValueAt(batch, timestamp_column_, row, type);
      entry.timestamp = IsNull(value) ? 0 : MillisOf(value, type);
      if (entry.timestamp < 0)
        return Status::DataError(
            "table {}: metadata column {} is {} ms before 1970, which no record can be",
            table_name_, Quote(schema_.name(timestamp_column_)), -entry.timestamp);
    }
  }
  return Status::Ok();
}

Result<int32_t> KafkaOutbox::TopicNumber(std::string_view name) {
  const std::string key(name);
  const auto known = topic_numbers_.find(key);
  if (known != topic_numbers_.end()) return known->second;
  RT_TRY(CheckTopicOfRow(table_name_, spec_.topics, key));
  const auto number = static_cast<int32_t>(topic_names_.size());
  topic_names_.push_back(key);
  topic_numbers_[key] = number;
  return number;
}

void KafkaOutbox::Replace(size_t first) {
  for (size_t record = first; record < entries_.size(); ++record) {
    const auto [at, is_new] = newest_.try_emplace(std::string(keys_.at(record)), record);
    if (is_new) continue;
    entries_[at->second].is_replaced = true;
    ++replaced_;
    at->second = record;
  }
}

// Halves of one update stand next to each other, be it in two batches.
void KafkaOutbox::Join(const RowBatch& batch, size_t first) {
  for (size_t record = first; record < entries_.size(); ++record) {
    const int row = static_cast<int>(record - first);
    const RowKind kind = batch.kind(row);
    entries_[record].is_before = kind == RowKind::kUpdateBefore;
    if (entries_[record].is_before) before_key_ = row_key_.Of(batch, row);
    if (kind != RowKind::kUpdateAfter || record == 0 || !entries_[record - 1].is_before) continue;
    if (row_key_.Of(batch, row) != before_key_) continue;
    Entry& before = entries_[record - 1];
    Entry& after = entries_[record];
    const bool same_key = key_encoder_ == nullptr || keys_.at(record - 1) == keys_.at(record);
    if (!same_key || before.topic != after.topic) continue;
    const size_t begin = values_.bytes.size();
    values_.bytes += JoinUpdate(values_.at(static_cast<size_t>(before.value)),
                                values_.at(static_cast<size_t>(after.value)));
    after.value = static_cast<int64_t>(values_.records.size());
    values_.records.push_back({begin, values_.bytes.size(), false});
    before.is_replaced = true;
    ++replaced_;
  }
}

// --- records go out ---

// Topics belong to the producer that opened them.
Status KafkaOutbox::OpenTopics(KafkaProducer* producer) {
  if (topics_of_ != producer) topics_.clear();
  topics_of_ = producer;
  while (topics_.size() < topic_names_.size()) {
    RT_TRY(TopicExists(table_name_, topic_names_[topics_.size()], producer->handle()).status());
    RT_ASSIGN(KafkaTopicPointer topic, producer->OpenTopic(topic_names_[topics_.size()]));
    topics_.push_back(std::move(topic));
  }
  return Status::Ok();
}

Status KafkaOutbox::SendTo(KafkaProducer* producer, bool all) {
  if (entries_.empty()) return Status::Ok();
  RT_TRY(OpenTopics(producer));
  const bool keeps_one = !all && entries_.back().is_before;
  const size_t end = entries_.size() - (keeps_one ? 1 : 0);
  for (size_t first = 0, last = 0; first < end; first = last) {
    for (last = first; last < end && entries_[last].topic == entries_[first].topic;) ++last;
    if (timestamp_column_ < 0) {
      RT_TRY(SendRun(producer, first, last));
      continue;
    }
    for (size_t record = first; record < last; ++record) RT_TRY(SendAlone(producer, record));
  }
  if (!keeps_one) {
    Clear();
    return Status::Ok();
  }
  Entry entry = entries_.back();
  const std::string key(key_encoder_ == nullptr ? "" : keys_.at(end));
  const std::string value(values_.at(static_cast<size_t>(entry.value)));
  Clear();
  keys_.bytes = key;
  if (key_encoder_ != nullptr) keys_.records.push_back({0, key.size(), false});
  values_.bytes = value;
  values_.records.push_back({0, value.size(), false});
  entry.value = 0;
  entries_.push_back(entry);
  return Status::Ok();
}

void KafkaOutbox::Clear() {
  keys_.Clear();
  values_.Clear();
  entries_.clear();
  newest_.clear();
  replaced_ = 0;
  held_bytes_ = 0;
}

void KafkaOutbox::Fill(size_t record, rd_kafka_message_t* message) const {
  const Entry& entry = entries_[record];
  *message = {};
  message->partition = entry.partition;
  if (entry.value >= 0 && !values_.records[static_cast<size_t>(entry.value)].is_null) {
    const std::string_view value = values_.at(static_cast<size_t>(entry.value));
    message->payload = const_cast<char*>(value.data());
    message->len = value.size();
  }
  if (key_encoder_ != nullptr && !keys_.records[record].is_null) {
    const std::string_view key = keys_.at(record);
    message->key = const_cast<char*>(key.data());
    message->key_len = key.size();
  }
}

Status KafkaOutbox::SendRun(KafkaProducer* producer, size_t first, size_t last) {
  messages_.clear();
  for (size_t record = first; record < last; ++record) {
    if (!entries_[record].is_replaced) Fill(record, &messages_.emplace_back());
  }
  rd_kafka_topic_t* const topic = topics_[static_cast<size_t>(entries_[first].topic)].get();
  return producer->Produce(topic, messages_);
}

Status KafkaOutbox::SendAlone(KafkaProducer* producer, size_t record) {
  const Entry& entry = entries_[record];
  if (entry.is_replaced) return Status::Ok();
  rd_kafka_message_t message;
  Fill(record, &message);
  KafkaRecord one;
  one.topic = topic_names_[static_cast<size_t>(entry.topic)];
  one.partition = entry.partition;
  one.key = static_cast<const char*>(message.key);
  one.key_bytes = message.key_len;
  one.value = static_cast<const char*>(message.payload);
  one.value_bytes = message.len;
  one.timestamp = entry.timestamp;
  return producer->Produce(one);
}

}  // namespace rowtide

#include "connectors/kafka/messages.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "connectors/formats/hints.h"
#include "connectors/kafka/headers.h"
#include "connectors/utf8.h"
#include "engine/base64.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr size_t kBlockBytes = 256 << 10;
// Of a key, a message shows this much.
constexpr size_t kKeyBytes = 64;

std::string_view KeyOf(const rd_kafka_message_t& message) {
  return {static_cast<const char*>(message.key), message.key_len};
}

void AppendText(std::string_view bytes, std::string* out) {
  std::string text;
  AppendUtf8(bytes, &text);
  AppendJsonString(text, out);
}

void AppendBytes(const void* bytes, size_t size, std::string* out) {
  if (bytes == nullptr) {
    *out += "null";
    return;
  }
  *out += '"';
  AppendBase64({static_cast<const char*>(bytes), size}, out);
  *out += '"';
}

}  // namespace

void KafkaMessages::Take(const KafkaTopicPartition& at,
                         std::span<rd_kafka_message_t* const> messages) {
  Clear();
  at_ = at;
  messages_.assign(messages.begin(), messages.end());
  size_t bytes = kRecordPadding + messages.size();
  for (const rd_kafka_message_t* message : messages_) {
    bytes += message->len;
    if (with_keys_) bytes += message->key_len + 1;
  }
  block_ = BlockOf(bytes);
  char* const begin = block_->data();
  char* to = begin;
  const auto append = [&](const void* data, size_t size, const rd_kafka_message_t& message,
                          std::vector<RecordBytes>* records) {
    records->push_back({static_cast<uint32_t>(to - begin), static_cast<uint32_t>(size),
                        message.offset,
                        data == nullptr ? RecordBytes::Kind::kNull : RecordBytes::Kind::kBytes});
    if (size > 0) std::memcpy(to, data, size);
    to += size;
    *to++ = '\n';
  };
  for (const rd_kafka_message_t* message : messages_) {
    append(message->payload, message->len, *message, &values_);
    if (message->payload != nullptr) continue;
    ++tombstones_;
    if (passes_over_null_) values_.back().kind = RecordBytes::Kind::kPassedOver;
  }
  for (const rd_kafka_message_t* message : messages_) {
    if (with_keys_) append(message->key, message->key_len, *message, &keys_);
  }
  std::memset(to, 0, kRecordPadding);
}

void KafkaMessages::Clear() {
  for (rd_kafka_message_t* message : messages_) rd_kafka_message_destroy(message);
  messages_.clear();
  values_.clear();
  keys_.clear();
  tombstones_ = 0;
  block_ = nullptr;
}

// Large ones are not kept.
std::shared_ptr<Block> KafkaMessages::BlockOf(size_t bytes) {
  if (bytes > kBlockBytes) return std::make_shared<Block>(bytes);
  for (const std::shared_ptr<Block>& kept : blocks_) {
    if (kept && kept.use_count() == 1) return kept;
  }
  blocks_[next_kept_] = std::make_shared<Block>(kBlockBytes);
  const std::shared_ptr<Block> made = blocks_[next_kept_];
  next_kept_ = (next_kept_ + 1) % blocks_.size();
  return made;
}

std::string KafkaMessages::Text(int32_t record) const {
  const rd_kafka_message_t& of = message(record);
  std::string text = fmt::format("{}, offset {}", KafkaPartitionText(at_), of.offset);
  if (of.key != nullptr) text += fmt::format(", key '{}'", Excerpt(KeyOf(of), kKeyBytes));
  return text;
}

std::optional<std::string_view> KafkaMessages::Value(int32_t record) const {
  const rd_kafka_message_t& of = message(record);
  if (of.payload == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(of.payload), of.len);
}

void KafkaMessages::AppendFields(int32_t record, std::string* letter) const {
  const rd_kafka_message_t& of = message(record);
  *letter += "\"topic\":";
  AppendText(at_.topic, letter);
  fmt::format_to(std::back_inserter(*letter),
                 ",\"partition\":{},\"offset\":{},\"key\":", at_.partition, of.offset);
  AppendBytes(of.key, of.key_len, letter);
  *letter += ",\"headers\":[";
  bool is_first = true;
  ForEachHeader(of, [&](const char* name, const void* value, size_t size) {
    *letter += is_first ? "{\"key\":" : ",{\"key\":";
    is_first = false;
    AppendText(name, letter);
    *letter += ",\"value\":";
    AppendBytes(value, size, letter);
    *letter += '}';
  });
  *letter += "],";
}

}  // namespace rowtide

#include "connectors/kafka/letter.h"

#include <charconv>

#include "connectors/kafka/headers.h"

namespace rowtide {
namespace {

// In this order, behind the record's own.
constexpr const char* kError = "rowtide.error";
constexpr const char* kTopic = "rowtide.topic";
constexpr const char* kPartition = "rowtide.partition";
constexpr const char* kOffset = "rowtide.offset";
constexpr size_t kHeaders = 4;

std::optional<std::string> Bytes(const void* bytes, size_t size) {
  if (bytes == nullptr) return std::nullopt;
  return std::string(static_cast<const char*>(bytes), size);
}

template <typename Number>
bool ParseNumber(const std::optional<std::string>& text, Number* number) {
  if (!text) return false;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  return error == std::errc() && end == text->data() + text->size() && *number >= 0;
}

void AddHeader(rd_kafka_headers_t* headers, const std::string& name,
               const std::optional<std::string>& value) {
  (void)rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()),
                            value ? value->data() : nullptr,
                            value ? static_cast<ssize_t>(value->size()) : 0);
}

}  // namespace

size_t KafkaLetter::bytes() const {
  size_t sum = sizeof(KafkaLetter) + (key ? key->size() : 0) + (value ? value->size() : 0);
  for (const KafkaHeader& header : headers)
    sum += sizeof(KafkaHeader) + header.name.size() + (header.value ? header.value->size() : 0);
  return sum;
}

KafkaLetter LetterOf(const std::string& topic, const rd_kafka_message_t& message) {
  KafkaLetter letter;
  letter.at = {topic, message.partition};
  letter.offset = message.offset;
  letter.key = Bytes(message.key, message.key_len);
  letter.value = Bytes(message.payload, message.len);
  ForEachHeader(message, [&letter](const char* name, const void* value, size_t size) {
    letter.headers.push_back({name, Bytes(value, size)});
  });
  return letter;
}

std::optional<KafkaLetter> ParseLetter(const rd_kafka_message_t& message) {
  KafkaLetter letter = LetterOf("", message);
  std::vector<KafkaHeader>& headers = letter.headers;
  if (headers.size() < kHeaders) return std::nullopt;
  const KafkaHeader* const own = &headers[headers.size() - kHeaders];
  const bool is_letter = own[0].name == kError && own[1].name == kTopic &&
                         own[2].name == kPartition && own[3].name == kOffset;
  if (!is_letter || !own[1].value || own[1].value->empty()) return std::nullopt;
  letter.at.topic = *own[1].value;
  if (!ParseNumber(own[2].value, &letter.at.partition) ||
      !ParseNumber(own[3].value, &letter.offset)) {
    return std::nullopt;
  }
  headers.resize(headers.size() - kHeaders);
  return letter;
}

Status SendLetter(KafkaProducer* producer, const KafkaTopicPartition& to, const KafkaLetter& letter,
                  const std::string* error) {
  KafkaHeadersPointer headers(rd_kafka_headers_new(letter.headers.size() + kHeaders));
  for (const KafkaHeader& header : letter.headers)
    AddHeader(headers.get(), header.name, header.value);
  if (error != nullptr) {
    AddHeader(headers.get(), kError, *error);
    AddHeader(headers.get(), kTopic, letter.at.topic);
    AddHeader(headers.get(), kPartition, std::to_string(letter.at.partition));
    AddHeader(headers.get(), kOffset, std::to_string(letter.offset));
  }
  KafkaRecord record;
  record.topic = to.topic;
  record.partition = to.partition;
  if (letter.key) {
    record.key = letter.key->data();
    record.key_bytes = letter.key->size();
  }
  if (letter.value) {
    record.value = letter.value->data();
    record.value_bytes = letter.value->size();
  }
  record.headers = headers.release();
  return producer->Produce(record);
}

}  // namespace rowtide

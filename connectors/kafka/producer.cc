#include "connectors/kafka/producer.h"

#include <algorithm>

#include "engine/schema.h"

namespace rowtide {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr size_t kShownKeyBytes = 100;
constexpr int kRoomMillis = 20;

std::string KeyText(std::string_view key) {
  std::string text;
  for (const char c : key.substr(0, kShownKeyBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return key.size() > kShownKeyBytes ? text + "…" : text;
}

}  // namespace

Result<std::unique_ptr<KafkaProducer>> KafkaProducer::Create(KafkaSettings settings) {
  std::unique_ptr<KafkaProducer> producer(new KafkaProducer());
  // Good reports are counted by librdkafka itself.
  settings["delivery.report.only.error"] = "true";
  const auto largest = settings.find("message.max.bytes");
  producer->bytes_max_ = largest == settings.end() ? "1000000" : largest->second;
  RT_ASSIGN(producer->handle_,
            KafkaHandle::Create(KafkaKind::kProducer, settings, OnDelivered, producer.get()));
  return producer;
}

// Reports of what is given up here are nobody's any more.
KafkaProducer::~KafkaProducer() {
  if (handle_ != nullptr) Purge();
}

void KafkaProducer::Purge() {
  rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT |
                                     RD_KAFKA_PURGE_F_NON_BLOCKING);
}

Status KafkaProducer::TooLarge(const std::string& topic, std::string_view key, size_t bytes) const {
  return Status::DataError(
             "a record for topic {} is too large: {} bytes of key and value, at most {} are "
             "allowed "
             "(key: {})",
             Quote(topic), bytes, bytes_max_, key.data() == nullptr ? "none" : Quote(KeyText(key)))
      .WithHint(
          "'properties.message.max.bytes' of the table and 'max.message.bytes' of the topic are "
          "the limits");
}

void KafkaProducer::OnDelivered(rd_kafka_t* /*handle*/, const rd_kafka_message_t* message,
                                void* self) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  auto* const producer = static_cast<KafkaProducer*>(self);
  const std::string topic = rd_kafka_topic_name(message->rkt);
  if (message->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    const std::string_view key(static_cast<const char*>(message->key), message->key_len);
    producer->Fail(producer->TooLarge(topic, key, message->len + message->key_len));
    return;
  }
  producer->Fail(Status::External("a record for {} was not delivered: {}",
                                  KafkaPartitionText({topic, message->partition}),
                                  rd_kafka_err2str(message->err)));
}

void KafkaProducer::Fail(Status status) {
  const std::lock_guard lock(mutex_);
  if (!has_failed_) failure_ = std::move(status);
  has_failed_ = true;
}

Status KafkaProducer::failure() const {
  if (!has_failed_) return Status::Ok();
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status KafkaProducer::Poll() {
  handle_->Poll();
  return failure();
}

Status KafkaProducer::AwaitRoom() {
  handle_->Poll(kRoomMillis);
  RT_TRY(handle_->fatal_error());
  return failure();
}

Status KafkaProducer::Produce(rd_kafka_topic_t* topic, std::span<rd_kafka_message_t> messages) {
  RT_TRY(failure());
  const auto all = static_cast<int>(messages.size());
  int taken =
      rd_kafka_produce_batch(topic, RD_KAFKA_PARTITION_UA,
                             RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_PARTITION, messages.data(), all);
  // What was not taken says why. In order: a record behind one that waits would overtake it.
  for (int i = 0; taken < all && i < all; ++i) {
    rd_kafka_message_t& message = messages[static_cast<size_t>(i)];
    while (message.err == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      RT_TRY(AwaitRoom());
      taken += rd_kafka_produce_batch(topic, RD_KAFKA_PARTITION_UA,
                                      RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_PARTITION, &message, 1);
    }
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    const std::string name = rd_kafka_topic_name(topic);
    if (message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
      Fail(TooLarge(name, {static_cast<const char*>(message.key), message.key_len},
                    message.len + message.key_len));
    } else {
      Fail(KafkaStatus(message.err, "writing to topic " + Quote(name)));
    }
    return failure();
  }
  return Poll();
}

Status KafkaProducer::Produce(const KafkaRecord& record) {
  KafkaHeadersPointer headers(record.headers);
  RT_TRY(failure());
  const std::string topic(record.topic);
  while (true) {
    rd_kafka_vu_t fields[8] = {};
    size_t count = 0;
    const auto add = [&](rd_kafka_vtype_t type) -> rd_kafka_vu_t& {
      fields[count].vtype = type;
      return fields[count++];
    };
    add(RD_KAFKA_VTYPE_TOPIC).u.cstr = topic.c_str();
    add(RD_KAFKA_VTYPE_PARTITION).u.i32 = record.partition;
    add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = RD_KAFKA_MSG_F_COPY;
    rd_kafka_vu_t& value = add(RD_KAFKA_VTYPE_VALUE);
    value.u.mem.ptr = const_cast<char*>(record.value);
    value.u.mem.size = record.value_bytes;
    rd_kafka_vu_t& key = add(RD_KAFKA_VTYPE_KEY);
    key.u.mem.ptr = const_cast<char*>(record.key);
    key.u.mem.size = record.key_bytes;
    add(RD_KAFKA_VTYPE_TIMESTAMP).u.i64 = record.timestamp;
    if (headers) add(RD_KAFKA_VTYPE_HEADERS).u.headers = headers.get();
    const KafkaErrorPointer error(rd_kafka_produceva(handle_->get(), fields, count));
    if (error == nullptr) {
      (void)headers.release();  // librdkafka's now
      return Poll();
    }
    const rd_kafka_resp_err_t code = rd_kafka_error_code(error.get());
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
      RT_TRY(AwaitRoom());
      continue;
    }
    if (code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
      Fail(TooLarge(topic, {record.key, record.key_bytes}, record.value_bytes + record.key_bytes));
    } else {
      Fail(KafkaStatus(code, "writing to topic " + Quote(topic)));
    }
    return failure();
  }
}

Status KafkaProducer::AwaitAll(milliseconds longest) {
  constexpr int kStepMillis = 200;
  const auto until = steady_clock::now() + longest;
  while (true) {
    RT_TRY(Poll());
    const rd_kafka_resp_err_t error = rd_kafka_flush(handle_->get(), kStepMillis);
    RT_TRY(failure());
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
    RT_TRY(handle_->fatal_error());
    if (error != RD_KAFKA_RESP_ERR__TIMED_OUT) return KafkaStatus(error, "waiting for delivery");
    if (steady_clock::now() >= until) {
      const std::string trouble = handle_->TakeTrouble();
      return Status::External(
          "{} records were not delivered within {:.0f} s{}{}", rd_kafka_outq_len(handle_->get()),
          static_cast<double>(longest.count()) / 1000, trouble.empty() ? "" : ": ", trouble);
    }
  }
}

Result<KafkaTopicPointer> KafkaProducer::OpenTopic(const std::string& name) const {
  KafkaTopicPointer topic(rd_kafka_topic_new(handle_->get(), name.c_str(), nullptr));
  if (!topic) return KafkaStatus(rd_kafka_last_error(), "topic " + Quote(name));
  return topic;
}

}  // namespace rowtide

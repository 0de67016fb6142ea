// What the Kafka sinks of a job hand their records to: one producer a cluster, shared by lanes.
//
//   Produce     copies into librdkafka's queue; while that is full, the caller waits
//   AwaitAll    every record so far has its delivery report, and all are good
//
// The first bad report is the failure of the producer from there on: every call returns it. A
// record that is too large is the user's to mend (kDataError, with its key and size); everything
// else may pass (kExternal), with a new producer. Any thread may call.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "connectors/kafka/handle.h"

namespace rowtide {

// One record as librdkafka takes it alone: with a time or headers.
struct KafkaRecord {
  std::string_view topic;
  int32_t partition = RD_KAFKA_PARTITION_UA;
  const char* key = nullptr;  // null: no key
  size_t key_bytes = 0;
  const char* value = nullptr;  // null: a tombstone
  size_t value_bytes = 0;
  int64_t timestamp = 0;                  // 0: now
  rd_kafka_headers_t* headers = nullptr;  // taken, whatever becomes of the record
};

class KafkaProducer {
 public:
  static Result<std::unique_ptr<KafkaProducer>> Create(KafkaSettings settings);
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  // Records of one topic, without times and headers; `messages` is scratch of the caller's whose
  // keys, values and partitions are filled in.
  Status Produce(rd_kafka_topic_t* topic, std::span<rd_kafka_message_t> messages);
  Status Produce(const KafkaRecord& record);
  // Takes delivery reports that are there.
  Status Poll();
  // Requires: nobody produces meanwhile what is to be waited for.
  Status AwaitAll(std::chrono::milliseconds longest);
  // Gives up what is not sent yet.
  void Purge();

  Status failure() const;
  KafkaHandle& handle() { return *handle_; }
  Result<KafkaTopicPointer> OpenTopic(const std::string& name) const;

 private:
  KafkaProducer() = default;
  static void OnDelivered(rd_kafka_t* handle, const rd_kafka_message_t* message, void* self);
  void Fail(Status status);
  Status TooLarge(const std::string& topic, std::string_view key, size_t bytes) const;
  // The queue is full: reports are taken until there is room again.
  Status AwaitRoom();

  std::unique_ptr<KafkaHandle> handle_;
  std::string bytes_max_;  // message.max.bytes, as set
  std::atomic<bool> has_failed_ = false;
  mutable std::mutex mutex_;
  Status failure_ = Status::Ok();  // under the mutex
};

}  // namespace rowtide

// librdkafka's objects with owners, and its errors as Status.
//
//   KafkaHandle    a consumer or a producer; ended by its destructor, within a bounded time
//   Kafka...Pointer   lists, queues, messages, topics: unique_ptr with the right end
//   KafkaStatus    whose move it is: kExternal may pass (a restart tries again); what the user has
//                  to change (names, rights, passwords) is kInvalidArgument
//
// What librdkafka logs goes nowhere; the newest trouble is kept as one line for the user
// (TakeTrouble), which names the broker and the reason, and no password. Any thread may call.
#pragma once

#include <librdkafka/rdkafka.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace rowtide {

// By librdkafka's names.
using KafkaSettings = std::map<std::string, std::string>;

struct KafkaEnd {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
  void operator()(rd_kafka_error_t* error) const { rd_kafka_error_destroy(error); }
  void operator()(rd_kafka_headers_t* headers) const { rd_kafka_headers_destroy(headers); }
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};
using KafkaPartitionsPointer = std::unique_ptr<rd_kafka_topic_partition_list_t, KafkaEnd>;
using KafkaQueuePointer = std::unique_ptr<rd_kafka_queue_t, KafkaEnd>;
using KafkaMessagePointer = std::unique_ptr<rd_kafka_message_t, KafkaEnd>;
using KafkaTopicPointer = std::unique_ptr<rd_kafka_topic_t, KafkaEnd>;
using KafkaErrorPointer = std::unique_ptr<rd_kafka_error_t, KafkaEnd>;
using KafkaHeadersPointer = std::unique_ptr<rd_kafka_headers_t, KafkaEnd>;

// "what: the reason". Ok for RD_KAFKA_RESP_ERR_NO_ERROR.
Status KafkaStatus(rd_kafka_resp_err_t code, std::string_view what);
// The same of an error that says more than its code; takes it.
Status KafkaStatus(rd_kafka_error_t* error, std::string_view what);
// Whether a later try may succeed though nobody does anything: brokers away, elections, time-outs.
bool KafkaMayPass(rd_kafka_resp_err_t code);

enum class KafkaKind : uint8_t { kConsumer, kProducer };

// A delivery report, on the thread that polls; `opaque` is the handle's.
using KafkaDelivered = void (*)(rd_kafka_t*, const rd_kafka_message_t*, void* opaque);

struct KafkaTopicPartition {
  std::string topic;
  int32_t partition = 0;

  friend auto operator<=>(const KafkaTopicPartition&, const KafkaTopicPartition&) = default;
};

struct KafkaOffsetRange {
  int64_t begin = 0;  // of the oldest message there is
  int64_t end = 0;    // behind the newest one that may be read under the handle's isolation.level
};

class KafkaHandle {
 public:
  // Connects to nobody yet. `delivered`: of a producer whose reports are looked at.
  static Result<std::unique_ptr<KafkaHandle>> Create(KafkaKind kind, const KafkaSettings& settings,
                                                     KafkaDelivered delivered = nullptr,
                                                     void* opaque = nullptr);
  ~KafkaHandle();
  KafkaHandle(const KafkaHandle&) = delete;
  KafkaHandle& operator=(const KafkaHandle&) = delete;

  rd_kafka_t* get() const { return handle_; }
  // Serves what waits: delivery reports, errors. Returns how many there were.
  int Poll(int millis = 0) { return rd_kafka_poll(handle_, millis); }
  // The newest trouble since the last call, as one line; "" = none.
  std::string TakeTrouble();
  // Not ok once the handle can do nothing any more.
  Status fatal_error() const;
  // Not ok: brokers do not let this client in, for its name and password or for certificates; no
  // later try is better. For a start: a job that runs waits until it is let in again.
  Status refusal() const;
  // What a question that failed says, with the newest trouble.
  std::string ReasonOf(const Status& failed) const;
  // A broker answers, asked again for so long; or why none does, at once if it is a refusal.
  Status AwaitBroker(int millis) const;
  bool is_fatal() const { return rd_kafka_fatal_error(handle_, nullptr, 0) != 0; }

  // --- questions that wait for an answer, at most `millis` ---
  // How many partitions the topics have, in the order asked for; 0: there is no such topic.
  Result<std::vector<int>> PartitionCounts(const std::vector<std::string>& topics,
                                           int millis) const;
  // Names of all topics that this user may see.
  Result<std::vector<std::string>> TopicNames(int millis) const;
  Result<KafkaOffsetRange> QueryOffsets(const KafkaTopicPartition& at, int millis) const;
  // The first offset whose message is not older than `timestamp`; the end where there is none.
  Result<int64_t> OffsetForTime(const KafkaTopicPartition& at, int64_t timestamp, int millis) const;
  // What the handle's group has committed; RD_KAFKA_OFFSET_INVALID: nothing.
  Result<std::vector<int64_t>> CommittedOffsets(const std::vector<KafkaTopicPartition>& partitions,
                                                int millis) const;

 private:
  struct Said;
  KafkaHandle() = default;
  static void OnLog(const rd_kafka_t* handle, int level, const char* facility, const char* text);
  static void OnError(rd_kafka_t* handle, int code, const char* reason, void* said);
  static void OnDelivered(rd_kafka_t* handle, const rd_kafka_message_t* message, void* said);

  rd_kafka_t* handle_ = nullptr;
  std::shared_ptr<Said> said_;  // with librdkafka's threads
};

// Absolute offsets as librdkafka wants them.
KafkaPartitionsPointer KafkaPartitionList(const std::vector<KafkaTopicPartition>& partitions,
                                          const std::vector<int64_t>& offsets);
std::string KafkaPartitionText(const KafkaTopicPartition& at);  // topic "a", partition 3

}  // namespace rowtide

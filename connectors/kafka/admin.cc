#include "connectors/kafka/admin.h"

#include "engine/schema.h"

namespace rowtide {
namespace {

struct AdminEnd {
  void operator()(rd_kafka_AdminOptions_t* options) const {
    rd_kafka_AdminOptions_destroy(options);
  }
  void operator()(rd_kafka_ConfigResource_t* resource) const {
    rd_kafka_ConfigResource_destroy(resource);
  }
  void operator()(rd_kafka_NewTopic_t* topic) const { rd_kafka_NewTopic_destroy(topic); }
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};
template <typename T>
using Owned = std::unique_ptr<T, AdminEnd>;

class Question {
 public:
  Question(const KafkaHandle& handle, rd_kafka_admin_op_t kind, int millis)
      : queue_(rd_kafka_queue_new(handle.get())),
        options_(rd_kafka_AdminOptions_new(handle.get(), kind)),
        millis_(millis) {
    char reason[256];
    rd_kafka_AdminOptions_set_request_timeout(options_.get(), millis, reason, sizeof(reason));
  }
  rd_kafka_queue_t* queue() const { return queue_.get(); }
  rd_kafka_AdminOptions_t* options() const { return options_.get(); }

  // Some time longer than the broker's answer may take, so that librdkafka says what is wrong.
  Result<Owned<rd_kafka_event_t>> Answer(const std::string& what) const {
    constexpr int kMoreMillis = 2000;
    Owned<rd_kafka_event_t> event(rd_kafka_queue_poll(queue_.get(), millis_ + kMoreMillis));
    if (event == nullptr) return KafkaStatus(RD_KAFKA_RESP_ERR__TIMED_OUT, what);
    if (const rd_kafka_resp_err_t error = rd_kafka_event_error(event.get()))
      return KafkaStatus(error, what);
    return event;
  }

 private:
  KafkaQueuePointer queue_;
  Owned<rd_kafka_AdminOptions_t> options_;
  int millis_;
};

Result<KafkaConfig> ConfigOf(const KafkaHandle& handle, rd_kafka_ResourceType_t type,
                             const std::string& name, const std::string& what, int millis) {
  const Question question(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, millis);
  const Owned<rd_kafka_ConfigResource_t> asked(rd_kafka_ConfigResource_new(type, name.c_str()));
  rd_kafka_ConfigResource_t* list[] = {asked.get()};
  rd_kafka_DescribeConfigs(handle.get(), list, 1, question.options(), question.queue());
  RT_ASSIGN(const Owned<rd_kafka_event_t> event, question.Answer(what));
  size_t count = 0;
  const rd_kafka_ConfigResource_t** const resources = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  if (count == 0) return Status::External("{}: no answer", what);
  if (const rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(resources[0]))
    return KafkaStatus(error, what);
  const rd_kafka_ConfigEntry_t** const entries =
      rd_kafka_ConfigResource_configs(resources[0], &count);
  KafkaConfig config;
  for (size_t i = 0; i < count; ++i) {
    const char* const value = rd_kafka_ConfigEntry_value(entries[i]);
    config[rd_kafka_ConfigEntry_name(entries[i])] = value == nullptr ? "" : value;
  }
  return config;
}

Result<std::unique_ptr<const rd_kafka_metadata_t, KafkaEnd>> MetadataOf(const KafkaHandle& handle,
                                                                        const std::string& topic,
                                                                        int millis) {
  const rd_kafka_metadata_t* metadata = nullptr;
  KafkaTopicPointer asked;
  if (!topic.empty()) {
    asked.reset(rd_kafka_topic_new(handle.get(), topic.c_str(), nullptr));
    if (asked == nullptr) return KafkaStatus(rd_kafka_last_error(), "topic " + Quote(topic));
  }
  RT_TRY(KafkaStatus(rd_kafka_metadata(handle.get(), 0, asked.get(), &metadata, millis),
                     "asking the brokers"));
  return std::unique_ptr<const rd_kafka_metadata_t, KafkaEnd>(metadata);
}

}  // namespace

Result<KafkaConfig> TopicConfig(const KafkaHandle& handle, const std::string& topic, int millis) {
  return ConfigOf(handle, RD_KAFKA_RESOURCE_TOPIC, topic,
                  "asking for the settings of topic " + Quote(topic), millis);
}

Result<KafkaConfig> BrokerConfig(const KafkaHandle& handle, int millis) {
  RT_ASSIGN(const auto metadata, MetadataOf(handle, "", millis));
  if (metadata->broker_cnt == 0) return Status::External("no broker is known");
  return ConfigOf(handle, RD_KAFKA_RESOURCE_BROKER, std::to_string(metadata->brokers[0].id),
                  "asking for the settings of the broker", millis);
}

Status CreateTopic(const KafkaHandle& handle, const std::string& topic, const KafkaConfig& config,
                   int millis) {
  const std::string what = "making topic " + Quote(topic);
  char reason[256];
  const Owned<rd_kafka_NewTopic_t> made(
      rd_kafka_NewTopic_new(topic.c_str(), 1, -1, reason, sizeof(reason)));
  if (made == nullptr) return Status::InvalidArgument("{}: {}", what, reason);
  for (const auto& [name, value] : config)
    RT_TRY(
        KafkaStatus(rd_kafka_NewTopic_set_config(made.get(), name.c_str(), value.c_str()), what));
  const Question question(handle, RD_KAFKA_ADMIN_OP_CREATETOPICS, millis);
  rd_kafka_NewTopic_t* list[] = {made.get()};
  rd_kafka_CreateTopics(handle.get(), list, 1, question.options(), question.queue());
  RT_ASSIGN(const Owned<rd_kafka_event_t> event, question.Answer(what));
  size_t count = 0;
  const rd_kafka_topic_result_t** const results =
      rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event.get()), &count);
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
    if (error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) continue;
    const char* const text = rd_kafka_topic_result_error_string(results[i]);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
      return KafkaStatus(error, text == nullptr ? what : what + " (" + text + ")");
  }
  return Status::Ok();
}

Result<int> ReplicasOf(const KafkaHandle& handle, const std::string& topic, int millis) {
  RT_ASSIGN(const auto metadata, MetadataOf(handle, topic, millis));
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& one = metadata->topics[i];
    if (topic == one.topic && one.err == RD_KAFKA_RESP_ERR_NO_ERROR && one.partition_cnt > 0)
      return one.partitions[0].replica_cnt;
  }
  return 0;
}

}  // namespace rowtide

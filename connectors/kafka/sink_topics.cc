#include "connectors/kafka/sink_topics.h"

namespace rowtide {

Result<int32_t> TopicExists(const std::string& table, const std::string& topic,
                            const KafkaHandle& handle, int millis) {
  if (Status there = handle.AwaitBroker(millis); !there.ok())
    return std::move(there).WithContext("table " + table);
  Result<std::vector<int>> counts = handle.PartitionCounts({topic}, millis);
  if (!counts.ok()) return Status(counts.status()).WithContext("table " + table);
  if (counts->front() > 0) return counts->front();
  const Result<std::vector<std::string>> known = handle.TopicNames(millis);
  const std::string nearest = known.ok() ? Nearest(topic, *known) : "";
  return Status::InvalidArgument("table {}: there is no topic {}", table, Quote(topic))
      .WithErrorCode("RT2017")
      .WithHint(nearest.empty() ? "make it first: Rowtide makes no topics of its own accord"
                                : fmt::format("did you mean {}?", Quote(nearest)));
}

Status CheckTopicOfRow(const std::string& table, const KafkaTopics& topics,
                       const std::string& topic) {
  if (topics.Has(topic)) return Status::Ok();
  if (topics.pattern) {
    return Status::DataError(
        "table {}: The topic of the sink record is not valid. Expected topic to match: {} but was: "
        "{}",
        table, *topics.pattern, topic);
  }
  return Status::DataError(
      "table {}: The topic of the sink record is not valid. Expected topic to be in: [{}] but was: "
      "{}",
      table, fmt::join(topics.names, ", "), topic);
}

}  // namespace rowtide

#include "connectors/kafka/sink_topics.h"

#include <re2/re2.h>

#include <algorithm>

namespace rowtide {
namespace {

constexpr int kAnswerMillis = 30'000;

}  // namespace

Result<int32_t> TopicExists(const std::string& table, const std::string& topic,
                            const KafkaHandle& handle) {
  Result<std::vector<int>> counts = handle.PartitionCounts({topic}, kAnswerMillis);
  if (!counts.ok()) return Status(counts.status()).WithContext("table " + table);
  if (counts->front() > 0) return counts->front();
  const Result<std::vector<std::string>> known = handle.TopicNames(kAnswerMillis);
  const std::string nearest = known.ok() ? Nearest(topic, *known) : "";
  return Status::InvalidArgument("table {}: there is no topic {}", table, Quote(topic))
      .WithErrorCode("RT2017")
      .WithHint(nearest.empty() ? "make it first: Rowtide makes no topics of its own accord"
                                : fmt::format("did you mean {}?", Quote(nearest)));
}

Status CheckTopicOfRow(const std::string& table, const KafkaTopics& topics,
                       const std::string& topic) {
  if (topics.pattern) {
    if (RE2::FullMatch(topic, *topics.pattern)) return Status::Ok();
    return Status::DataError(
        "table {}: The topic of the sink record is not valid. Expected topic to match: {} but was: "
        "{}",
        table, *topics.pattern, topic);
  }
  const std::vector<std::string>& names = topics.names;
  if (std::find(names.begin(), names.end(), topic) != names.end()) return Status::Ok();
  return Status::DataError(
      "table {}: The topic of the sink record is not valid. Expected topic to be in: [{}] but was: "
      "{}",
      table, fmt::join(names, ", "), topic);
}

}  // namespace rowtide

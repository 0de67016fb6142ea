// The topics that a sink writes to: they have to be there, and a row may name only those that its
// table has.
#pragma once

#include <string>

#include "connectors/kafka/options.h"

namespace rowtide {

inline constexpr int kTopicAnswerMillis = 30'000;

// The topic's partitions, or an error that names the nearest topic there is. Asks a broker.
Result<int32_t> TopicExists(const std::string& table, const std::string& topic,
                            const KafkaHandle& handle, int millis = kTopicAnswerMillis);

// Whether a row of the table may go to the topic, by the table's 'topic' or 'topic-pattern'.
Status CheckTopicOfRow(const std::string& table, const KafkaTopics& topics,
                       const std::string& topic);

}  // namespace rowtide

// Questions and orders to a cluster besides records: settings of brokers and topics, new topics.
#pragma once

#include <map>
#include <string>

#include "connectors/kafka/handle.h"

namespace rowtide {

using KafkaConfig = std::map<std::string, std::string>;

Result<KafkaConfig> TopicConfig(const KafkaHandle& handle, const std::string& topic, int millis);
// Of any broker that answers.
Result<KafkaConfig> BrokerConfig(const KafkaHandle& handle, int millis);
// One partition, and as many replicas as the cluster gives by default. Ok if it is there already.
Status CreateTopic(const KafkaHandle& handle, const std::string& topic, const KafkaConfig& config,
                   int millis);
// How many copies there are of partition 0; 0: there is no such topic.
Result<int> ReplicasOf(const KafkaHandle& handle, const std::string& topic, int millis);

}  // namespace rowtide

// Which partitions there are, which of them a lane reads, and at which offsets they begin and end.
//
//   lane = (place of the topic + partition) modulo lanes
//
// so a partition stays with its lane when others come. All offsets are numbers before anything is
// assigned: librdkafka takes half a second to turn a logical one into a number at start. Calls wait
// for brokers, each a bounded time; what may pass is kExternal.
#pragma once

#include <optional>
#include <vector>

#include "connectors/kafka/handle.h"
#include "connectors/kafka/options.h"

namespace rowtide {

// Of all lanes, sorted. Fails when a topic that was named is not there.
Result<std::vector<KafkaTopicPartition>> FindKafkaPartitions(const KafkaHandle& handle,
                                                             const KafkaSourceSpec& spec,
                                                             int millis);
int LaneOfKafkaPartition(const KafkaSourceSpec& spec, const KafkaTopicPartition& at, int lanes);

// Where each of the partitions begins under 'scan.startup.mode', and ends under 'scan.bounded.mode'
// (kNoEnd: never; 0: it is not read).
Result<std::vector<int64_t>> KafkaStartOffsets(const KafkaHandle& handle,
                                               const KafkaSourceSpec& spec,
                                               const std::vector<KafkaTopicPartition>& partitions,
                                               int millis);
Result<std::vector<int64_t>> KafkaEndOffsets(const KafkaHandle& handle, const KafkaSourceSpec& spec,
                                             const std::vector<KafkaTopicPartition>& partitions,
                                             int millis);
// Of partitions that have come later.
Result<std::vector<int64_t>> KafkaOldestOffsets(const KafkaHandle& handle,
                                                const std::vector<KafkaTopicPartition>& partitions,
                                                int millis);

}  // namespace rowtide

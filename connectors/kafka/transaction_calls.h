// The calls of a transactional producer that say themselves whether they are to be made again.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "connectors/kafka/handle.h"

namespace rowtide {

// Again while the error says so, until it has taken `longest`. `what` is in the error; `say` hears
// the first reason to wait.
Status RetryKafka(KafkaHandle& handle, const std::string& what, std::chrono::milliseconds longest,
                  const std::function<rd_kafka_error_t*(int millis)>& call,
                  const std::function<void(const std::string& reason)>& say);

// Offsets of a group as a part of the transaction that is open. Takes no group's members into
// account: nobody else may write them.
rd_kafka_error_t* SendOffsets(const KafkaHandle& handle, const std::string& group,
                              const rd_kafka_topic_partition_list_t* offsets, int millis);

}  // namespace rowtide

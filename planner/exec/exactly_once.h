// The sinks of a plan whose rows become visible together with a checkpoint, in one transaction:
// Kafka tables with 'sink.delivery-guarantee' = 'exactly-once'.
//
// A job has one such transaction, so all of them are on one cluster, with one prefix and the same
// settings of the producer.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kafka/options.h"
#include "planner/exec/plan.h"

namespace rowtide {

struct ExactlyOnceSinks {
  KafkaSinkSpec spec;                                       // of the first one
  std::vector<std::pair<std::string, std::string>> topics;  // table and topic, of all
};
// None: there are none. Errors: two of them do not go together.
Result<std::optional<ExactlyOnceSinks>> ExactlyOnceSinksOf(const ExecPlan& plan);

}  // namespace rowtide

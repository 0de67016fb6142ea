#include "planner/physical/aggregations.h"

namespace rowtide {

Result<std::vector<Aggregation>> AggregationsOf(const PhysicalGroupAggregate& aggregate) {
  std::vector<Aggregation> calls;
  for (size_t i = 0; i < aggregate.calls.size(); ++i) {
    const AggregateCall& call = aggregate.calls[i];
    Aggregation aggregation;
    RT_ASSIGN(aggregation.function, AggregateFunctionByName(call.function));
    aggregation.arguments = call.arguments;
    aggregation.filter = call.filter;
    aggregation.distinct = call.distinct;
    aggregation.retracts = i < aggregate.retracts.size() && aggregate.retracts[i];
    aggregation.type = call.type;
    calls.push_back(std::move(aggregation));
  }
  return calls;
}

}  // namespace rowtide

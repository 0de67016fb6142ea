// A GROUP BY node's calls in the operators' words.
#pragma once

#include <vector>

#include "operators/accumulators.h"
#include "planner/physical/plan.h"

namespace rowtide {

// kUnsupported for a function that has no accumulator.
Result<std::vector<Aggregation>> AggregationsOf(const PhysicalGroupAggregate& aggregate);

}  // namespace rowtide

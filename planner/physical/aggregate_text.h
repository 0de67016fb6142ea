// The aggregate calls of a node as plans print them, with Flink's names for the accumulators that
// go between phases.
//
// single  COUNT(*) AS n         SUM_RETRACT(v) AS s                 COUNT(DISTINCT v) AS d
// local   COUNT(*) AS count1$0  SUM_RETRACT(v) AS (sum$1, count$2)  COUNT(distinct$0 v) AS count$3
// global  COUNT(count1$0) AS n  SUM_RETRACT((sum$1, count$2)) AS s  COUNT(distinct$0 count$3) AS d
#pragma once

#include <string>
#include <vector>

#include "planner/physical/plan.h"

namespace rowtide {

// In order; the local phase ends with its own row count and the DISTINCT entries, which have no
// output column.
std::vector<std::string> AggregateCallTexts(const PhysicalGroupAggregate& node, const Schema& input,
                                            const Schema& output);

}  // namespace rowtide

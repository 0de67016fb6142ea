// Time attributes become plain values where something is computed from them (Flink's
// RelTimeIndicatorConverter).
//
//   ts + INTERVAL '1' SECOND, ts rowtime     +(CAST(ts AS TIMESTAMP(3)), 1000:INTERVAL SECOND)
//   SELECT p, p processing time              PROCTIME_MATERIALIZE(p) at the end of the query
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// The whole tree of one sink or query.
Result<PhysicalPointer> MaterializeTimes(const PhysicalPointer& root, PlannerContext& context);

}  // namespace rowtide

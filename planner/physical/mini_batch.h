// Mini-batch: where bundles are cut, and GROUP BY in two phases.
//
//   GroupAggregate(k)        GlobalGroupAggregate(k)
//     Exchange(k)      ->      Exchange(k)
//       Scan                     LocalGroupAggregate(k)
//                                  MiniBatchAssigner(interval=[1000ms], mode=[ProcTime])
//                                    Scan
//
// The mode is RowTime where a deduplication by event time lies downstream, since that one must not be cut between
// watermarks. A plan without keyed nodes gets none (FLINK-37280).
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// Requires: changelog modes are inferred. Without mini-batch the plan itself.
Result<PhysicalPointer> WithMiniBatch(const PhysicalPointer& root, const PlannerContext& context);

}  // namespace rowtide

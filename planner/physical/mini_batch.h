// Mini-batch: where bundles are cut, and GROUP BY in two phases.
//
//   GroupAggregate(k)        GlobalGroupAggregate(k)
//     Exchange(k)      ->      Exchange(k)
//       Scan                     LocalGroupAggregate(k)
//                                  MiniBatchAssigner(interval=[1000ms], mode=[ProcTime])
//                                    Scan
//
// The mode is RowTime where a deduplication by event time lies downstream, since that one must not
// be cut between watermarks. Statements without such nodes get none (FLINK-37280).
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// All plans of one statement. Requires: changelog modes are inferred. Without mini-batch the plans
// themselves.
Result<std::vector<PhysicalPointer>> WithMiniBatch(std::vector<PhysicalPointer> roots,
                                                   const PlannerContext& context);

}  // namespace rowtide

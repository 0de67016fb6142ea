// Exchanges, ChangelogNormalize and what a scan can take over: the last shape before changelog
// modes are inferred.
//
//   GroupAggregate(k)            GroupAggregate(groupBy=[k])
//     Calc                 ->      Exchange(distribution=[hash[k]])
//       Scan (upsert, key id)        Calc(select=[k, v])
//                                      ChangelogNormalize(key=[id])
//                                        Exchange(distribution=[hash[id]])
//                                          TableSourceScan
//
// An Exchange stands below every keyed node, as in Flink's plans; with one lane it costs nothing.
// Nodes that are planned but cannot run yet (OVER, RANK) are refused later, by to_exec, so that
// EXPLAIN can show them.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> ToPhysical(const PhysicalPointer& rel, PlannerContext& context);

}  // namespace rowtide

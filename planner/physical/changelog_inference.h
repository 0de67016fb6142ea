// Which kinds of rows every node puts out, settled in three passes as in Flink
// (FlinkChangelogModeInferenceProgram).
//
//   1  kinds of change    may a node insert, update, delete? refuses what a sink cannot take
//   2  update kinds       with -U or without; the strategy of rankings; DropUpdateBefore
//   3  delete kinds       whole rows or keys alone; takes ChangelogNormalize out again
//
// Each pass asks from the root to the leaves and answers back. Tables: surface §3, RD §3.3 and §4.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// `root_update`: what a root that is no sink is asked for. kNone = the cheapest it can give
// (EXPLAIN of a query); kBeforeAndAfter = with -U (a query that is run).
Result<PhysicalPointer> InferChangelog(const PhysicalPointer& root, UpdateKind root_update,
                                       PlannerContext& context);

}  // namespace rowtide

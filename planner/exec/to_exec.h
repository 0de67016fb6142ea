// From the inferred physical plan to the execution plan.
//
//   Rank(ROW_NUMBER, [1, 1], no number)   ->   Deduplicate, if the rows are insert-only and ordered
//                                              by one time attribute
//   two equal sub-plans                   ->   one node, `reuse_id` set
//
// A pure function. Sub-plans are equal when they print alike and give the same kinds of rows; the
// largest equal sub-plans are shared. spec: RD §3.1, surface §2.1.
#pragma once

#include <vector>

#include "planner/exec/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// Refuses what Flink refuses here: RANK, DENSE_RANK, and OVER windows that are not ordered by one
// ascending column.
Result<ExecPlan> ToExec(const std::vector<PhysicalPointer>& roots, const PlannerOptions& options);

// kUnsupported, naming the construct, when a node of the plan has no operator yet. EXPLAIN does not
// ask.
Status CheckRunnable(const ExecPlan& plan);

}  // namespace rowtide

// What one change of a word or a clause would make better, and what a plan costs: the lines of
// "Advice" in EXPLAIN, after Flink's sections.
//
//   near miss: ORDER BY amount is no time attribute, so …   a cheaper node was one step away
//   cost: the rank number is in the output: …               what a change costs, what is kept
//   risk: a partition that is added …                       what may go wrong outside of the job
//
// Each line names the clause as the user wrote it. A pure function of the inferred plan; it changes
// nothing.
#pragma once

#include <string>
#include <vector>

#include "planner/physical/plan.h"

namespace rowtide {

// Each line once, in the order of the plan from its root.
std::vector<std::string> Advise(const std::vector<PhysicalPointer>& roots);

// `in orders: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND`, for a column that could be a time
// attribute and is none, since its table has no WATERMARK; "" for others.
std::string MissingWatermark(const PhysicalNode& node, int column);

}  // namespace rowtide

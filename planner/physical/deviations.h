// Where this plan's rows differ from Flink's on purpose: the lines of "Deviations From Flink" (RD
// §15).
//
// Deviations that change the plan itself (15.1, 15.3 to 15.5) are noted where they are decided;
// those that lie in an operator are found here, by looking for the node. With rowtide.flink-compat
// there are none.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

void NoteDeviations(const PhysicalNode& root, PlannerContext& context);

}  // namespace rowtide

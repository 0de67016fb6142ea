// From the logical plan to physical nodes without exchanges: filters and projections merged into
// Calcs, windows split off, aggregates reduced, limits placed. The first step of planning; ranks
// are recognised in what comes out.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> ToRel(const LogicalNode& node, PlannerContext& context);

}  // namespace rowtide

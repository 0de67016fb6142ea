// The passes of planning in their order: logical plan in, inferred physical plan out.
#pragma once

#include <vector>

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// The roots of one statement. INSERTs of one statement set into the same table have become one sink
// over a union.
Result<std::vector<PhysicalPointer>> Optimize(const std::vector<LogicalPointer>& roots,
                                              UpdateKind root_update, PlannerContext& context);

}  // namespace rowtide

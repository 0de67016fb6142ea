// GROUP BY and DISTINCT: equal calls merged, SUM and AVG expressed by fewer calls, groups of one
// row undone.
//
//   AVG(v), SUM(v), COUNT(v)  ->  Calc(CAST(/(s, c)) …) over $SUM0(v), COUNT(v)
#pragma once

#include "planner/logical/plan.h"
#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> MakeAggregate(PhysicalPointer input, const LogicalAggregate& aggregate,
                                      const Schema& schema, PlannerContext& context);

}  // namespace rowtide

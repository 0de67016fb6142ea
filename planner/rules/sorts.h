// ORDER BY … LIMIT and plain LIMIT.
//
//   ORDER BY v DESC LIMIT 3 over (id, v + 1 AS w, v)      Calc(select=[id, +(v, 1) AS w, v])
//                                                           SortLimit(orderBy=[v DESC], fetch=[3])
#pragma once

#include "planner/logical/plan.h"
#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> MakeSort(PhysicalPointer input, const LogicalSort& sort,
                                 PlannerContext& context);

}  // namespace rowtide

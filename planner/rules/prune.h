// What nobody reads is not carried: columns below a ranking, rank numbers, aggregate calls.
//
//   Calc(select=[id])                                 Calc(select=[id])
//     Rank(partitionBy=[g], orderBy=[v])       ->       Rank(select=[g, id, v])
//       Scan(g, id, v, url, extra)                        Calc(select=[g, id, v])
//                                                           Scan
//
// Below a ranking stay: what is read above, the keys of partition and order, the columns of every
// key of the input and the column that bounds it. A number that is always the same (rn = 1) is
// written as a literal above.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> Prune(const PhysicalPointer& node, PlannerContext& context);

}  // namespace rowtide

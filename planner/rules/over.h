// A projection with OVER calls, split into what is computed before, the window itself, and what is
// computed after.
//
//   UPPER(k) AS u, v, ROW_NUMBER() OVER (PARTITION BY UPPER(k) ORDER BY ts) + 1 AS r
//
//   Calc(select=[$2 AS u, v, +(w0$o0, 1) AS r])
//     Over(ROW_NUMBER over [$2], [ts])                 v, ts, $2, w0$o0
//       Calc(select=[v, ts, UPPER(k) AS $2])
//
// A computed column is named `$` and its position (Calcite's CalcRelSplitter), the results `w0$o0`,
// `w0$o1`, ….
#pragma once

#include <optional>
#include <vector>

#include "planner/rules/calcs.h"

namespace rowtide {

// Requires: some projection has an OVER call; no condition. `keeps_all`: columns that the
// projections do not read pass through the window too (a ranking prunes them later, but for keys);
// with QUALIFY they do not.
Result<PhysicalPointer> MakeOver(PhysicalPointer input, CalcParts spec, bool keeps_all,
                                 PlannerContext& context);

// The columns that are read below the window, in order, where a part of a projection is computed
// there; none: the window stands on its input as it is.
std::optional<std::vector<int>> ColumnsBelowWindow(const std::vector<Expression>& projections);

}  // namespace rowtide

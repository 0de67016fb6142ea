// SELECT DISTINCT keys, LATERAL (SELECT … WHERE k = outer.k ORDER BY x LIMIT n): the other spelling
// of Top-N.
#pragma once

#include "planner/logical/plan.h"

namespace rowtide {

// The same as a filtered ROW_NUMBER projection. kUnsupported for any other correlation.
Result<LogicalPointer> LateralToRank(const LogicalCorrelate& correlate, const LogicalNode& node);

}  // namespace rowtide

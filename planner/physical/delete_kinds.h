// Pass 3 of changelog inference: deletes with whole rows or with keys alone; ChangelogNormalize
// that is not needed goes.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> InferDeleteKinds(const PhysicalPointer& root, PlannerContext& context);

}  // namespace rowtide

// Pass 2 of changelog inference: with or without -U; every ranking gets its strategy.
#pragma once

#include <optional>

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// A tree whose root gives `asked`, or none when it cannot. DropUpdateBefore stands where a source
// gives -U that nobody takes. Requires: pass 1. Errors: the rules of sink keys.
Result<std::optional<PhysicalPointer>> InferUpdateKinds(const PhysicalPointer& node,
                                                        UpdateKind asked, PlannerContext& context);
// The root: a sink asks for what its mode and key need; of others `root_update` is asked (kNone:
// without -U if it can).
Result<PhysicalPointer> InferRootUpdateKinds(const PhysicalPointer& root, UpdateKind root_update,
                                             PlannerContext& context);

}  // namespace rowtide

// Pass 1 of changelog inference: kinds of change.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// Settles `trait.kinds` of every node. Errors: a sink or operator cannot take what a node below
// gives.
Result<PhysicalPointer> InferModifyKinds(const PhysicalPointer& root, PlannerContext& context);

// A ranking that keeps one row for each key: ROW_NUMBER, [1, 1], no number.
bool IsDeduplication(const PhysicalRank& rank);
// Among those, what runs as Deduplicate: insert-only input, ORDER BY exactly one time attribute.
bool RunsAsDeduplicate(const PhysicalNode& node);

}  // namespace rowtide

// Top-N recognised: a Calc whose filter bounds the result of a ranking OVER call becomes Calc over
// Rank.
//
//   Calc(select=[g, id], where=[<=(w0$o0, 3)])        Calc(select=[g, id])
//     Over(ROW_NUMBER …)                       ->       Rank(rankRange=[rankStart=1, rankEnd=3])
//
// What counts as a bound is in RD §2.2. An OVER call that is not converted stays; to_physical
// refuses it with the reason.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// The whole tree, inputs first.
Result<PhysicalPointer> RecognizeRanks(const PhysicalPointer& node, PlannerContext& context);

}  // namespace rowtide

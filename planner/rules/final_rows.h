// Batch mode: the same streaming plan, with FinalRows on top of what would put out corrections.
//
//   Sink                        Sink
//     Deduplicate(…)   ->         FinalRows
//                                   Exchange(single)
//                                     Deduplicate(…)
//
// Flink plans batch queries with operators of its own; their rows are those that the changelog of
// the streaming plan folds to, which is what we promise. Under an ORDER BY … LIMIT on top the rows
// come out in its order.
#pragma once

#include "planner/physical/plan.h"

namespace rowtide {

// Before changelog inference, on every plan of a batch job.
PhysicalPointer WithFinalRows(const PhysicalPointer& root);
// After it: takes those away whose input has nothing to correct and that need not sort.
PhysicalPointer WithoutIdleFinalRows(const PhysicalPointer& root);

}  // namespace rowtide

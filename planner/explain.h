// The text of EXPLAIN: its sections under their headings.
//
//   == Abstract Syntax Tree ==
//   …
//
//   == Optimized Physical Plan ==
//   …
//
//   == Optimized Execution Plan ==
//   …
//
//   == Deviations From Flink ==          only when there are any
//   …
#pragma once

#include <string>
#include <vector>

#include "planner/exec/plan.h"
#include "planner/physical/plan.h"

namespace rowtide {

// `ast` is the section's text, lines ended. `changelog_mode`: the physical section shows it.
// Deviations are lines without their ends.
std::string ExplainSections(const std::string& ast, const std::vector<PhysicalPointer>& physical,
                            const ExecPlan& exec, const std::vector<std::string>& deviations,
                            bool changelog_mode = true);

}  // namespace rowtide

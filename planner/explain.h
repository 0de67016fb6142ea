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
//   == Deviations From Flink ==          Rowtide's own, each only when it has lines
//   …
//
//   == Advice ==
//   …
#pragma once

#include <string>
#include <vector>

#include "planner/exec/plan.h"
#include "planner/physical/plan.h"

namespace rowtide {

// A section beyond Flink's; its lines without their ends.
struct OwnSection {
  std::string title;
  std::vector<std::string> lines;
};

// `ast` is the section's text, lines ended. `changelog_mode`: the physical section shows it.
std::string ExplainSections(const std::string& ast, const std::vector<PhysicalPointer>& physical,
                            const ExecPlan& exec, const std::vector<OwnSection>& own,
                            bool changelog_mode = true);

}  // namespace rowtide

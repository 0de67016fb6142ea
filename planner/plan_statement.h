// All stages of planning in a row: from bound statements to the execution plan, and the text of
// every stage.
//
//   logical -> ToRel -> ToPhysical -> changelog inference -> ToExec
//
// The roots of one statement are planned together, so that sinks of a statement set share what they
// have in common.
#pragma once

#include <string>
#include <vector>

#include "planner/exec/plan.h"
#include "planner/logical/plan.h"
#include "planner/options.h"

namespace rowtide {

struct ExplainDetails {
  bool changelog_mode = false;
};

// Of a query that is run, the root puts out -U, as Flink's print and collect ask for.
Result<ExecPlan> PlanJob(const std::vector<LogicalPointer>& roots, const Options& options);
// Flink's three sections, then the deviations that apply.
Result<std::string> ExplainPlan(const std::vector<LogicalPointer>& roots, const Options& options,
                                const ExplainDetails& details);

}  // namespace rowtide

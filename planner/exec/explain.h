// The section "Optimized Execution Plan" of EXPLAIN, as Flink prints it.
//
//   TableSourceScan(table=[[default_catalog, default_database, t]], fields=[k, v])(reuse_id=[1])
//
//   Sink(table=[default_catalog.default_database.a], fields=[k, v])
//   +- Calc(select=[k, v], where=[(v > 1)])
//      +- Reused(reference_id=[1])
//
// With one root a shared node is printed in full where it is met first; with several, before the
// first root that uses it.
#pragma once

#include <string>

#include "planner/exec/plan.h"

namespace rowtide {

// Each line ended, a blank line between trees.
std::string ExplainExec(const ExecPlan& plan);

// One node without its inputs: `Calc(select=[k], where=[(v > 1)])`.
std::string ExecNodeText(const ExecNode& node);

}  // namespace rowtide

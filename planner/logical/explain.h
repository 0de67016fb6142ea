// The section "Abstract Syntax Tree" of EXPLAIN: a logical plan as Flink prints it.
//
//   LogicalProject(k=[$0])
//   +- LogicalFilter(condition=[>($1, 1)])
//      +- LogicalTableScan(table=[[default_catalog, default_database, t]])
#pragma once

#include <string>

#include "planner/logical/plan.h"

namespace rowtide {

// One tree, each line with its newline.
std::string ExplainLogical(const LogicalNode& root);

}  // namespace rowtide

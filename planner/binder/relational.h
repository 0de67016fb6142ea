// Logical nodes made as Calcite's RelBuilder makes them: which projections vanish, which rename
// what is below, and how names are made unique. The section "Abstract Syntax Tree" of EXPLAIN
// depends on each of these rules.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/logical/plan.h"

namespace rowtide {

// k, k, v -> k, k0, v; an empty name becomes $f<position>.
std::vector<std::string> UniqueNames(std::vector<std::string> names);

// A projection that always stands (SELECT). Expressions are simplified as values.
Result<LogicalPointer> ProjectAlways(LogicalPointer input, std::vector<Expression> expressions,
                                     std::vector<std::string> names);
// One that vanishes where it changes neither columns nor names.
Result<LogicalPointer> ProjectIfNeeded(LogicalPointer input, std::vector<Expression> expressions,
                                       std::vector<std::string> names);
// One that vanishes where it changes no columns; a projection or VALUES below takes the new names.
Result<LogicalPointer> ProjectOrRename(LogicalPointer input, std::vector<Expression> expressions,
                                       std::vector<std::string> names);
// The node with other column names: by renaming a projection or VALUES, else by a projection above
// it.
Result<LogicalPointer> Renamed(LogicalPointer input, const std::vector<std::string>& names);

std::vector<Expression> AllColumns(const Schema& schema);  // $0, $1, …

// What RelBuilder does to an expression of a projection: conditions simplified, casts of constants
// done, v + 0 to v.
Result<Expression> SimplifyProjected(const Expression& expression);
// The same for HAVING and ON, where NULL counts as FALSE.
Result<Expression> SimplifyFilter(const Expression& condition);

// Whether the rows of the node differ in these columns: DISTINCT over them does nothing.
bool AreUnique(const LogicalNode& node, const std::vector<int>& columns);

// left JOIN right ON condition; computed sides of equalities become columns below the join.
Result<LogicalPointer> MakeJoin(LogicalPointer left, LogicalPointer right, JoinType type,
                                Expression condition);
Schema JoinSchema(const Schema& left, const Schema& right, JoinType type);

}  // namespace rowtide

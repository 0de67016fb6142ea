// Filters and projections as one node: Calc. Everything between two other nodes merges into one of
// them.
//
//   Project w=v+1                    Calc(select=[k, +(v, 1) AS w], where=[>(v, 0)])
//     Filter v > 0           ->        Scan
//       Scan k, v
//
// MakeCalc is the only place where a Calc is made before exchanges exist, so its rules hold for
// every plan: merging, simplification, constants that a filter settles, pushing into the inputs of
// UNION ALL and below GROUP BY, dropping an identity (whatever its names), and the empty Values of
// a condition that is never true.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// References to all columns of a node.
std::vector<Expression> InputsOfAll(const Schema& schema);
// Plain references, each column once and ascending.
bool IsAscendingSubset(const std::vector<Expression>& projections);
bool IsIdentity(const std::vector<Expression>& projections, const Schema& input);

// The schema of projections under these names; a name already used gets 0, 1, … appended, as in
// Flink.
Schema SchemaOf(const std::vector<Expression>& projections, const std::vector<std::string>& names);

// Whether projections may be written into those above: a value that changes from call to call
// (PROCTIME) must not be computed twice where it was computed once.
bool IsMergeable(const std::vector<Expression>& below, const std::vector<Expression>& above,
                 const std::optional<Expression>& condition);

struct CalcParts {
  std::vector<Expression> projections;
  std::vector<std::string> names;
  std::optional<Expression> condition;
  // No projection was written: constants are not put in place of columns.
  bool only_filters = false;
  // Taken as it is: nothing is made simpler any more.
  bool as_written = false;
};

Result<PhysicalPointer> MakeCalc(PhysicalPointer input, CalcParts spec, PlannerContext& context);
// Only a condition over all columns.
Result<PhysicalPointer> MakeFilter(PhysicalPointer input, Expression condition,
                                   PlannerContext& context);

// A node of no rows.
PhysicalPointer EmptyValues(Schema schema);
bool IsEmptyValues(const PhysicalNode& node);

// Columns that are known to hold one value: by a filter (v = 5), or since they are literals.
std::map<int, Expression> ConstantsOf(const PhysicalNode& node);
// Every known constant written in place of its column; nullable ones only where the column stands
// alone.
Expression WithConstants(const Expression& expression, const std::map<int, Expression>& constants);

}  // namespace rowtide

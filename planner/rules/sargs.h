// Conditions on one column against constants, merged into one set of ranges (Calcite's Sarg).
#pragma once

#include <optional>
#include <vector>

#include "operators/expressions/expression.h"

namespace rowtide {

// Orders two values of one type. Requires: both not NULL.
int CompareConstants(const Value& a, const Value& b);

// The terms of an AND (`conjunction`) or OR that compare one plain column with constants become one
// term, at the place of the first of them; all others stay as they are. A merged term is the
// literal TRUE or FALSE, a comparison, IS NOT NULL, or SEARCH. `unknown_is_false`: the result is a
// condition of which only TRUE counts.
std::vector<Expression> MergeRanges(std::vector<Expression> terms, bool conjunction,
                                    bool unknown_is_false);

// What `term` gives where `known` holds, both comparing the same column with constants: true,
// false, or none (open).
std::optional<bool> Implied(const Expression& known, const Expression& term);

}  // namespace rowtide

// Conditions as Flink looks for the number of a ranking in them: SEARCH written as comparisons
// again, and AND outside of OR. What is left of such a condition stays in that form.
//
//   AND(=(rn, 1), SEARCH(v, Sarg[[2..9]]))     =(rn, 1) | >=(v, 2) | <=(v, 9)
//   OR(AND(a, b), c)                           OR(a, c) | OR(b, c)
#pragma once

#include <vector>

#include "operators/expressions/expression.h"

namespace rowtide {

// `e` with every SEARCH written as comparisons.
Expression WithoutSearch(Expression e);

// The terms of `condition` in conjunctive normal form, each once. Where that would have more than
// twice as many calls, the terms are those of the condition as it is.
std::vector<Expression> NormalConjuncts(const Expression& condition);

// AND(AND(a, b), c): one AND for every further term. Requires: at least one.
Expression NestedAnd(std::vector<Expression> terms);

}  // namespace rowtide

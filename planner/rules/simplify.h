// Expressions made simpler without changing what they give: constants folded, AND and OR merged,
// NOT pushed in.
//
//   v = 1 OR v = 3 OR v = 5          SEARCH(v, Sarg[1, 3, 5])
//   v > 2 AND v > 5                  >(v, 5)
//   NOT (v > 1 AND name = 'x')       OR(<=(v, 1), <>(name, 'x'))
//   v + (1 + 2)                      +(v, 3)                       operands are never re-associated
//
// The rules and their order are Calcite's RexSimplify as Flink's plans show it. A condition (WHERE,
// HAVING) may treat UNKNOWN as FALSE; a value may not.
#pragma once

#include "engine/status.h"
#include "operators/expressions/evaluator.h"
#include "operators/expressions/expression.h"

namespace rowtide {

// A value: SELECT items, arguments. Errors: a constant part that fails (1E0/0).
Result<Expression> SimplifyValue(const Expression& expression, const EvaluationContext& context);
// A condition of which only TRUE counts. FALSE and NULL come out as the literal FALSE.
Result<Expression> SimplifyCondition(const Expression& condition, const EvaluationContext& context);

// The literal as a value of `type`: the literal itself, or CAST(literal AS type) where only
// nullability differs.
Expression ConstantOfType(const Expression& literal, const Type& type);

}  // namespace rowtide

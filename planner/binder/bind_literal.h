// Literals: the type and the value of what stands in the text.
//
//   1 INT 3000000000 BIGINT 1.50 DECIMAL(3, 2) 1E0 DOUBLE 'abc' CHAR(3) TIMESTAMP '… .5'
//   TIMESTAMP(1)
#pragma once

#include "operators/expressions/expression.h"
#include "planner/sql/ast.h"

namespace rowtide {

Result<Expression> BindLiteral(const ast::Literal& literal, SourcePosition position);
// -5 is a literal of its own, so that -2147483648 is an INT.
Result<Expression> BindNegativeNumber(const ast::Literal& literal, SourcePosition position);

// The interval of one unit (`DAY`), and the type of one between units (`DAY TO SECOND`).
Result<Expression> OneOf(const std::string& unit, SourcePosition position);
Result<Type> IntervalTypeOf(const std::string& units, SourcePosition position);

}  // namespace rowtide

// An expression as Flink stores it for DESCRIBE and SHOW CREATE TABLE: names in back-ticks,
// functions in their standard spelling, and no parentheses that precedence makes unnecessary.
//
//   (a+1) * 2 > year(ts)   ->   (`a` + 1) * 2 > EXTRACT(YEAR FROM `ts`)
//
// The text can be parsed again and means the same. unparse.h, in contrast, keeps every call as
// written.
#pragma once

#include <string>

#include "planner/sql/ast.h"

namespace rowtide {

std::string CanonicalText(const ast::Expr& expr);

}  // namespace rowtide

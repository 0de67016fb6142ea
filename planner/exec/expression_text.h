// Expressions as the section "Optimized Execution Plan" prints them: infix, in parentheses, without
// types.
//
//   v > 1 AND b IS TRUE         ((v > 1) AND b IS TRUE)
//   name LIKE 'a%'              LIKE(name, 'a%')
//   CAST(k AS STRING)           CAST(k AS VARCHAR(2147483647))
//   v IN (1, 3)                 SEARCH(v, Sarg[1, 3])
//   a NULL of type INT          null:INTEGER
#pragma once

#include <string>

#include "planner/logical/expression_text.h"

namespace rowtide {

std::string ExecText(const Expression& expression, const InputName& input_name);

}  // namespace rowtide

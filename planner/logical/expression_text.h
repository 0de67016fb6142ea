// Expressions as Flink's plans print them.
//
//   expression                     AST ($i)                  physical plan (names)
//   v = 5, v BIGINT                =($1, 5)                  =(v, 5:BIGINT)
//   CAST(v AS BIGINT)              CAST($1):BIGINT           CAST(v AS BIGINT)
//   v IN (1, 3)                    SEARCH($1, Sarg[1, 3])    SEARCH(v, Sarg[1, 3])
//   TRIM(BOTH ' ' FROM k)          TRIM(FLAG(BOTH), …, $0)   TRIM(FLAG(BOTH), …, k)
//
// The execution plan's infix form lives with the execution plan; it takes `LiteralText` from here.
#pragma once

#include <functional>
#include <string>

#include "operators/expressions/expression.h"

namespace rowtide {

using InputName = std::function<std::string(int column)>;

// As "Abstract Syntax Tree" prints it.
std::string AstText(const Expression& expression);
// As "Optimized Physical Plan" prints it.
std::string PhysicalText(const Expression& expression, const InputName& input_name);

// The literal's value alone: `1`, `1.50`, `1E0`, `_UTF-16LE'x'`, `2020-01-01`, `null`,
// `5000:INTERVAL SECOND`.
std::string LiteralText(const Expression& literal);
// The same without a charset prefix: `'x'`.
std::string BareLiteralText(const Expression& literal);
// False where plans print a literal without its type: INTEGER, BOOLEAN, CHAR of its own length,
// times without fraction.
bool LiteralNeedsType(const Expression& literal);
// `Sarg[(-∞..1), 5, [7..9]; NULL AS TRUE]`, followed by `:BIGINT` where typed.
std::string SargText(const Sarg& sarg, bool with_types);
// `VARCHAR(5) CHARACTER SET "UTF-16LE" NOT NULL`.
std::string FullTypeText(const Type& type);

}  // namespace rowtide

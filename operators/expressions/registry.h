// What scalar functions and operators exist, what types they take and give, and how a call is
// written as an expression.
//
//   MakeCall("=", {d: DATE, 1})     error: = does not compare DATE and INT
//   MakeCall("=", {f: DOUBLE, 1})   =(f, 1: DOUBLE)           operands of = come to one type
//   MakeCall("<", {f: DOUBLE, 1})   <(f, 1: INT)              those of < do not
//   MakeCall("YEAR", {ts})          EXTRACT(FLAG(YEAR), ts)   as Flink rewrites it at once
//
// Names are Flink's, in upper case: `+ - * / MOD || = <> < <= > >= AND OR NOT`, `IS NULL`, `IS NOT
// TRUE`, `SIMILAR TO`, `IS JSON OBJECT`, … Unary minus is `-` of one operand; `%` is MOD. Words
// like YEAR, BOTH, `ON EMPTY` are literals of kSymbol. CASE has when1, then1, …, else. JSON_VALUE's
// RETURNING is no operand: whoever binds it sets the call's type.
// The table of functions is in registry.cc. Aggregates are in aggregate_types.h.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"
#include "operators/expressions/expression.h"

namespace rowtide {

struct Signature {
  Type type;                    // the call's, with its nullability
  std::vector<Type> arguments;  // what each argument has to be brought to; often its own type
};

bool IsScalarFunction(std::string_view name);
// All names that may be called as NAME(…): for "nearest is".
const std::vector<std::string>& ScalarFunctionNames();

// Types of a call. Errors (kValidate) name the function and the argument.
Result<Signature> ResolveFunction(std::string_view name, std::span<const Expression> arguments);

// A whole call: resolved, its arguments coerced, and rewritten where Flink rewrites it.
Result<Expression> MakeCall(std::string_view name, std::vector<Expression> arguments);
// CAST or TRY_CAST; the operand itself when it has the type already.
Result<Expression> MakeCast(Expression operand, const Type& target, bool is_try = false);
// An implicit cast: a literal of the target type where the operand is a literal that fits, else
// CAST. Nullability is the operand's. Requires: CanCast.
Expression CoerceTo(Expression operand, const Type& target);

Expression Symbol(std::string word);
bool IsSymbol(const Expression& expression, std::string_view word);

}  // namespace rowtide

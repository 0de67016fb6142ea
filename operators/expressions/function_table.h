// One row of the table of scalar functions: what it takes, what it gives, when it is NULL.
//
// `takes` spells the arguments, one letter each; `?` begins the optional ones, `*` repeats
// the last:
//   a any       n number           s string             d DATE or timestamp   q timestamp or string
//   b BOOLEAN   x exact number     y bytes              p timestamp           v interval
//   f symbol    i integer          z string or bytes    t DATE, TIME or timestamp
#pragma once

#include <span>
#include <string_view>

#include "engine/status.h"
#include "engine/types.h"
#include "operators/expressions/expression.h"
#include "operators/expressions/kernels.h"

namespace rowtide {

using Arguments = std::span<const Expression>;

enum class Nulls : uint8_t {
  kStrict,  // NULL when an argument is
  kAlways,  // may be NULL whatever the arguments
  kNever,
  kByRule,  // the rule has settled it
};

// How arguments are brought together before the call.
enum class Coercion : uint8_t {
  kNone,
  kEqual,   // = and <>: to the common type
  kOrder,   // < and its kin: only strings beside other things
  kCommon,  // COALESCE: to the common type, where it is not a longer string
  kCase,    // CASE: the branches
};

struct Function {
  const char* name;
  const char* takes;
  Result<Type> (*gives)(Arguments arguments);
  Builder build;
  Nulls nulls = Nulls::kStrict;
  Coercion coercion = Coercion::kNone;
};

const Function* FindFunction(std::string_view name);
std::span<const Function> AllFunctions();

// The branches of a CASE's operands: then1, then2, …, else.
std::vector<Type> CaseBranches(Arguments operands);

}  // namespace rowtide

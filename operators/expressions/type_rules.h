// What types expressions get: Calcite's rules with Flink's type system, as pure functions of types.
//
//   INT + DECIMAL(10, 2)          DECIMAL(13, 2)      integers count as DECIMAL(3|5|10|19, 0)
//   CASE … 'a' … 'bcd'            VARCHAR(3)          CHARs of several lengths become VARCHAR
//   DECIMAL(38, 10) * same        DECIMAL(38, 6)      above 38 digits the scale gives way, to 6
//
// Used by the binder (registry.h builds on it), the planner (set operations, INSERT) and the
// evaluator (which type an operator computes in). Nothing here looks at values.
#pragma once

#include <optional>
#include <span>

#include "engine/types.h"

namespace rowtide {

// The type that all of them can be brought to without a loss that SQL would mind; nullable when one
// of them is.
// None when they do not mix (DATE and TIMESTAMP, numbers and strings).
std::optional<Type> LeastRestrictive(std::span<const Type> types);
// What two values of different types are compared in while the job runs: the wider of FLOAT and
// DOUBLE, and wall-clock time for TIMESTAMP beside TIMESTAMP_LTZ.
std::optional<Type> ComparedIn(const Type& a, const Type& b);
std::optional<Type> LeastRestrictive(const Type& a, const Type& b);

// DECIMAL(19, 0) for BIGINT and so on; a DECIMAL itself. Requires: IsExactNumber.
Type AsDecimal(const Type& type);
// The results of DECIMAL operators (operands as AsDecimal gives them); NOT NULL.
Type DecimalSumType(const Type& a, const Type& b);
Type DecimalProductType(const Type& a, const Type& b);
Type DecimalQuotientType(const Type& a, const Type& b);
Type DecimalRemainderType(const Type& a, const Type& b);
Type DecimalRoundType(const Type& type, int digits);

// + - * of two numbers; nullable when one of them is.
enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kRemainder };
Type ArithmeticType(Arithmetic operation, const Type& a, const Type& b);

// Whether CAST(x AS to) may be written for an x of type `from`.
bool CanCast(const Type& from, const Type& to);
// Different values stay different, so unique and upsert keys survive the cast.
bool IsInjectiveCast(const Type& from, const Type& to);
// Whether INSERT casts a query column of type `from` into a sink column of type `to` by itself.
bool CanInsert(const Type& from, const Type& to);

}  // namespace rowtide

// DECIMAL values as unscaled 128-bit integers: HALF_UP, and nothing instead of a value that has too
// many digits.
//
//   1.20 of DECIMAL(10, 2)   unscaled 120, scale 2
//
// Division is exact to 38 digits before its scale is set, as Flink's (Java's MathContext(38,
// HALF_UP)).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/types.h"

namespace rowtide {

int128 PowerOfTen(int exponent);  // Requires: 0 <= exponent <= 38
// |unscaled| < 10^precision.
bool FitsDigits(int128 unscaled, int precision);
// The value with another scale, rounded HALF_UP; none when it has more digits than `precision`.
std::optional<int128> Rescaled(int128 unscaled, int scale, int precision, int new_scale);

struct DecimalOperand {
  int128 unscaled;
  int scale;
};
// Results in the scale and precision of `result`; none = does not fit (SQL NULL). Requires:
// divisors are not 0.
std::optional<int128> DecimalAdd(DecimalOperand a, DecimalOperand b, const Type& result);
std::optional<int128> DecimalSubtract(DecimalOperand a, DecimalOperand b, const Type& result);
std::optional<int128> DecimalMultiply(DecimalOperand a, DecimalOperand b, const Type& result);
std::optional<int128> DecimalDivide(DecimalOperand a, DecimalOperand b, const Type& result);
std::optional<int128> DecimalRemainder(DecimalOperand a, DecimalOperand b, const Type& result);
int DecimalCompare(DecimalOperand a, DecimalOperand b);  // -1, 0, 1

double DecimalToDouble(int128 unscaled, int scale);
// As BigDecimal.valueOf(double), so by its shortest text; none when it does not fit or is no
// number.
std::optional<int128> DecimalFromDouble(double value, int precision, int scale);

bool FitsInteger(int64_t value, TypeKind kind);
// Characters (code points) of UTF-8 text.
int CountCharacters(std::string_view text);

}  // namespace rowtide

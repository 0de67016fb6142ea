#include "operators/expressions/decimals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "engine/value_text.h"

namespace rowtide {
namespace {

using uint128 = unsigned __int128;

// 256-bit unsigned numbers for products and quotients of 38-digit numbers.
struct Wide {
  uint128 high = 0;
  uint128 low = 0;
};

uint128 Magnitude(int128 value) {
  return value < 0 ? uint128{0} - static_cast<uint128>(value) : static_cast<uint128>(value);
}

Wide Multiply(uint128 a, uint128 b) {
  const uint128 mask = ~uint64_t{0};
  const uint128 a0 = a & mask, a1 = a >> 64, b0 = b & mask, b1 = b >> 64;
  const uint128 p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0, p11 = a1 * b1;
  const uint128 middle = (p00 >> 64) + (p01 & mask) + (p10 & mask);
  return {p11 + (p01 >> 64) + (p10 >> 64) + (middle >> 64), (middle << 64) | (p00 & mask)};
}

struct Division {
  Wide quotient;
  uint128 remainder = 0;
};

// Binary long division; the fast path covers all that fits 128 bits.
Division Divide(Wide dividend, uint128 divisor) {
  if (dividend.high == 0) return {{0, dividend.low / divisor}, dividend.low % divisor};
  Division result;
  result.quotient.high = dividend.high / divisor;
  uint128 remainder = dividend.high % divisor;
  for (int bit = 127; bit >= 0; --bit) {
    const bool carry = (remainder >> 127) != 0;
    remainder = (remainder << 1) | ((dividend.low >> bit) & 1);
    if (carry || remainder >= divisor) {
      remainder -= divisor;
      result.quotient.low |= uint128{1} << bit;
    }
  }
  result.remainder = remainder;
  return result;
}

const std::array<int128, 39>& Powers() {
  static const std::array<int128, 39> powers = [] {
    std::array<int128, 39> list{};
    list[0] = 1;
    for (size_t i = 1; i < list.size(); ++i) list[i] = list[i - 1] * 10;
    return list;
  }();
  return powers;
}

// numerator / denominator, HALF_UP, with a sign; none above `precision` digits.
std::optional<int128> RoundedQuotient(Wide numerator, uint128 denominator, bool negative,
                                      int precision) {
  const Division division = Divide(numerator, denominator);
  if (division.quotient.high != 0) return std::nullopt;
  uint128 quotient = division.quotient.low;
  if (division.remainder >= denominator - division.remainder) ++quotient;
  if (quotient >= Magnitude(PowerOfTen(precision))) return std::nullopt;
  const int128 value = static_cast<int128>(quotient);
  return negative ? -value : value;
}

// A wide magnitude of one scale brought to another, HALF_UP.
std::optional<int128> WideRescaled(Wide magnitude, bool negative, int scale, int precision,
                                   int new_scale) {
  const uint128 limit = Magnitude(PowerOfTen(precision));
  if (new_scale >= scale) {
    if (magnitude.low == 0 && magnitude.high == 0) return int128{0};
    if (magnitude.high != 0 || new_scale - scale > 38) return std::nullopt;
    const Wide scaled = Multiply(magnitude.low, Magnitude(PowerOfTen(new_scale - scale)));
    if (scaled.high != 0 || scaled.low >= limit) return std::nullopt;
    const int128 value = static_cast<int128>(scaled.low);
    return negative ? -value : value;
  }
  int drop = scale - new_scale;
  if (drop <= 38)
    return RoundedQuotient(magnitude, Magnitude(PowerOfTen(drop)), negative, precision);
  // More than 38 digits go: all but the last step cut, and a cut digit above zero cannot make a
  // half here.
  const Division first = Divide(magnitude, Magnitude(PowerOfTen(drop - 38)));
  return RoundedQuotient(first.quotient, Magnitude(PowerOfTen(38)), negative, precision);
}

int CompareWide(const Wide& a, const Wide& b) {
  if (a.high != b.high) return a.high < b.high ? -1 : 1;
  return a.low < b.low ? -1 : a.low > b.low ? 1 : 0;
}

Wide Plus(const Wide& a, const Wide& b) {
  const uint128 low = a.low + b.low;
  return {a.high + b.high + (low < a.low ? 1 : 0), low};
}

Wide Minus(const Wide& a, const Wide& b) {
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

// The sum of numbers that do not fit 128 bits at one scale.
std::optional<int128> WideAdd(DecimalOperand a, DecimalOperand b, const Type& result) {
  const int scale = std::max(a.scale, b.scale);
  const Wide x = Multiply(Magnitude(a.unscaled), Magnitude(PowerOfTen(scale - a.scale)));
  const Wide y = Multiply(Magnitude(b.unscaled), Magnitude(PowerOfTen(scale - b.scale)));
  const bool negative_a = a.unscaled < 0;
  if (negative_a == (b.unscaled < 0)) {
    return WideRescaled(Plus(x, y), negative_a, scale, result.precision, result.scale);
  }
  const bool a_is_larger = CompareWide(x, y) >= 0;
  return WideRescaled(a_is_larger ? Minus(x, y) : Minus(y, x), a_is_larger == negative_a, scale,
                      result.precision, result.scale);
}

// a and b at the larger scale, when both fit 128 bits there.
bool Aligned(DecimalOperand a, DecimalOperand b, int128* left, int128* right, int* scale) {
  *scale = std::max(a.scale, b.scale);
  return !__builtin_mul_overflow(a.unscaled, PowerOfTen(*scale - a.scale), left) &&
         !__builtin_mul_overflow(b.unscaled, PowerOfTen(*scale - b.scale), right);
}

int DigitsOf(uint128 value) {
  int digits = 1;
  while (digits < 39 && value >= Magnitude(PowerOfTen(digits))) ++digits;
  return digits;
}

// numerator * 10^shift / denominator. Requires: 0 <= shift, and a numerator that is short when
// shift > 38.
Division DivideShifted(uint128 numerator, int shift, uint128 denominator) {
  if (shift <= 38) return Divide(Multiply(numerator, Magnitude(PowerOfTen(shift))), denominator);
  const uint128 scaled = numerator * Magnitude(PowerOfTen(shift - 38));
  return Divide(Multiply(scaled, Magnitude(PowerOfTen(38))), denominator);
}

}  // namespace

int128 PowerOfTen(int exponent) { return Powers()[static_cast<size_t>(exponent)]; }

bool FitsDigits(int128 unscaled, int precision) {
  return Magnitude(unscaled) < Magnitude(PowerOfTen(precision));
}

std::optional<int128> Rescaled(int128 unscaled, int scale, int precision, int new_scale) {
  if (scale == new_scale)
    return FitsDigits(unscaled, precision) ? std::optional<int128>(unscaled) : std::nullopt;
  return WideRescaled({0, Magnitude(unscaled)}, unscaled < 0, scale, precision, new_scale);
}

std::optional<int128> DecimalAdd(DecimalOperand a, DecimalOperand b, const Type& result) {
  int128 left, right, sum;
  int scale;
  if (!Aligned(a, b, &left, &right, &scale) || __builtin_add_overflow(left, right, &sum))
    return WideAdd(a, b, result);
  return Rescaled(sum, scale, result.precision, result.scale);
}

std::optional<int128> DecimalSubtract(DecimalOperand a, DecimalOperand b, const Type& result) {
  return DecimalAdd(a, {-b.unscaled, b.scale}, result);
}

std::optional<int128> DecimalMultiply(DecimalOperand a, DecimalOperand b, const Type& result) {
  const int128 left = a.unscaled, right = b.unscaled;
  const bool narrow = left == static_cast<int64_t>(left) && right == static_cast<int64_t>(right);
  if (narrow && a.scale + b.scale == result.scale) {
    const int128 product = left * right;
    return FitsDigits(product, result.precision) ? std::optional<int128>(product) : std::nullopt;
  }
  const bool negative = (left < 0) != (right < 0);
  return WideRescaled(Multiply(Magnitude(a.unscaled), Magnitude(b.unscaled)), negative,
                      a.scale + b.scale, result.precision, result.scale);
}

// First 38 significant digits, HALF_UP, then the result's scale, HALF_UP again.
std::optional<int128> DecimalDivide(DecimalOperand a, DecimalOperand b, const Type& result) {
  const bool negative = (a.unscaled < 0) != (b.unscaled < 0);
  const uint128 numerator = Magnitude(a.unscaled);
  const uint128 denominator = Magnitude(b.unscaled);
  if (numerator == 0) return int128{0};
  // So that the quotient has 38 digits, or 39: then with one less.
  int shift = 38 - DigitsOf(numerator) + DigitsOf(denominator);
  Division division = DivideShifted(numerator, shift, denominator);
  if (division.quotient.high != 0 || division.quotient.low >= Magnitude(PowerOfTen(38))) {
    division = DivideShifted(numerator, --shift, denominator);
  }
  const int quotient_scale = a.scale - b.scale + shift;
  uint128 quotient = division.quotient.low;
  if (division.remainder >= denominator - division.remainder) ++quotient;
  if (quotient_scale < 0) {
    if (-quotient_scale > 38) return std::nullopt;
    return WideRescaled(Multiply(quotient, Magnitude(PowerOfTen(-quotient_scale))), negative, 0,
                        result.precision, result.scale);
  }
  return WideRescaled({0, quotient}, negative, quotient_scale, result.precision, result.scale);
}

std::optional<int128> DecimalRemainder(DecimalOperand a, DecimalOperand b, const Type& result) {
  int128 left, right;
  int scale;
  if (!Aligned(a, b, &left, &right, &scale)) {
    // Only the side of the smaller scale can be too long once scaled up.
    const bool left_overflows = a.scale < b.scale;
    if (!left_overflows) return Rescaled(a.unscaled, a.scale, result.precision, result.scale);
    const Wide wide = Multiply(Magnitude(a.unscaled), Magnitude(PowerOfTen(b.scale - a.scale)));
    const int128 rest = static_cast<int128>(Divide(wide, Magnitude(b.unscaled)).remainder);
    return Rescaled(a.unscaled < 0 ? -rest : rest, b.scale, result.precision, result.scale);
  }
  return Rescaled(left % right, scale, result.precision, result.scale);
}

int DecimalCompare(DecimalOperand a, DecimalOperand b) {
  int128 left, right;
  int scale;
  if (Aligned(a, b, &left, &right, &scale)) return left < right ? -1 : left > right ? 1 : 0;
  const bool negative = a.unscaled < 0;
  if (negative != (b.unscaled < 0)) return negative ? -1 : 1;
  const Wide x = Multiply(Magnitude(a.unscaled), Magnitude(PowerOfTen(scale - a.scale)));
  const Wide y = Multiply(Magnitude(b.unscaled), Magnitude(PowerOfTen(scale - b.scale)));
  const int order = CompareWide(x, y);
  return negative ? -order : order;
}

double DecimalToDouble(int128 unscaled, int scale) {
  const bool exact = FitsDigits(unscaled, 15) && scale <= 22;
  if (exact) return static_cast<double>(static_cast<int64_t>(unscaled)) / std::pow(10.0, scale);
  std::string text;
  AppendDecimal(unscaled, scale, &text);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<int128> DecimalFromDouble(double value, int precision, int scale) {
  if (!std::isfinite(value)) return std::nullopt;
  std::string text;
  AppendJavaDouble(value, &text);
  int128 unscaled;
  bool fits;
  if (!ParseDecimal(text, precision, scale, &unscaled, &fits) || !fits) return std::nullopt;
  return unscaled;
}

bool FitsInteger(int64_t value, TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return value == static_cast<int8_t>(value);
    case TypeKind::kSmallInt: return value == static_cast<int16_t>(value);
    case TypeKind::kInt: return value == static_cast<int32_t>(value);
    default: return true;
  }
}

int CountCharacters(std::string_view text) {
  int count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace rowtide

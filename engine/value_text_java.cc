// Double.toString and Float.toString of Java 17, which Flink runs on.
//
// Java 17 does not print the fewest digits that read back (Java 19 and later do): it develops
// digits of value / 10^k until what is left lies within half a unit of the last bit, and whole
// numbers below 2^63 lose as many digits as their bits cannot tell apart. So 2147483647 as a FLOAT
// is 2.14748365E9, and 1E23 is 9.999999999999999E22.
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "engine/value_text.h"
#include "engine/value_text_digits.h"

namespace rowtide {
namespace {

using Big = boost::multiprecision::cpp_int;
using uint128 = unsigned __int128;

// Digits of a number and the power of ten of the first: 12.5 = {"125", 1}.
struct JavaDigits {
  char text[24];
  int count = 0;
  int exponent = 0;

  void Add(int digit) { text[count++] = static_cast<char>('0' + digit); }
  void RoundUp() {
    int last = count - 1;
    while (last >= 0 && text[last] == '9') text[last--] = '0';
    if (last >= 0) {
      ++text[last];
      return;
    }
    text[0] = '1';  // 9.99 became 10.0
    ++exponent;
  }
};

// A positive finite number: significand * 2^(exponent - 52), with the highest bit of the
// significand at 52; `bits` of it count (53, 24 for FLOAT, fewer for what is denormal).
struct Binary {
  uint64_t significand;
  int exponent;
  int bits;
};

Binary Split(double value) {
  const uint64_t raw = std::bit_cast<uint64_t>(value);
  uint64_t significand = raw & ((uint64_t{1} << 52) - 1);
  int exponent = static_cast<int>(raw >> 52 & 0x7ff);
  if (exponent > 0) return {significand | uint64_t{1} << 52, exponent - 1023, 53};
  const int zeros = std::countl_zero(significand) - 11;
  return {significand << zeros, -1022 - zeros, 53 - zeros};
}

Binary Split(float value) {
  const uint32_t raw = std::bit_cast<uint32_t>(value);
  const uint64_t significand = uint64_t{raw & ((uint32_t{1} << 23) - 1)} << 29;
  const int exponent = static_cast<int>(raw >> 23 & 0xff);
  if (exponent > 0) return {significand | uint64_t{1} << 52, exponent - 127, 24};
  const int zeros = std::countl_zero(significand) - 11;
  return {significand << zeros, -126 - zeros, 24 - zeros};
}

// Digits of a whole number without its last `vague` ones, rounded half up.
JavaDigits WholeDigits(uint64_t number, int vague) {
  JavaDigits digits;
  uint64_t power = 1;
  for (int i = 0; i < vague; ++i) power *= 10;
  if (vague > 0) number = number / power + (number % power >= power / 2 ? 1 : 0);
  char text[24];
  char* const end = text + sizeof(text);
  const char* const begin = PutBackwards(end, number);
  digits.exponent = static_cast<int>(end - begin) - 1 + vague;
  const char* last = end;
  while (last - begin > 1 && last[-1] == '0') --last;
  for (const char* at = begin; at < last; ++at) digits.text[digits.count++] = *at;
  return digits;
}

// The power of ten of the value, sometimes one too high: log10 by its tangent at 1.5.
int EstimatedPower(const Binary& number) {
  const double fraction =
      static_cast<double>(number.significand) / static_cast<double>(uint64_t{1} << 52);
  return static_cast<int>(std::floor((fraction - 1.5) * 0.289529654 + 0.176091259 +
                                     number.exponent * 0.301029995663981));
}

template <typename Number>
Number Scaled(uint64_t factor, int fives, int twos) {
  Number number = static_cast<Number>(factor);
  for (; fives > 0; --fives) number *= 5;
  return number << static_cast<unsigned>(twos);
}

template <>
Big Scaled<Big>(uint64_t factor, int fives, int twos) {
  return (boost::multiprecision::pow(Big(5), static_cast<unsigned>(fives)) * factor)
         << static_cast<unsigned>(twos);
}

// value = rest / unit * 10^exponent; half a unit of the last bit is slack / unit.
struct Ratio {
  uint64_t factor;
  int rest_fives, rest_twos;
  int unit_fives, unit_twos;
  int slack_fives, slack_twos;
};

// Java computes in int and long where the numbers fit, and there the last sum may wrap.
template <typename Number>
Number Sum(const Number& a, const Number& b) {
  if constexpr (std::is_signed_v<Number> && std::is_integral_v<Number>) {
    using Unsigned = std::make_unsigned_t<Number>;
    return static_cast<Number>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  } else {
    return a + b;
  }
}

template <typename Number>
Number TenTimes(const Number& a) {
  if constexpr (std::is_signed_v<Number> && std::is_integral_v<Number>) {
    using Unsigned = std::make_unsigned_t<Number>;
    return static_cast<Number>(static_cast<Unsigned>(a) * 10);
  } else {
    return a * 10;
  }
}

template <typename Number>
void Develop(const Ratio& ratio, JavaDigits* digits) {
  constexpr bool kMayWrap = std::is_same_v<Number, int32_t> || std::is_same_v<Number, int64_t>;
  Number rest = Scaled<Number>(ratio.factor, ratio.rest_fives, ratio.rest_twos);
  Number slack = Scaled<Number>(1, ratio.slack_fives, ratio.slack_twos);
  const Number unit = Scaled<Number>(1, ratio.unit_fives, ratio.unit_twos);
  const Number tens = TenTimes(unit);
  const auto next = [&] {
    const int digit = static_cast<int>(Number(rest / unit));
    rest = TenTimes(Number(rest % unit));
    slack = TenTimes(slack);
    return digit;
  };
  bool low = false;
  bool high = false;
  const auto look = [&] {
    const Number above = Sum(rest, slack);
    low = rest < slack;
    high = kMayWrap ? above > tens : above >= tens;
  };
  const int first = next();
  look();
  if (first == 0 && !high) {
    --digits->exponent;
  } else {
    digits->Add(first);
  }
  // With an exponent there are at least two digits: 1.4E-45, though 1E-45 would read back.
  if (digits->exponent < -3 || digits->exponent >= 8) low = high = false;
  while (!low && !high) {
    const int digit = next();
    look();
    if (slack <= 0) low = high = true;
    digits->Add(digit);
  }
  if (!high) return;
  if (!low) return digits->RoundUp();
  // Beside half of the last digit; (rest + rest) - tens may wrap, rest - (tens - rest) does not.
  const Number other = tens - rest;
  if (rest > other || (rest == other && (digits->text[digits->count - 1] & 1) != 0))
    digits->RoundUp();
}

// Bits of 5^fives; above 26 Java takes a bound.
int BitsOfFives(int fives) {
  if (fives > 26) return fives * 3;
  return fives == 0 ? 0 : fives * 2321928 / 1000000 + 1;
}

JavaDigits DigitsOf(const Binary& number) {
  const int tail = std::countr_zero(number.significand);
  const int used = 53 - tail;
  const int behind_point = std::max(0, used - number.exponent - 1);
  if (behind_point == 0 && number.exponent <= 62) {
    const int unsure = number.exponent > number.bits ? number.exponent - number.bits - 1 : 0;
    const uint64_t whole = number.exponent >= 52 ? number.significand << (number.exponent - 52)
                                                 : number.significand >> (52 - number.exponent);
    return WholeDigits(whole, unsure > 1 ? unsure * 30103 / 100000 : 0);
  }
  JavaDigits digits;
  digits.exponent = EstimatedPower(number);
  Ratio ratio{};
  ratio.factor = number.significand >> tail;
  ratio.rest_fives = std::max(0, -digits.exponent);
  ratio.rest_twos = ratio.rest_fives + behind_point + number.exponent;
  ratio.unit_fives = std::max(0, digits.exponent);
  ratio.unit_twos = ratio.unit_fives + behind_point;
  ratio.slack_fives = ratio.rest_fives;
  ratio.slack_twos = ratio.rest_twos - number.bits;
  ratio.rest_twos -= used - 1;
  const int shared = std::min(ratio.rest_twos, ratio.unit_twos);
  ratio.rest_twos -= shared;
  ratio.unit_twos -= shared;
  ratio.slack_twos -= shared;
  if (used == 1) --ratio.slack_twos;  // below a power of two the numbers lie closer
  if (ratio.slack_twos < 0) {
    ratio.rest_twos -= ratio.slack_twos;
    ratio.unit_twos -= ratio.slack_twos;
    ratio.slack_twos = 0;
  }
  const int rest_bits = used + ratio.rest_twos + BitsOfFives(ratio.rest_fives);
  const int unit_bits = ratio.unit_twos + 1 + BitsOfFives(ratio.unit_fives + 1);
  const int bits = std::max(rest_bits, unit_bits);
  if (bits < 32) {
    Develop<int32_t>(ratio, &digits);
  } else if (bits < 64) {
    Develop<int64_t>(ratio, &digits);
  } else if (bits < 120) {
    Develop<uint128>(ratio, &digits);
  } else {
    Develop<Big>(ratio, &digits);
  }
  return digits;
}

template <typename Float>
void AppendJava(Float value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
    return;
  }
  if (std::signbit(value)) *out += '-';
  const Float magnitude = std::fabs(value);
  if (std::isinf(value)) {
    out->append("Infinity");
    return;
  }
  if (magnitude == 0) {
    out->append("0.0");
    return;
  }
  const JavaDigits digits = DigitsOf(Split(magnitude));
  if (digits.exponent >= -3 && digits.exponent < 7) {
    AppendPlainDigits(digits.text, digits.count, digits.exponent, out);
    return;
  }
  *out += digits.text[0];
  *out += '.';
  if (digits.count == 1) *out += '0';
  out->append(digits.text + 1, static_cast<size_t>(digits.count - 1));
  *out += 'E';
  AppendInteger(digits.exponent, out);
}

}  // namespace

void AppendJavaDouble(double value, std::string* out) { AppendJava(value, out); }
void AppendJavaFloat(float value, std::string* out) { AppendJava(value, out); }

}  // namespace rowtide

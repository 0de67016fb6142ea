// Numbers to text and back.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "engine/value_text.h"
#include "engine/value_text_digits.h"

namespace rowtide {
namespace {

using uint128 = unsigned __int128;

// A number as digits and the power of ten of its first digit: 12.5 = {"125", 1}.
struct Digits {
  char text[20];
  int count = 0;
  int exponent = 0;
};

template <typename Float>
Digits ShortestDigits(Float magnitude) {
  char buffer[40];
  const char* end =
      std::to_chars(buffer, buffer + sizeof(buffer), magnitude, std::chars_format::scientific).ptr;
  Digits digits;
  const char* at = buffer;
  for (; at < end && *at != 'e'; ++at) {
    if (*at != '.') digits.text[digits.count++] = *at;
  }
  const char* exponent = at + 1 + (at[1] == '+' ? 1 : 0);
  std::from_chars(exponent, end, digits.exponent);
  return digits;
}

template <typename Float>
void AppendRepr(Float value, std::string* out) {
  if (!std::isfinite(value)) {
    out->append(std::isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
    return;
  }
  if (std::signbit(value)) *out += '-';
  const Float magnitude = std::fabs(value);
  if (magnitude == 0) {
    out->append("0.0");
    return;
  }
  const Digits digits = ShortestDigits(magnitude);
  if (digits.exponent >= -4 && digits.exponent < 16) {
    AppendPlainDigits(digits.text, digits.count, digits.exponent, out);
    return;
  }
  *out += digits.text[0];
  if (digits.count > 1) {
    *out += '.';
    out->append(digits.text + 1, static_cast<size_t>(digits.count - 1));
  }
  out->append(digits.exponent < 0 ? "e-" : "e+");
  const int exponent = std::abs(digits.exponent);
  if (exponent < 10) *out += '0';
  AppendInteger(exponent, out);
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The parts of [+-]digits[.digits][e[+-]digits].
struct NumberText {
  bool negative = false;
  std::string_view whole;
  std::string_view fraction;
  int exponent = 0;
};

std::string_view TakeDigits(std::string_view* text) {
  size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

bool SplitNumber(std::string_view text, NumberText* number) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    number->negative = text[0] == '-';
    text.remove_prefix(1);
  }
  number->whole = TakeDigits(&text);
  if (!text.empty() && text[0] == '.') {
    text.remove_prefix(1);
    number->fraction = TakeDigits(&text);
  }
  if (number->whole.empty() && number->fraction.empty()) return false;
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const std::string_view digits = TakeDigits(&text);
  if (digits.empty() || !text.empty()) return false;
  if (digits.size() > 6) {
    number->exponent = negative ? -999'999 : 999'999;
  } else {
    std::from_chars(digits.data(), digits.data() + digits.size(), number->exponent);
    if (negative) number->exponent = -number->exponent;
  }
  return true;
}

// The power of ten of the first digit that is not 0.
int64_t PowerOfFirstDigit(const NumberText& number) {
  const size_t whole = number.whole.find_first_not_of('0');
  if (whole != std::string_view::npos)
    return number.exponent + static_cast<int64_t>(number.whole.size() - whole) - 1;
  const size_t fraction = std::min(number.fraction.find_first_not_of('0'), number.fraction.size());
  return number.exponent - static_cast<int64_t>(fraction) - 1;
}

}  // namespace

void AppendPlainDigits(const char* digits, int count, int exponent, std::string* out) {
  if (exponent < 0) {
    out->append("0.");
    out->append(static_cast<size_t>(-exponent - 1), '0');
    out->append(digits, static_cast<size_t>(count));
    return;
  }
  const int whole = exponent + 1;
  if (count <= whole) {
    out->append(digits, static_cast<size_t>(count));
    out->append(static_cast<size_t>(whole - count), '0');
    out->append(".0");
    return;
  }
  out->append(digits, static_cast<size_t>(whole));
  *out += '.';
  out->append(digits + whole, static_cast<size_t>(count - whole));
}

void AppendScriptDouble(double value, std::string* out) { AppendRepr(value, out); }
void AppendScriptFloat(float value, std::string* out) { AppendRepr(value, out); }

void AppendDecimal(int128 unscaled, int scale, std::string* out) {
  char buffer[48];
  char* const end = buffer + sizeof(buffer);
  const bool negative = unscaled < 0;
  uint128 rest =
      negative ? uint128{0} - static_cast<uint128>(unscaled) : static_cast<uint128>(unscaled);
  char* begin = end;
  constexpr uint64_t kChunk = 1'000'000'000'000'000'000;  // 18 digits
  while (rest >= kChunk) {
    char* const at = begin - 18;
    char* const first = PutBackwards(begin, static_cast<uint64_t>(rest % kChunk));
    std::memset(at, '0', static_cast<size_t>(first - at));
    begin = at;
    rest /= kChunk;
  }
  begin = PutBackwards(begin, static_cast<uint64_t>(rest));
  while (end - begin <= scale) *--begin = '0';
  if (negative) *out += '-';
  const size_t digits = static_cast<size_t>(end - begin);
  out->append(begin, digits - static_cast<size_t>(scale));
  if (scale > 0) {
    *out += '.';
    out->append(end - scale, static_cast<size_t>(scale));
  }
}

bool ParseInt64(std::string_view text, int64_t* value) {
  if (!text.empty() && text[0] == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text[0] == '-') return false;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseDouble(std::string_view text, double* value) {
  if (text == "NaN") {
    *value = std::nan("");
    return true;
  }
  if (text == "Infinity" || text == "+Infinity" || text == "-Infinity") {
    *value = text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    return true;
  }
  NumberText parts;
  if (!SplitNumber(text, &parts)) return false;
  if (text[0] == '+') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  if (error == std::errc::result_out_of_range) {
    // from_chars leaves the value alone: too small is 0, too large infinite, as Java reads it.
    *value = PowerOfFirstDigit(parts) < 0 ? 0.0 : HUGE_VAL;
    if (parts.negative) *value = -*value;
    return true;
  }
  return error == std::errc() && end == text.data() + text.size();
}

bool ParseDecimal(std::string_view text, int precision, int scale, int128* unscaled, bool* fits) {
  NumberText number;
  if (!SplitNumber(text, &number)) return false;
  *fits = true;
  *unscaled = 0;
  std::string digits(number.whole);
  digits += number.fraction;
  const size_t zeros = digits.find_first_not_of('0');
  if (zeros == std::string::npos) return true;
  // The number is 0.digits * 10^point; `keep` of the digits are at or above the scale.
  const int64_t point =
      static_cast<int64_t>(number.whole.size()) + number.exponent - static_cast<int64_t>(zeros);
  digits.erase(0, zeros);
  const int64_t keep = point + scale;
  if (keep > precision) {
    *fits = false;
    return true;
  }
  if (keep < 0) return true;
  uint128 value = 0;
  for (int64_t i = 0; i < keep; ++i) {
    value = value * 10 + (static_cast<size_t>(i) < digits.size()
                              ? static_cast<uint128>(digits[static_cast<size_t>(i)] - '0')
                              : 0);
  }
  if (static_cast<size_t>(keep) < digits.size() && digits[static_cast<size_t>(keep)] >= '5')
    ++value;
  uint128 limit = 1;
  for (int i = 0; i < precision; ++i) limit *= 10;
  if (value >= limit) {
    *fits = false;
    return true;
  }
  *unscaled = number.negative ? -static_cast<int128>(value) : static_cast<int128>(value);
  return true;
}

}  // namespace rowtide

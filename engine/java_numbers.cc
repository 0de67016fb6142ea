#include "engine/java_numbers.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <charconv>
#include <limits>
#include <string>

#include "engine/value_text.h"

namespace rowtide {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// 0x1.8p3: the exponent is a must.
template <typename Float>
bool ReadHex(std::string_view text, Float* value) {
  text.remove_prefix(2);
  const size_t power = text.find_first_of("pP");
  if (power == std::string_view::npos || power + 1 == text.size()) return false;
  std::string plain(text);
  if (plain[power + 1] == '+') plain.erase(power + 1, 1);
  const char* const end = plain.data() + plain.size();
  const auto [stop, error] = std::from_chars(plain.data(), end, *value, std::chars_format::hex);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range)
    *value = plain[power + 1] == '-' ? Float(0) : std::numeric_limits<Float>::infinity();
  return true;
}

template <typename Float>
bool ReadDigits(std::string_view text, Float* value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value);
  if (error != std::errc::result_out_of_range) return error == std::errc() && stop == end;
  double wide = 0;
  if (!ParseDouble(text, &wide)) return false;
  *value = static_cast<Float>(wide);
  return true;
}

template <typename Float>
bool ReadFloating(std::string_view text, Float* value) {
  text = JavaTrimmed(text);
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return false;
  if (text == "NaN" || text == "Infinity") {
    *value = text == "NaN" ? std::numeric_limits<Float>::quiet_NaN()
                           : std::numeric_limits<Float>::infinity();
  } else {
    const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (text.size() > 1 && std::string_view("fFdD").find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    if (!hex && !IsDigit(text[0]) && text[0] != '.') return false;
    if (hex ? !ReadHex(text, value) : !ReadDigits(text, value)) return false;
  }
  if (negative) *value = -*value;
  return true;
}

// Decimal digits of other scripts as 0 to 9. False where there are none, or no UTF-8.
bool WithPlainDigits(std::string_view text, std::string* plain) {
  bool any = false;
  int32_t at = 0;
  const auto size = static_cast<int32_t>(text.size());
  while (at < size) {
    const int32_t begin = at;
    UChar32 c;
    U8_NEXT(text.data(), at, size, c);
    if (c < 0) return false;
    const int32_t digit = c < 0x80 ? -1 : u_charDigitValue(c);
    if (digit >= 0) {
      *plain += static_cast<char>('0' + digit);
      any = true;
    } else {
      plain->append(text.substr(static_cast<size_t>(begin), static_cast<size_t>(at - begin)));
    }
  }
  return any;
}

}  // namespace

std::string_view JavaTrimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

bool ParseJavaDouble(std::string_view text, double* value) { return ReadFloating(text, value); }
bool ParseJavaFloat(std::string_view text, float* value) { return ReadFloating(text, value); }

bool ParseJavaInteger(std::string_view text, int64_t lowest, int64_t highest, int64_t* value) {
  if (ParseInt64(text, value)) return *value >= lowest && *value <= highest;
  std::string plain;
  return WithPlainDigits(text, &plain) && ParseInt64(plain, value) && *value >= lowest &&
         *value <= highest;
}

bool ParseJavaDecimal(std::string_view text, int precision, int scale, int128* unscaled,
                      bool* fits) {
  if (ParseDecimal(text, precision, scale, unscaled, fits)) return true;
  std::string plain;
  return WithPlainDigits(text, &plain) && ParseDecimal(plain, precision, scale, unscaled, fits);
}

}  // namespace rowtide

#include "connectors/formats/csv_values.h"

#include <charconv>
#include <cmath>

#include "connectors/formats/iso_times.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// Java's String.trim: everything up to the blank.
std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

// strtod's part for Java: a sign, digits or NaN or Infinity, and one of f F d D at the end.
template <typename Number>
bool FloatingPoint(std::string_view text, Number* value) {
  text = Trim(text);
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "NaN" || text == "Infinity") {
    *value = static_cast<Number>(text == "NaN" ? NAN : negative ? -INFINITY : INFINITY);
    return true;
  }
  if (!text.empty() && std::string_view("fFdD").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  if (text.empty() || (text.front() != '.' && (text.front() < '0' || text.front() > '9')))
    return false;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *value, std::chars_format::general);
  if (stop != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    // Too large or too small: what decides is the sign of the exponent, or the size without one.
    const size_t exponent = text.find_first_of("eE");
    const bool tiny = exponent != std::string_view::npos
                          ? text[exponent + 1] == '-'
                          : text.front() == '.' || text.front() == '0';
    *value = tiny ? Number(0) : static_cast<Number>(INFINITY);
  }
  if (negative) *value = -*value;
  return true;
}

}  // namespace

bool CsvIntegerSlowly(std::string_view text, int64_t low, int64_t high, int64_t* value) {
  text = Trim(text);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= low &&
         *value <= high;
}

bool CsvBoolean(std::string_view text) { return EqualsIgnoringCase(Trim(text), "true"); }
bool CsvDouble(std::string_view text, double* value) { return FloatingPoint(text, value); }
bool CsvFloat(std::string_view text, float* value) { return FloatingPoint(text, value); }

bool CsvDecimal(std::string_view text, const Type& type, int128* unscaled, bool* fits) {
  return ParseDecimal(Trim(text), type.precision, type.scale, unscaled, fits);
}

// java.sql.Date.valueOf: months and days of one digit too, and 02-30 is 03-02.
bool CsvDate(std::string_view text, int32_t* days) {
  int64_t year, month, day;
  if (!TakeDigits(&text, 4, 4, &year) || !TakeCharacter(&text, '-') ||
      !TakeDigits(&text, 1, 2, &month) || !TakeCharacter(&text, '-') ||
      !TakeDigits(&text, 1, 2, &day) || !text.empty()) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  *days = static_cast<int32_t>(DaysFromCivil(year, static_cast<int>(month), 1) + day - 1);
  return true;
}

bool CsvTime(std::string_view text, int precision, int32_t* millis) {
  int64_t nanos;
  if (!TakeIsoTime(&text, false, &nanos) || !text.empty() || nanos >= kNanosOfDay) return false;
  constexpr int kUnits[] = {1000, 100, 10, 1};
  const int unit = kUnits[std::min(precision, 3)];
  *millis = static_cast<int32_t>(nanos / 1000000 / unit * unit);
  return true;
}

bool CsvTimestamp(std::string_view text, bool zoned, WideTime* time) {
  int64_t days, nanos;
  if (!TakeIsoDate(&text, DayOverflow::kLastDay, &days) || !TakeCharacter(&text, ' ') ||
      !TakeIsoTime(&text, true, &nanos))
    return false;
  if (zoned && !TakeCharacter(&text, 'Z')) return false;
  if (!text.empty() || nanos > kNanosOfDay) return false;
  time->millis = days * 86400000 + nanos / 1000000;
  time->nanos = static_cast<int32_t>(nanos % 1000000);
  return true;
}

bool CsvMillis::ParseDay(const char* text) {
  std::string_view day(text, 10);
  int64_t days;
  if (!TakeIsoDate(&day, DayOverflow::kLastDay, &days)) return false;
  day_head_ = LoadEight(text);
  std::memcpy(&day_end_, text + 8, 2);
  day_millis_ = days * 86400000;
  return true;
}

}  // namespace rowtide

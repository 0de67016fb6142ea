#include "connectors/formats/csv_values.h"

#include "connectors/formats/iso_times.h"
#include "engine/java_numbers.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] + 32) : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

}  // namespace

bool CsvIntegerSlowly(std::string_view text, int64_t low, int64_t high, int64_t* value) {
  return ParseJavaInteger(JavaTrimmed(text), low, high, value);
}

bool CsvIsFalse(std::string_view text) { return EqualsIgnoringCase(JavaTrimmed(text), "false"); }
bool CsvBoolean(std::string_view text) { return EqualsIgnoringCase(JavaTrimmed(text), "true"); }

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
  text = JavaTrimmed(text);
  if (!TakeIsoDate(&text, DayOverflow::kLastDay, &days) || !TakeCharacter(&text, ' ') ||
      !TakeIsoTime(&text, true, &nanos))
    return false;
  if (zoned && !TakeCharacter(&text, 'Z')) return false;
  if (!text.empty() || nanos > kNanosOfDay) return false;
  time->millis = days * 86400000 + nanos / 1000000;
  time->nanos = static_cast<int32_t>(nanos % 1000000);
  return true;
}

}  // namespace rowtide

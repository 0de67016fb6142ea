#include "connectors/formats/csv_values.h"

#include <charconv>
#include <cmath>

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

// Takes between `least` and `most` digits off the front.
bool TakeDigits(std::string_view* text, size_t least, size_t most, int64_t* value) {
  size_t count = 0;
  *value = 0;
  while (count < most && count < text->size() && (*text)[count] >= '0' && (*text)[count] <= '9') {
    *value = *value * 10 + ((*text)[count++] - '0');
  }
  text->remove_prefix(count);
  return count >= least;
}

bool Take(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

int DaysOfMonth(int64_t year, int64_t month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[month - 1] + (month == 2 && leap ? 1 : 0);
}

// Days since 1970 of a valid year, month and day (Howard Hinnant's days-from-civil).
int64_t Days(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yoe = year - era * 400;
  const int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

// `yyyy-MM-dd`; a day that the month does not have becomes its last one, as Java's smart resolving
// does.
bool TakeIsoDate(std::string_view* text, int64_t* days) {
  int64_t year, month, day;
  if (!TakeDigits(text, 4, 4, &year) || !Take(text, '-') || !TakeDigits(text, 2, 2, &month) ||
      !Take(text, '-') || !TakeDigits(text, 2, 2, &day)) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  *days = Days(year, month, std::min<int64_t>(day, DaysOfMonth(year, month)));
  return true;
}

// `HH:mm[:ss[.n…]]` up to nine digits; nanoseconds of the day.
bool TakeIsoTime(std::string_view* text, bool needs_seconds, int64_t* nanos) {
  int64_t hour, minute, second = 0, fraction = 0;
  if (!TakeDigits(text, 2, 2, &hour) || !Take(text, ':') || !TakeDigits(text, 2, 2, &minute))
    return false;
  if (Take(text, ':')) {
    if (!TakeDigits(text, 2, 2, &second)) return false;
    if (Take(text, '.')) {
      const size_t before = text->size();
      if (!TakeDigits(text, 0, 9, &fraction)) return false;
      for (size_t digits = before - text->size(); digits < 9; ++digits) fraction *= 10;
    }
  } else if (needs_seconds) {
    return false;
  }
  if (hour > 24 || minute > 59 || second > 59) return false;
  *nanos = ((hour * 60 + minute) * 60 + second) * 1000000000 + fraction;
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
  if (!TakeDigits(&text, 4, 4, &year) || !Take(&text, '-') || !TakeDigits(&text, 1, 2, &month) ||
      !Take(&text, '-') || !TakeDigits(&text, 1, 2, &day) || !text.empty()) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  *days = static_cast<int32_t>(Days(year, month, 1) + day - 1);
  return true;
}

bool CsvTime(std::string_view text, int precision, int32_t* millis) {
  int64_t nanos;
  if (!TakeIsoTime(&text, false, &nanos) || !text.empty() || nanos >= 86400LL * 1000000000)
    return false;
  constexpr int kUnits[] = {1000, 100, 10, 1};
  const int unit = kUnits[std::min(precision, 3)];
  *millis = static_cast<int32_t>(nanos / 1000000 / unit * unit);
  return true;
}

bool CsvTimestamp(std::string_view text, bool zoned, WideTime* time) {
  int64_t days, nanos;
  if (!TakeIsoDate(&text, &days) || !Take(&text, ' ') || !TakeIsoTime(&text, true, &nanos))
    return false;
  if (zoned && !Take(&text, 'Z')) return false;
  if (!text.empty() || nanos > 86400LL * 1000000000) return false;
  time->millis = days * 86400000 + nanos / 1000000;
  time->nanos = static_cast<int32_t>(nanos % 1000000);
  return true;
}

bool CsvMillis::ParseDay(const char* text) {
  std::string_view day(text, 10);
  int64_t days;
  if (!TakeIsoDate(&day, &days)) return false;
  day_head_ = LoadEight(text);
  std::memcpy(&day_end_, text + 8, 2);
  day_millis_ = days * 86400000;
  return true;
}

bool CsvBase64(std::string_view text, std::string* bytes) {
  bytes->clear();
  uint32_t bits = 0;
  int count = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] != '='; ++i) {
    const char c = text[i];
    int value;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    else if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    else if (c >= '0' && c <= '9') value = c - '0' + 52;
    else if (c == '+') value = 62;
    else if (c == '/') value = 63;
    else return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count == 4) {
      bytes->append(
          {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)});
      bits = 0;
      count = 0;
    }
  }
  const size_t padding = text.size() - i;
  for (size_t j = i; j < text.size(); ++j) {
    if (text[j] != '=') return false;
  }
  if (count == 0) return padding == 0;
  if (count == 1 || padding != 4 - static_cast<size_t>(count)) return false;
  bits <<= 6 * (4 - count);
  bytes->push_back(static_cast<char>(bits >> 16));
  if (count == 3) bytes->push_back(static_cast<char>(bits >> 8));
  return true;
}

}  // namespace rowtide

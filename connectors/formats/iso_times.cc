#include "connectors/formats/iso_times.h"

#include <algorithm>

#include "engine/value_text.h"

namespace rowtide {

bool TakeDigits(std::string_view* text, size_t least, size_t most, int64_t* value) {
  size_t count = 0;
  *value = 0;
  while (count < most && count < text->size() && (*text)[count] >= '0' && (*text)[count] <= '9') {
    *value = *value * 10 + ((*text)[count++] - '0');
  }
  text->remove_prefix(count);
  return count >= least;
}

bool TakeCharacter(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

namespace {

bool TakeYear(std::string_view* text, int64_t* year) {
  const char sign = text->empty() ? '\0' : text->front();
  if (sign != '-' && sign != '+') return TakeDigits(text, 4, 4, year);
  text->remove_prefix(1);
  if (!TakeDigits(text, sign == '+' ? 5 : 4, 9, year) || *year > kLastYear) return false;
  if (sign == '-') *year = -*year;
  return true;
}

}  // namespace

bool TakeIsoDate(std::string_view* text, DayOverflow overflow, int64_t* days) {
  int64_t year, month, day;
  if (!TakeYear(text, &year) || !TakeCharacter(text, '-') || !TakeDigits(text, 2, 2, &month) ||
      !TakeCharacter(text, '-') || !TakeDigits(text, 2, 2, &day)) {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) return false;
  const int last = DaysOfMonth(year, static_cast<int>(month));
  if (day > last && overflow == DayOverflow::kError) return false;
  *days = DaysFromCivil(year, static_cast<int>(month), std::min(static_cast<int>(day), last));
  return true;
}

bool TakeIsoTime(std::string_view* text, bool needs_seconds, int64_t* nanos) {
  int64_t hour, minute, second = 0, fraction = 0;
  if (!TakeDigits(text, 2, 2, &hour) || !TakeCharacter(text, ':') ||
      !TakeDigits(text, 2, 2, &minute)) {
    return false;
  }
  if (TakeCharacter(text, ':')) {
    if (!TakeDigits(text, 2, 2, &second)) return false;
    if (TakeCharacter(text, '.')) {
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

}  // namespace rowtide

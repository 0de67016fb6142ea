// Dates and times to text and back, the calendar, and time zones.
#include <date/tz.h>

#include <charconv>
#include <cstring>
#include <optional>

#include "engine/value_text.h"
#include "engine/value_text_digits.h"
#include "engine/zone_rules.h"

namespace rowtide {
namespace {

constexpr int64_t kDayMillis = 86'400'000;

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

char* PutMonthAndDay(char* at, int month, int day) {
  at[0] = '-';
  PutPair(at + 1, static_cast<uint32_t>(month));
  at[3] = '-';
  PutPair(at + 4, static_cast<uint32_t>(day));
  return at + 6;
}

// `2026-01-02` at `at`; returns its end. Other years are `-0004` and `+10000`, as in ISO 8601.
char* PutDate(char* at, int64_t days) {
  int64_t year;
  int month, day;
  CivilFromDays(days, &year, &month, &day);
  if (year < 0) {
    *at++ = '-';
    year = -year;
  } else if (year > 9999) {
    *at++ = '+';
  }
  if (year > 9999) {
    char digits[24];
    char* const first = PutBackwards(digits + sizeof(digits), static_cast<uint64_t>(year));
    const size_t count = static_cast<size_t>(digits + sizeof(digits) - first);
    std::memcpy(at, first, count);
    at += count;
  } else {
    PutPair(at, static_cast<uint32_t>(year / 100));
    PutPair(at + 2, static_cast<uint32_t>(year % 100));
    at += 4;
  }
  return PutMonthAndDay(at, month, day);
}

// As CAST writes it: the last four digits of the year, each as '0' + digit whatever its sign.
char* PutCastDate(char* at, int64_t days) {
  int64_t year;
  int month, day;
  CivilFromDays(days, &year, &month, &day);
  for (int64_t power = 1000; power > 0; power /= 10)
    *at++ = static_cast<char>('0' + year / power % 10);
  return PutMonthAndDay(at, month, day);
}

// `03:04:05.123` with `precision` digits of the second.
char* PutTime(char* at, uint32_t millis_of_day, int32_t nanos_of_milli, int precision) {
  const uint32_t seconds = millis_of_day / 1000;
  PutPair(at, seconds / 3600);
  at[2] = ':';
  PutPair(at + 3, seconds / 60 % 60);
  at[5] = ':';
  PutPair(at + 6, seconds % 60);
  at += 8;
  if (precision <= 0) return at;
  char fraction[9];
  PutPadded(fraction, millis_of_day % 1000, 3);
  if (precision > 3) PutPadded(fraction + 3, static_cast<uint32_t>(nanos_of_milli), 6);
  *at++ = '.';
  std::memcpy(at, fraction, static_cast<size_t>(precision));
  return at + precision;
}

bool TakeNumber(std::string_view* text, size_t digits_max, int* number) {
  size_t count = 0;
  int value = 0;
  while (count < text->size() && count < digits_max && (*text)[count] >= '0' &&
         (*text)[count] <= '9') {
    value = value * 10 + ((*text)[count] - '0');
    ++count;
  }
  if (count == 0) return false;
  text->remove_prefix(count);
  *number = value;
  return true;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || (*text)[0] != c) return false;
  text->remove_prefix(1);
  return true;
}

bool IsLeap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

bool TakeDate(std::string_view* text, int64_t* days) {
  int year, month, day;
  const bool negative = TakeChar(text, '-');
  if (!negative) TakeChar(text, '+');
  if (!TakeNumber(text, 6, &year) || !TakeChar(text, '-') || !TakeNumber(text, 2, &month) ||
      !TakeChar(text, '-') || !TakeNumber(text, 2, &day)) {
    return false;
  }
  if (year > kLastYear) return false;
  if (negative) year = -year;
  if (month < 1 || month > 12 || day < 1 || day > DaysOfMonth(year, month)) return false;
  *days = DaysFromCivil(year, month, day);
  return true;
}

// HH:mm[:ss[.fraction]]
bool TakeTime(std::string_view* text, int64_t* millis_of_day, int32_t* nanos_of_milli) {
  int hour, minute, second = 0;
  *nanos_of_milli = 0;
  if (!TakeNumber(text, 2, &hour) || !TakeChar(text, ':') || !TakeNumber(text, 2, &minute))
    return false;
  int64_t nanos = 0;
  if (TakeChar(text, ':')) {
    if (!TakeNumber(text, 2, &second)) return false;
    if (TakeChar(text, '.')) {
      int scale = 100'000'000;
      bool any = false;
      while (!text->empty() && (*text)[0] >= '0' && (*text)[0] <= '9') {
        nanos += static_cast<int64_t>((*text)[0] - '0') * scale;
        scale /= 10;
        any = true;
        text->remove_prefix(1);
      }
      if (!any) return false;
    }
  }
  if (hour > 23 || minute > 59 || second > 59) return false;
  *millis_of_day = ((hour * 60 + minute) * 60 + second) * int64_t{1000} + nanos / 1'000'000;
  *nanos_of_milli = static_cast<int32_t>(nanos % 1'000'000);
  return true;
}

// `+08:00`, `GMT+8`, `UTC-03:30`; UTC and GMT and Z themselves.
bool FixedOffset(std::string_view zone, int64_t* offset_millis) {
  for (const std::string_view prefix : {"UTC", "GMT", "UT", "Z"}) {
    if (zone.starts_with(prefix)) {
      zone.remove_prefix(prefix.size());
      break;
    }
  }
  *offset_millis = 0;
  if (zone.empty()) return true;
  if (zone[0] != '+' && zone[0] != '-') return false;
  const int64_t sign = zone[0] == '-' ? -1 : 1;
  zone.remove_prefix(1);
  int hours, minutes = 0;
  if (!TakeNumber(&zone, 2, &hours)) return false;
  if (!zone.empty()) {
    TakeChar(&zone, ':');
    if (!TakeNumber(&zone, 2, &minutes)) return false;
  }
  if (!zone.empty() || hours > 18 || minutes > 59) return false;
  *offset_millis = sign * (hours * 60 + minutes) * 60'000;
  return true;
}

// The zone of the last call on this thread: sessions have one zone.
const date::time_zone* FindZone(std::string_view name) {
  thread_local std::string last_name;
  thread_local const date::time_zone* last = nullptr;
  if (last != nullptr && last_name == name) return last;
  try {
    last = date::locate_zone(std::string(name));
    last_name = name;
  } catch (const std::exception&) {
    return nullptr;
  }
  return last;
}

// The rules of a zone for what comes after the last change in the library's tables (2037 for most);
// null before it, and where a zone has none.
const ZoneRules* LaterRules(std::string_view zone, int64_t seconds, const date::sys_info& info) {
  constexpr int64_t kTablesEnd = 2'114'380'800;  // 2037-01-01
  constexpr int64_t kNever = 100'000'000'000;
  if (seconds < kTablesEnd || info.end.time_since_epoch().count() < kNever) return nullptr;
  thread_local std::string last_name;
  thread_local std::optional<ZoneRules> last;
  if (last_name != zone) {
    last = ZoneRules::Read(zone);
    last_name = zone;
  }
  return last ? &*last : nullptr;
}

}  // namespace

int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = FloorDiv(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

void CivilFromDays(int64_t days, int64_t* year, int* month, int* day) {
  days += 719468;
  const int64_t era = FloorDiv(days, 146097);
  const uint32_t day_of_era = static_cast<uint32_t>(days - era * 146097);
  const uint32_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const uint32_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t shifted = (5 * day_of_year + 2) / 153;
  *day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
  *month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  *year = era * 400 + year_of_era + (*month <= 2 ? 1 : 0);
}

int DaysOfMonth(int64_t year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

void AppendDate(int64_t days, std::string* out) {
  char buffer[40];
  out->append(buffer, static_cast<size_t>(PutDate(buffer, days) - buffer));
}

void AppendTime(int64_t millis_of_day, int precision, std::string* out) {
  char buffer[24];
  out->append(buffer,
              static_cast<size_t>(
                  PutTime(buffer, static_cast<uint32_t>(millis_of_day), 0, precision) - buffer));
}

void AppendTimestamp(int64_t millis, int32_t nanos_of_milli, int precision, std::string* out) {
  char buffer[64];
  const int64_t days = FloorDiv(millis, kDayMillis);
  char* at = PutDate(buffer, days);
  *at++ = ' ';
  at = PutTime(at, static_cast<uint32_t>(millis - days * kDayMillis), nanos_of_milli, precision);
  out->append(buffer, static_cast<size_t>(at - buffer));
}

void AppendCastDate(int64_t days, std::string* out) {
  char buffer[40];
  out->append(buffer, static_cast<size_t>(PutCastDate(buffer, days) - buffer));
}

void AppendCastTime(int64_t millis_of_day, int precision, std::string* out) {
  AppendTime(millis_of_day, 0, out);
  if (precision <= 0) return;
  *out += '.';
  int64_t rest = millis_of_day % 1000;
  do {
    *out += static_cast<char>('0' + rest / 100);
    rest = rest % 100 * 10;
  } while (rest != 0 && --precision > 0);
}

void AppendCastTimestamp(int64_t millis, int32_t nanos_of_milli, int precision, std::string* out) {
  char buffer[64];
  const int64_t days = FloorDiv(millis, kDayMillis);
  char* at = PutCastDate(buffer, days);
  *at++ = ' ';
  at = PutTime(at, static_cast<uint32_t>(millis - days * kDayMillis), nanos_of_milli, precision);
  out->append(buffer, static_cast<size_t>(at - buffer));
}

WideTime ToWideTime(const Value& value, const Type& type) {
  if (const WideTime* wide = std::get_if<WideTime>(&value)) return *wide;
  const int64_t number = std::get<int64_t>(value);
  if (type.precision <= 3) return {number, 0};
  const int64_t millis = FloorDiv(number, 1000);
  return {millis, static_cast<int32_t>(number - millis * 1000) * 1000};
}

Value FromWideTime(WideTime time, const Type& type) {
  static constexpr int64_t kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
  if (type.precision <= 3) {
    const int64_t unit = kPowers[3 - type.precision];
    return FloorDiv(time.millis, unit) * unit;
  }
  const int32_t unit =
      static_cast<int32_t>(kPowers[9 - type.precision > 6 ? 6 : 9 - type.precision]);
  time.nanos = time.nanos / unit * unit;
  if (type.precision <= 6) return time.millis * 1000 + time.nanos / 1000;
  return time;
}

bool ZoneOffsetAtInstant(std::string_view zone, int64_t utc_millis, int64_t* offset_millis) {
  if (FixedOffset(zone, offset_millis)) return true;
  const date::time_zone* found = FindZone(zone);
  if (!found) return false;
  const int64_t seconds = FloorDiv(utc_millis, 1000);
  const date::sys_info info = found->get_info(date::sys_seconds{std::chrono::seconds(seconds)});
  const ZoneRules* const rules = LaterRules(zone, seconds, info);
  *offset_millis = (rules ? rules->OffsetAtInstant(seconds) : info.offset.count()) * 1000;
  return true;
}

bool ZoneOffsetAtLocal(std::string_view zone, int64_t local_millis, int64_t* offset_millis) {
  if (FixedOffset(zone, offset_millis)) return true;
  const date::time_zone* found = FindZone(zone);
  if (!found) return false;
  const int64_t seconds = FloorDiv(local_millis, 1000);
  // In a gap and in an overlap Java takes the offset before the change: `first`.
  const date::sys_info info =
      found->get_info(date::local_seconds{std::chrono::seconds(seconds)}).first;
  const ZoneRules* const rules = LaterRules(zone, seconds, info);
  *offset_millis = (rules ? rules->OffsetAtLocal(seconds) : info.offset.count()) * 1000;
  return true;
}

bool ParseDate(std::string_view text, int64_t* days) {
  return TakeDate(&text, days) && text.empty();
}

bool ParseTime(std::string_view text, int64_t* millis_of_day) {
  int32_t nanos;
  return TakeTime(&text, millis_of_day, &nanos) && text.empty();
}

bool ParseTimestamp(std::string_view text, WideTime* time) {
  int64_t days;
  if (!TakeDate(&text, &days)) return false;
  int64_t millis_of_day = 0;
  int32_t nanos = 0;
  if (!text.empty()) {
    if (text[0] != ' ' && text[0] != 'T') return false;
    text.remove_prefix(1);
    if (!TakeTime(&text, &millis_of_day, &nanos) || !text.empty()) return false;
  }
  *time = {days * kDayMillis + millis_of_day, nanos};
  return true;
}

}  // namespace rowtide

#include "engine/zone_rules.h"

#include <fstream>
#include <string>

#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr int64_t kDaySeconds = 86'400;

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

int64_t YearOf(int64_t local_seconds) {
  int64_t year;
  int month, day;
  CivilFromDays(FloorDiv(local_seconds, kDaySeconds), &year, &month, &day);
  return year;
}

bool Take(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

bool TakeNumber(std::string_view* text, int* number) {
  size_t digits = 0;
  *number = 0;
  while (digits < text->size() && digits < 4 && (*text)[digits] >= '0' && (*text)[digits] <= '9')
    *number = *number * 10 + ((*text)[digits++] - '0');
  text->remove_prefix(digits);
  return digits > 0;
}

// EST, or <-03> where the name has digits.
bool TakeName(std::string_view* text) {
  size_t end = 0;
  if (!text->empty() && text->front() == '<') {
    end = text->find('>');
    if (end == std::string_view::npos) return false;
    ++end;
  } else {
    while (end < text->size() && (((*text)[end] >= 'A' && (*text)[end] <= 'Z') ||
                                  ((*text)[end] >= 'a' && (*text)[end] <= 'z')))
      ++end;
  }
  text->remove_prefix(end);
  return end > 0;
}

// [+-]hours[:minutes[:seconds]] in seconds.
bool TakeSeconds(std::string_view* text, int64_t* seconds) {
  const bool negative = Take(text, '-');
  if (!negative) Take(text, '+');
  int part;
  if (!TakeNumber(text, &part)) return false;
  *seconds = int64_t{part} * 3600;
  for (const int unit : {60, 1}) {
    if (!Take(text, ':')) break;
    if (!TakeNumber(text, &part)) return false;
    *seconds += part * unit;
  }
  if (negative) *seconds = -*seconds;
  return true;
}

}  // namespace

std::optional<ZoneRules> ZoneRules::Read(std::string_view zone) {
  if (zone.find("..") != std::string_view::npos) return std::nullopt;
  std::ifstream file("/usr/share/zoneinfo/" + std::string(zone), std::ios::binary);
  std::string line, last;
  while (std::getline(file, line)) last = line;
  return last.empty() ? std::nullopt : Parse(last);
}

bool ZoneRules::TakeChange(std::string_view* text, Change* change) {
  change->kind = 'n';
  if (Take(text, 'M')) {
    change->kind = 'M';
    if (!TakeNumber(text, &change->month) || !Take(text, '.') || !TakeNumber(text, &change->week) ||
        !Take(text, '.') || !TakeNumber(text, &change->weekday)) {
      return false;
    }
    if (change->month < 1 || change->month > 12 || change->week < 1 || change->week > 5 ||
        change->weekday > 6)
      return false;
  } else {
    if (Take(text, 'J')) change->kind = 'J';
    if (!TakeNumber(text, &change->day)) return false;
  }
  return !Take(text, '/') || TakeSeconds(text, &change->seconds);
}

std::optional<ZoneRules> ZoneRules::Parse(std::string_view line) {
  ZoneRules rules;
  int64_t west;
  if (!TakeName(&line) || !TakeSeconds(&line, &west)) return std::nullopt;
  rules.standard_ = -west;
  rules.daylight_ = rules.standard_;
  if (line.empty()) return rules;
  rules.changes_ = true;
  if (!TakeName(&line)) return std::nullopt;
  rules.daylight_ = rules.standard_ + 3600;
  if (!line.empty() && line.front() != ',') {
    if (!TakeSeconds(&line, &west)) return std::nullopt;
    rules.daylight_ = -west;
  }
  if (!Take(&line, ',') || !TakeChange(&line, &rules.begin_) || !Take(&line, ',') ||
      !TakeChange(&line, &rules.end_) || !line.empty())
    return std::nullopt;
  return rules;
}

int64_t ZoneRules::TimeOf(const Change& change, int64_t year) {
  int64_t days;
  if (change.kind == 'M') {
    days = DaysFromCivil(year, change.month, 1);
    const int64_t first_weekday = (days % 7 + 11) % 7;  // 1970-01-01 was a Thursday
    int64_t day = (change.weekday - first_weekday + 7) % 7 + (change.week - 1) * 7;
    if (day >= DaysOfMonth(year, change.month)) day -= 7;
    days += day;
  } else {
    days = DaysFromCivil(year, 1, 1) + change.day;
    if (change.kind == 'J') days -= change.day > 59 && DaysOfMonth(year, 2) == 29 ? 0 : 1;
  }
  return days * kDaySeconds + change.seconds;
}

int64_t ZoneRules::OffsetAtInstant(int64_t utc_seconds) const {
  if (!changes_) return standard_;
  const int64_t year = YearOf(utc_seconds + standard_);
  const int64_t begin = TimeOf(begin_, year) - standard_;
  const int64_t end = TimeOf(end_, year) - daylight_;
  const bool daylight = begin < end ? utc_seconds >= begin && utc_seconds < end
                                    : utc_seconds >= begin || utc_seconds < end;
  return daylight ? daylight_ : standard_;
}

int64_t ZoneRules::OffsetAtLocal(int64_t local_seconds) const {
  if (!changes_) return standard_;
  const int64_t year = YearOf(local_seconds);
  // A change is over, on the wall, only once both clocks have passed it.
  const int64_t step = daylight_ - standard_;
  const int64_t begin = TimeOf(begin_, year) + (step > 0 ? step : 0);
  const int64_t end = TimeOf(end_, year) + (step < 0 ? -step : 0);
  const bool daylight = begin < end ? local_seconds >= begin && local_seconds < end
                                    : local_seconds >= begin || local_seconds < end;
  return daylight ? daylight_ : standard_;
}

}  // namespace rowtide

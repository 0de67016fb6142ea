#include "operators/expressions/time_format.h"

#include <algorithm>
#include <cctype>
#include <array>

#include "engine/value_text.h"
#include "engine/value_text_digits.h"

namespace rowtide {
namespace {

constexpr int64_t kDayMillis = 86'400'000;
constexpr std::string_view kLetters = "yuMLdDEecaHkKhmsSnNAGqQwWB";
constexpr std::array<std::string_view, 12> kMonths{"January",   "February", "March",    "April",
                                                   "May",       "June",     "July",     "August",
                                                   "September", "October",  "November", "December"};
constexpr std::array<std::string_view, 7> kDays{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                "Thursday", "Friday", "Saturday"};

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

void AppendPadded(int64_t number, int width, std::string* out) {
  std::string digits;
  AppendInteger(number < 0 ? -number : number, &digits);
  if (number < 0) *out += '-';
  if (static_cast<int>(digits.size()) < width)
    out->append(static_cast<size_t>(width) - digits.size(), '0');
  *out += digits;
}

// Short for up to three letters, whole for four, one letter for five.
void AppendName(std::string_view name, int width, std::string* out) {
  out->append(name.substr(0, width <= 3 ? 3 : width == 4 ? name.size() : 1));
}

// The American week: from Sunday, the first is the one with the first of January (or of the month).
int64_t WeekFrom(int64_t first_day, int64_t days) {
  const int64_t weekday_of_first = ((first_day + 4) % 7 + 7) % 7;
  return (days - first_day + weekday_of_first) / 7 + 1;
}

std::string_view DayPeriod(int64_t hour) {
  if (hour < 6 || hour >= 21) return "at night";
  if (hour < 12) return "in the morning";
  return hour < 18 ? "in the afternoon" : "in the evening";
}

bool TakeDigits(std::string_view* text, size_t least, size_t most, int64_t* number) {
  size_t count = 0;
  *number = 0;
  while (count < most && count < text->size() && (*text)[count] >= '0' && (*text)[count] <= '9') {
    *number = *number * 10 + ((*text)[count] - '0');
    ++count;
  }
  if (count < least) return false;
  text->remove_prefix(count);
  return true;
}

bool IsNumeric(char letter, int width) {
  return letter != 0 && letter != '[' && letter != ']' &&
         !((letter == 'M' || letter == 'L') && width > 2) && letter != 'E' && letter != 'a' &&
         letter != 'G' && letter != 'B';
}

// The index of the name that the text starts with, or -1.
template <size_t N>
int TakeName(const std::array<std::string_view, N>& names, bool whole, std::string_view* text) {
  for (size_t i = 0; i < N; ++i) {
    const std::string_view name = whole ? names[i] : names[i].substr(0, 3);
    if (!text->starts_with(name)) continue;
    text->remove_prefix(name.size());
    return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

struct TimeFormat::Parts {
  int64_t year = 1970, month = 1, day = 1, day_of_year = 0;
  int64_t hour = 0, hour_of_half = -1, minute = 0, second = 0, nanos = 0;
  int half = 0;  // 1: PM
};

bool TimeFormat::Parse(std::string_view pattern, std::string* error) {
  fields_.clear();
  const auto literal = [this](char c) {
    if (fields_.empty() || fields_.back().letter != 0) fields_.push_back({});
    fields_.back().text += c;
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\'') {
      if (i + 1 < pattern.size() && pattern[i + 1] == '\'') {
        literal('\'');
        ++i;
        continue;
      }
      const size_t end = pattern.find('\'', i + 1);
      if (end == std::string_view::npos) {
        *error = "the pattern ends inside a quoted text";
        return false;
      }
      for (size_t j = i + 1; j < end; ++j) literal(pattern[j]);
      i = end;
    } else if (c == '[' || c == ']') {
      fields_.push_back({c, 0, {}});
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      if (kLetters.find(c) == std::string_view::npos) {
        *error = fmt::format("the pattern letter {} is not supported", c);
        return false;
      }
      if (!fields_.empty() && fields_.back().letter == c && i > 0 && pattern[i - 1] == c) {
        ++fields_.back().width;
      } else {
        fields_.push_back({c, 1, {}});
      }
    } else {
      literal(c);
    }
  }
  return true;
}

void TimeFormat::Append(WideTime local, std::string* out) const { AppendFields(local, true, out); }

void TimeFormat::AppendFields(WideTime local, bool signs_years, std::string* out) const {
  const int64_t days = FloorDiv(local.millis, kDayMillis);
  const int64_t millis = local.millis - days * kDayMillis;
  const int64_t nanos = millis % 1000 * 1'000'000 + local.nanos;
  const int64_t hour = millis / 3'600'000;
  int64_t year;
  int month, day;
  CivilFromDays(days, &year, &month, &day);
  const int64_t weekday = ((days + 4) % 7 + 7) % 7;  // Sunday = 0
  for (const Field& field : fields_) {
    const int width = field.width;
    switch (field.letter) {
      case 0: *out += field.text; break;
      case 'y':
      case 'u': {
        // y counts within its era: the year before 1 is 1 again.
        const int64_t shown = field.letter == 'y' && year <= 0 ? 1 - year : year;
        if (signs_years && width >= 4 &&
            std::to_string(shown).size() > static_cast<size_t>(width) && shown > 0)
          *out += '+';
        width == 2 ? AppendPadded(((shown % 100) + 100) % 100, 2, out)
                   : AppendPadded(shown, width, out);
        break;
      }
      case 'M':
      case 'L':
        width > 2 ? AppendName(kMonths[static_cast<size_t>(month - 1)], width, out)
                  : AppendPadded(month, width, out);
        break;
      case 'd': AppendPadded(day, width, out); break;
      case 'D': AppendPadded(days - DaysFromCivil(year, 1, 1) + 1, width, out); break;
      case 'E': AppendName(kDays[static_cast<size_t>(weekday)], width, out); break;
      case 'e':
      case 'c': AppendPadded(weekday + 1, width, out); break;
      case 'a': *out += hour < 12 ? "AM" : "PM"; break;
      case 'H': AppendPadded(hour, width, out); break;
      case 'k': AppendPadded(hour == 0 ? 24 : hour, width, out); break;
      case 'K': AppendPadded(hour % 12, width, out); break;
      case 'h': AppendPadded(hour % 12 == 0 ? 12 : hour % 12, width, out); break;
      case 'm': AppendPadded(millis / 60'000 % 60, width, out); break;
      case 's': AppendPadded(millis / 1000 % 60, width, out); break;
      case 'S': {
        char digits[9];
        PutPadded(digits, static_cast<uint32_t>(nanos), 9);
        out->append(digits, static_cast<size_t>(std::min(width, 9)));
        break;
      }
      case 'n': AppendPadded(nanos, width, out); break;
      case 'N': AppendPadded(millis * 1'000'000 + local.nanos, width, out); break;
      case 'A': AppendPadded(millis, width, out); break;
      case 'G': *out += year > 0 ? "AD" : "BC"; break;
      case 'q':
      case 'Q': AppendPadded((month + 2) / 3, width, out); break;
      case 'w': {
        // The last days of December belong to the first week of the next year when that has begun.
        const int64_t next = DaysFromCivil(year + 1, 1, 1);
        const int64_t next_start = next - ((next + 4) % 7 + 7) % 7;
        AppendPadded(days >= next_start ? 1 : WeekFrom(DaysFromCivil(year, 1, 1), days), width,
                     out);
        break;
      }
      case 'W': AppendPadded(WeekFrom(DaysFromCivil(year, month, 1), days), width, out); break;
      case 'B': *out += DayPeriod(hour); break;
      default: break;  // [ and ]
    }
  }
}

bool TimeFormat::ReadField(const Field& field, bool next_is_number, std::string_view* text,
                           Parts* parts) const {
  const size_t width = static_cast<size_t>(field.width);
  int64_t number = 0;
  if (field.letter == 0) {
    if (!text->starts_with(field.text)) return false;
    text->remove_prefix(field.text.size());
    return true;
  }
  if (field.letter == 'S') {
    if (!TakeDigits(text, width, width, &number)) return false;
    for (size_t i = width; i < 9; ++i) number *= 10;
    parts->nanos = number;
    return true;
  }
  if (field.letter == 'a') {
    if (!text->starts_with("AM") && !text->starts_with("PM")) return false;
    parts->half = (*text)[0] == 'P' ? 1 : 0;
    text->remove_prefix(2);
    return true;
  }
  if ((field.letter == 'M' || field.letter == 'L') && width > 2) {
    const int month = TakeName(kMonths, width == 4, text);
    parts->month = month + 1;
    return month >= 0;
  }
  if (field.letter == 'E') return TakeName(kDays, width == 4, text) >= 0;
  if (field.letter == 'G') {
    text->remove_prefix(std::min<size_t>(text->size(), 2));
    return true;
  }
  const size_t most = width == 1 ? (next_is_number                               ? 1
                                    : field.letter == 'y' || field.letter == 'u' ? 9
                                                                                 : 2)
                                 : width;
  if (!TakeDigits(text, width == 1 ? 1 : width, most, &number)) return false;
  switch (field.letter) {
    case 'y':
    case 'u': parts->year = width == 2 ? 2000 + number : number; break;
    case 'M':
    case 'L': parts->month = number; break;
    case 'd': parts->day = number; break;
    case 'D': parts->day_of_year = number; break;
    case 'H': parts->hour = number; break;
    case 'k': parts->hour = number % 24; break;
    case 'K':
    case 'h': parts->hour_of_half = number % 12; break;
    case 'm': parts->minute = number; break;
    case 's': parts->second = number; break;
    case 'n': parts->nanos = number; break;
    default: break;
  }
  return true;
}

bool TimeFormat::ReadFields(size_t first, size_t last, std::string_view* text, Parts* parts) const {
  for (size_t i = first; i < last; ++i) {
    const Field& field = fields_[i];
    if (field.letter == ']') continue;
    if (field.letter != '[') {
      const bool next_is_number =
          i + 1 < last && IsNumeric(fields_[i + 1].letter, fields_[i + 1].width);
      if (!ReadField(field, next_is_number, text, parts)) return false;
      continue;
    }
    size_t end = i + 1;
    for (int depth = 1; end < last; ++end) {
      depth += fields_[end].letter == '[' ? 1 : fields_[end].letter == ']' ? -1 : 0;
      if (depth == 0) break;
    }
    std::string_view rest = *text;
    Parts inner = *parts;
    if (ReadFields(i + 1, end, &rest, &inner)) {
      *text = rest;
      *parts = inner;
    }
    i = end;
  }
  return true;
}

bool TimeFormat::Read(std::string_view text, bool whole, WideTime* local) const {
  Parts parts;
  if (!ReadFields(0, fields_.size(), &text, &parts) || (whole && !text.empty())) return false;
  if (parts.hour_of_half >= 0) parts.hour = parts.hour_of_half + 12 * parts.half;
  if (parts.month < 1 || parts.month > 12 || parts.day < 1 || parts.day > 31) return false;
  if (parts.hour > 23 || parts.minute > 59 || parts.second > 59) return false;
  const int month = static_cast<int>(parts.month);
  const int day = std::min(static_cast<int>(parts.day), DaysOfMonth(parts.year, month));
  int64_t days = DaysFromCivil(parts.year, month, day);
  if (parts.day_of_year > 0) days = DaysFromCivil(parts.year, 1, 1) + parts.day_of_year - 1;
  const int64_t seconds = (parts.hour * 60 + parts.minute) * 60 + parts.second;
  *local = {days * kDayMillis + seconds * 1000 + parts.nanos / 1'000'000,
            static_cast<int32_t>(parts.nanos % 1'000'000)};
  return true;
}

bool TimeFormat::ReadLenientField(const Field& field, bool next_is_number, std::string_view* text,
                                  Parts* parts) const {
  if (!IsNumeric(field.letter, field.width)) return ReadField(field, next_is_number, text, parts);
  while (!text->empty() && (text->front() == ' ' || text->front() == '\t')) text->remove_prefix(1);
  const size_t before = text->size();
  const size_t most = next_is_number ? static_cast<size_t>(field.width) : 18;
  int64_t number = 0;
  const bool negative = most > 1 && text->size() > 1 && text->front() == '-' &&
                        std::isdigit(static_cast<unsigned char>((*text)[1]));
  if (negative) text->remove_prefix(1);
  if (!TakeDigits(text, 1, negative ? most - 1 : most, &number)) return false;
  if (negative) number = -number;
  switch (field.letter) {
    case 'y':
      parts->year = field.width <= 2 && before - text->size() == 2 ? 2000 + number : number;
      break;
    case 'M':
    case 'L': parts->month = number; break;
    case 'd': parts->day = number; break;
    case 'D': parts->day_of_year = number; break;
    case 'H': parts->hour = number; break;
    case 'k': parts->hour = number == 24 ? 0 : number; break;
    case 'K': parts->hour_of_half = number; break;
    case 'h': parts->hour_of_half = number == 12 ? 0 : number; break;
    case 'm': parts->minute = number; break;
    case 's': parts->second = number; break;
    case 'S': parts->nanos = number; break;  // milliseconds here, however many digits
    default: break;
  }
  return true;
}

bool TimeFormat::ReadLeniently(std::string_view text, WideTime* local) const {
  constexpr int64_t kLargest = int64_t{1} << 40;  // of any field; beyond, sums could overflow
  Parts parts;
  for (size_t i = 0; i < fields_.size(); ++i) {
    const bool next_is_number =
        i + 1 < fields_.size() && IsNumeric(fields_[i + 1].letter, fields_[i + 1].width);
    if (!ReadLenientField(fields_[i], next_is_number, &text, &parts)) return false;
  }
  if (parts.hour_of_half >= 0) parts.hour = parts.hour_of_half + 12 * parts.half;
  for (const int64_t field : {parts.year, parts.month, parts.day, parts.day_of_year, parts.hour,
                              parts.minute, parts.second, parts.nanos}) {
    if (field > kLargest) return false;
  }
  if (parts.year > 292'000'000 || parts.month > 1'000'000'000) return false;
  const int64_t months = parts.year * 12 + parts.month - 1;
  const int64_t year = FloorDiv(months, 12);
  int64_t days = DaysFromCivil(year, static_cast<int>(months - year * 12) + 1, 1) + parts.day - 1;
  if (parts.day_of_year > 0) days = DaysFromCivil(year, 1, 1) + parts.day_of_year - 1;
  const int64_t seconds = (parts.hour * 60 + parts.minute) * 60 + parts.second;
  if (days > kLargest / 64 || seconds > kLargest) return false;
  *local = {days * kDayMillis + seconds * 1000 + parts.nanos, 0};
  return true;
}

}  // namespace rowtide

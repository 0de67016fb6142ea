// Texts as dates, times of day and timestamps.
#include <algorithm>

#include "engine/java_numbers.h"
#include "engine/value_text.h"
#include "operators/expressions/text_values.h"

namespace rowtide {
namespace {

constexpr int64_t kDayMillis = 86'400'000;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Digits with blanks around, as an int.
bool ReadWhole(std::string_view text, int64_t* number) {
  text = JavaTrimmed(text);
  if (text.empty()) return false;
  *number = 0;
  for (const char c : text) {
    if (!IsDigit(c)) return false;
    *number = *number * 10 + (c - '0');
    if (*number > INT32_MAX) return false;
  }
  return true;
}

// What comes before the mark, and the mark, off the front; the whole text where there is none.
std::string_view TakeUntil(char mark, std::string_view* text, bool* found) {
  const size_t at = text->find(mark);
  *found = at != std::string_view::npos;
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(*found ? at + 1 : text->size());
  return part;
}

// Three digits, rounded by the fourth; what is no digit counts as 0, as in Flink.
int64_t MillisOfFraction(std::string_view text) {
  int64_t millis = 0;
  int64_t unit = 100;
  for (size_t i = 0; i < text.size() && unit > 0; ++i, unit /= 10) {
    if (IsDigit(text[i])) millis += unit * (text[i] - '0');
    if (unit == 1 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) >= '5')
      ++millis;
  }
  return millis;
}

struct Clock {
  int64_t hour = 0, minute = 0, second = 0, millis = 0;
  bool valid() const { return hour < 24 && minute < 60 && second < 60; }
};

// H[:m[:s[.fraction]]]
bool ReadClock(std::string_view text, Clock* clock) {
  bool more;
  if (!ReadWhole(TakeUntil(':', &text, &more), &clock->hour)) return false;
  if (!more) return true;
  if (!ReadWhole(TakeUntil(':', &text, &more), &clock->minute)) return false;
  if (!more) return true;
  if (!ReadWhole(TakeUntil('.', &text, &more), &clock->second)) return false;
  if (more) clock->millis = MillisOfFraction(JavaTrimmed(text));
  return true;
}

// H[:m]
bool ReadOffset(std::string_view text, int64_t* minutes) {
  bool more;
  int64_t hour, minute = 0;
  if (!ReadWhole(TakeUntil(':', &text, &more), &hour)) return false;
  if (more && !ReadWhole(text, &minute)) return false;
  *minutes = hour * 60 + minute;
  return true;
}

// Reads yyyy-M-d[ H:m:s[.fraction]] from left to right.
class TimestampReader {
 public:
  explicit TimestampReader(std::string_view text) : rest_(text) {}

  bool Read(WideTime* time) {
    if (!Year() || !Take('-') || !Field(1, &month_) || !Take('-') || !Field(1, &day_)) return false;
    if (!rest_.empty() && !(Take(' ') && Field(0, &hour_) && Take(':') && Field(0, &minute_) &&
                            Take(':') && Field(0, &second_) && Fraction()))
      return false;
    return rest_.empty() && Resolve(time);
  }

 private:
  struct Part {
    int64_t value = 0;
    bool given = false;
  };

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view Digits(size_t most) {
    size_t count = 0;
    while (count < most && count < rest_.size() && IsDigit(rest_[count])) ++count;
    const std::string_view digits = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return digits;
  }
  static int64_t Number(std::string_view digits) {
    int64_t number = 0;
    for (const char c : digits) number = std::min(number * 10 + (c - '0'), int64_t{1} << 50);
    return number;
  }

  // Four digits, or more behind a plus.
  bool Year() {
    const bool plus = Take('+');
    const std::string_view digits = Digits(19);
    if (plus ? digits.size() <= 4 : digits.size() != 4) return false;
    year_ = Number(digits);
    return year_ >= 1 && year_ <= kLastYear;
  }

  // Two digits, then again any number of digits of the same value: `1`, `01`, and Java's `0101`.
  bool Field(int64_t otherwise, Part* part) {
    part->value = otherwise;
    const bool two = rest_.size() >= 2 && IsDigit(rest_[0]) && IsDigit(rest_[1]);
    for (const size_t most : {size_t{2}, size_t{19}}) {
      if (most == 2 && !two) continue;
      const std::string_view digits = Digits(most);
      if (digits.empty()) continue;
      if (part->given && Number(digits) != part->value) return false;
      *part = {Number(digits), true};
    }
    return true;
  }

  bool Fraction() {
    if (!Take('.')) return true;
    const std::string_view digits = Digits(9);
    nanos_ = Number(digits);
    for (size_t i = digits.size(); i < 9; ++i) nanos_ *= 10;
    return true;
  }

  bool Resolve(WideTime* time) {
    if (month_.value < 1 || month_.value > 12 || day_.value < 1 || day_.value > 31) return false;
    if (hour_.value > 24 || minute_.value > 59 || second_.value > 59) return false;
    const bool whole_date = month_.given && day_.given;
    const int month = static_cast<int>(month_.value);
    int64_t days = DaysFromCivil(
        year_, month, static_cast<int>(std::min<int64_t>(day_.value, DaysOfMonth(year_, month))));
    if (hour_.value == 24) {
      if (minute_.value != 0 || second_.value != 0 || nanos_ != 0) return false;
      hour_.value = 0;
      days += whole_date ? 1 : 0;
    }
    const int64_t seconds = (hour_.value * 60 + minute_.value) * 60 + second_.value;
    time->millis = days * kDayMillis + seconds * 1000 + nanos_ / 1'000'000;
    time->nanos = static_cast<int32_t>(nanos_ % 1'000'000);
    return true;
  }

  std::string_view rest_;
  int64_t year_ = 0;
  Part month_, day_, hour_, minute_, second_;
  int64_t nanos_ = 0;
};

}  // namespace

bool ReadCastDate(std::string_view text, int64_t* days) {
  const size_t blank = text.find(' ');
  if (blank != std::string_view::npos && blank > 0) text = text.substr(0, blank);
  int64_t year, month = 1, day = 1;
  bool more;
  if (!ReadWhole(TakeUntil('-', &text, &more), &year)) return false;
  if (more && !ReadWhole(TakeUntil('-', &text, &more), &month)) return false;
  if (more && !ReadWhole(text, &day)) return false;
  if (year > 9999 || month < 1 || month > 12 || day < 1) return false;
  if (day > DaysOfMonth(year, static_cast<int>(month))) return false;
  *days = DaysFromCivil(year, static_cast<int>(month), static_cast<int>(day));
  return true;
}

bool ReadCastTime(std::string_view text, int64_t* millis_of_day) {
  // A minus anywhere wins over a plus.
  size_t sign = text.find('-');
  const int64_t direction = sign == std::string_view::npos ? 1 : -1;
  if (sign == std::string_view::npos) sign = text.find('+');
  Clock clock;
  int64_t offset = 0;
  if (!ReadClock(text.substr(0, sign), &clock) || !clock.valid()) return false;
  if (sign != std::string_view::npos && !ReadOffset(text.substr(sign + 1), &offset)) return false;
  const int64_t minutes = clock.hour * 60 + clock.minute + direction * offset;
  *millis_of_day = (minutes * 60 + clock.second) * 1000 + clock.millis;
  return *millis_of_day >= 0 && *millis_of_day < kDayMillis;
}

bool ReadSqlTimestamp(std::string_view text, WideTime* time) {
  return TimestampReader(text).Read(time);
}

}  // namespace rowtide

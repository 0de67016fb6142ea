// `2026-01-02` and `03:04:05.678` at the front of a text, as Java's DateTimeFormatter takes them:
// what csv and json fields build their times from.
//
// All take what they read off the front of `*text` and return false when it is not there.
#pragma once

#include <cstdint>
#include <string_view>

namespace rowtide {

// What a day that its month does not have becomes: the month's last day (Java's smart resolving),
// or an error (strict).
enum class DayOverflow : uint8_t { kLastDay, kError };

// Between `least` and `most` digits.
bool TakeDigits(std::string_view* text, size_t least, size_t most, int64_t* value);
bool TakeCharacter(std::string_view* text, char c);
// `yyyy-MM-dd`: four digits of the year, up to 290000 behind a sign (a plus needs more than four).
bool TakeIsoDate(std::string_view* text, DayOverflow overflow, int64_t* days);
// `HH:mm[:ss[.n…]]` up to nine digits; nanoseconds of the day. An hour of 24 is taken too: the
// caller looks.
bool TakeIsoTime(std::string_view* text, bool needs_seconds, int64_t* nanos);

inline constexpr int64_t kNanosOfDay = 86400LL * 1000000000;

}  // namespace rowtide

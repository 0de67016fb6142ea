// One CSV field as a value of each SQL type, by the rules of Flink's csv format
// (tests/changelog/flink/files has each).
//
// All take a field's bytes and return false when they are no such value. Usual spellings are read
// by quick_values.h, everything else by the slow way. Requires: 32 readable bytes from the field's
// first one on.
#pragma once

#include <cstdint>
#include <string_view>

#include "connectors/formats/quick_values.h"
#include "engine/types.h"

namespace rowtide {

// Java's Long.parseLong of the trimmed text, within [low, high].
[[gnu::noinline, gnu::cold]] bool CsvIntegerSlowly(std::string_view text, int64_t low, int64_t high,
                                                   int64_t* value);
bool CsvBoolean(std::string_view text);
bool CsvIsFalse(std::string_view text);
bool CsvDate(std::string_view text, int32_t* days);
bool CsvTime(std::string_view text, int precision, int32_t* millis);
// `zoned`: the text ends with Z. Milliseconds and the nanoseconds within.
bool CsvTimestamp(std::string_view text, bool zoned, WideTime* time);

inline bool CsvInteger(const char* text, size_t bytes, int64_t low, int64_t high, int64_t* value) {
  if (QuickInteger(text, bytes, value)) [[likely]]
    return *value >= low && *value <= high;
  return CsvIntegerSlowly({text, bytes}, low, high, value);
}

// TIMESTAMP(3), or TIMESTAMP_LTZ(3) where `zoned`.
class CsvMillis {
 public:
  bool Parse(const char* text, size_t bytes, bool zoned, int64_t* millis) {
    if (quick_.Parse(text, bytes, zoned, millis)) return true;
    WideTime time;
    if (!CsvTimestamp({text, bytes}, zoned, &time)) return false;
    *millis = time.millis;
    return true;
  }

 private:
  QuickMillis quick_{' ', DayOverflow::kLastDay};
};

}  // namespace rowtide

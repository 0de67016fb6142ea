// Texts as CAST reads them, one function a kind of value; Flink's rules, oddities included.
//
//   integers   blanks around, sign, digits, a fraction that is cut: ' 12.9 ' is 12, '1e2' is none
//   DECIMAL    up to 18 digits and bytes by a reader of bytes, else by BigDecimal
//   FLOAT, DOUBLE   Java's parseDouble, engine/java_numbers.h
//   DATE, TIME, TIMESTAMP   loose about the number of digits, strict about the rest
//
// All return false for what is no value of the kind, and never read past the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/types.h"

namespace rowtide {

bool ReadCastInteger(std::string_view text, int64_t lowest, int64_t highest, int64_t* value);
bool ReadCastBoolean(std::string_view text, bool* value);
bool ReadCastDecimal(std::string_view text, int precision, int scale, int128* unscaled);

// y[-M[-d]], and a timestamp, of which the date counts. Years 0 to 9999, no day that is not there.
bool ReadCastDate(std::string_view text, int64_t* days);
// H[:m[:s[.fraction]]][+-H[:m]]: an offset is added (or taken away).
bool ReadCastTime(std::string_view text, int64_t* millis_of_day);
// yyyy-M-d[ H:m:s[.fraction]] as CAST and TO_TIMESTAMP read it: February 30 is the month's last
// day, 24:00:00 the next midnight, and what is left out between the marks is the first there is.
bool ReadSqlTimestamp(std::string_view text, WideTime* time);

}  // namespace rowtide

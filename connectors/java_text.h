// Values as Java's own toString spells them: what Flink's print and csv write where SQL's CAST
// differs.
#pragma once

#include <string>

#include "connectors/text_in_bulk.h"
#include "engine/value.h"

namespace rowtide {

// LocalDateTime: `2020-01-01T10:00`, `…T10:00:01`, `….120`: no seconds when all is zero, digits in
// groups of three.
void AppendJavaDateTime(int64_t millis, int32_t nanos_of_milli, std::string* out);
// LocalTime, likewise.
void AppendJavaTime(int64_t millis_of_day, std::string* out);
// Instant: `2020-01-01T10:00:00Z`, seconds always.
void AppendJavaInstant(int64_t millis, int32_t nanos_of_milli, std::string* out);
// BigDecimal: plain, or `1E-10` when there are more than six zeros behind the point.
void AppendJavaDecimal(int128 unscaled, int scale, std::string* out);
// The same without trailing zeros: `1.5`, `1E+2`.
void AppendJavaDecimalStripped(int128 unscaled, int scale, std::string* out);
// That into plain memory, at most 28 bytes of text; returns its end. May store 48 bytes. Requires:
// the digits have 40 readable bytes, 0 <= scale <= 38.
char* PutJavaDecimalStripped(const BareDigits& digits, bool is_negative, int scale, char* out);

// A date, time or timestamp as csv and json files hold it: no zeros at the end of the second, `Z`
// behind an instant; `between` stands between day and time.
void AppendStrippedTime(const Value& value, const Type& type, char between, std::string* out);

}  // namespace rowtide

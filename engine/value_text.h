// The text of values, for CAST to and from strings, CSV, JSON, script text and messages: one place
// for all.
//
// Three spellings exist:
//   script   `.test` files and pipes: JSON-like ("1.20" quoted, floats like Python's repr)
//   cast     CAST(x AS STRING), print, csv: Flink's and Java's (`TRUE`, `1.0E20`)
//   json     the json format
// Parsing functions take untrusted text, never read past it, and return false when it is not a
// value of the type.
#pragma once

#include <string>
#include <string_view>

#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rowtide {

// --- script text ---------------------------------------------------------------------------------
// Appends one value of a column / one Value as script text (flink/README "The text of values").
void AppendScriptText(const Column& column, int row, const Type& type, std::string* out);
void AppendScriptText(const Value& value, const Type& type, std::string* out);
// `+I ["a",1]` without a newline.
void AppendScriptRow(const RowBatch& batch, int row, const Schema& schema, std::string* out);
// A string in double quotes, with ", \, newline, return, tab and other control characters escaped.
void AppendJsonString(std::string_view text, std::string* out);
// For messages: a text of more bytes is cut between two characters and ends in `…`.
std::string Shortened(std::string_view text, size_t bytes_max = 200);
// Python's repr: `1.0`, `1e+16`; `"NaN"` and `"Infinity"` in quotes.
void AppendScriptDouble(double value, std::string* out);
void AppendScriptFloat(float value, std::string* out);

// --- cast text -----------------------------------------------------------------------------------
// As CAST(value AS STRING): `zone` is table.local-time-zone, used for TIMESTAMP_LTZ only.
void AppendCastText(const Value& value, const Type& type, std::string_view zone, std::string* out);
// Its dates and times: the year in four digits, a TIME without zeros behind (`03:04:05.5`, `.0`).
void AppendCastDate(int64_t days, std::string* out);
void AppendCastTime(int64_t millis_of_day, int precision, std::string* out);
void AppendCastTimestamp(int64_t millis, int32_t nanos_of_milli, int precision, std::string* out);
// Java 17's Double.toString / Float.toString: `1.0`, `1.0E10`, `NaN`.
void AppendJavaDouble(double value, std::string* out);
void AppendJavaFloat(float value, std::string* out);
// `1.20` from unscaled 120, scale 2.
void AppendDecimal(int128 unscaled, int scale, std::string* out);
// Bytes as UTF-8 text: what is no UTF-8 becomes U+FFFD, as Java decodes it.
void AppendUtf8(std::string_view bytes, std::string* out);

// --- times ---------------------------------------------------------------------------------------
// Days since 1970-01-01 to `2026-01-02` (`-0004-01-01`, `+10000-01-01`); milliseconds of the day to
// `03:04:05` with `precision` digits.
void AppendDate(int64_t days, std::string* out);
void AppendTime(int64_t millis_of_day, int precision, std::string* out);
// `2026-01-02 03:04:05.123` with exactly `precision` digits.
void AppendTimestamp(int64_t millis, int32_t nanos_of_milli, int precision, std::string* out);
// Splits a timestamp value of any precision into milliseconds and nanoseconds within the
// millisecond, and back.
WideTime ToWideTime(const Value& value, const Type& type);
Value FromWideTime(WideTime time, const Type& type);  // cuts to the type's precision
// The last year that is read: microseconds of later ones do not fit 64 bits.
inline constexpr int64_t kLastYear = 290'000;
int64_t DaysFromCivil(int64_t year, int month, int day);
void CivilFromDays(int64_t days, int64_t* year, int* month, int* day);
int DaysOfMonth(int64_t year, int month);
// Minutes... of a zone at an instant / at a local time: offsets in milliseconds east of UTC.
// Unknown zone: false.
bool ZoneOffsetAtInstant(std::string_view zone, int64_t utc_millis, int64_t* offset_millis);
bool ZoneOffsetAtLocal(std::string_view zone, int64_t local_millis, int64_t* offset_millis);

// --- parsing -------------------------------------------------------------------------------------
// Exact, whole-text parsers (no blanks around unless said). False: not such a value, or out of
// range.
bool ParseInt64(std::string_view text, int64_t* value);
bool ParseDouble(std::string_view text, double* value);  // decimal, exponent, NaN, Infinity
// Any number of digits; rounds half up to `scale`; false when it is no number; *fits = false when >
// 38 digits/precision.
bool ParseDecimal(std::string_view text, int precision, int scale, int128* unscaled, bool* fits);
bool ParseDate(std::string_view text, int64_t* days);           // yyyy-M-d
bool ParseTime(std::string_view text, int64_t* millis_of_day);  // HH:mm[:ss[.fff]]
bool ParseTimestamp(std::string_view text,
                    WideTime* time);  // yyyy-M-d[ |T]HH:mm[:ss[.fffffffff]], or the date alone
// Script input: a JSON token (already unquoted) as a value of the type. Errors name the type and
// the text.
Result<Value> ParseScriptValue(std::string_view text, bool was_quoted, const Type& type);

}  // namespace rowtide

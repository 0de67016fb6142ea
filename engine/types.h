// The SQL types and how a value of each lies in memory.
//
//   type                      layout          unit or form
//   BOOLEAN                   kBool           one byte, 0 or 1
//   TINYINT SMALLINT INT BIGINT  kInt8..kInt64  two's complement
//   FLOAT DOUBLE              kFloat kDouble  IEEE 754
//   DECIMAL(p<=18, s)         kInt64          unscaled value
//   DECIMAL(p>18, s)          kInt128         unscaled value
//   CHAR VARCHAR BINARY VARBINARY  kBytes     16-byte StringView (engine/string_view.h)
//   DATE                      kInt32          days since 1970-01-01
//   TIME(p)                   kInt32          milliseconds of the day
//   TIMESTAMP(p), TIMESTAMP_LTZ(p)  kInt64    p<=3: milliseconds, p<=6: microseconds (UTC)
//                             kWideTime p>6:  {milliseconds, nanoseconds within the millisecond}
//   INTERVAL YEAR TO MONTH    kInt64          months
//   INTERVAL DAY TO SECOND    kInt64          milliseconds
//
// The qualifier of an interval (DAY, DAY TO HOUR) is in `precision` and `scale`, as IntervalUnit:
// it only prints.
//
// A time attribute (Flink's *ROWTIME* / *PROCTIME*) is part of the type, as in Flink: it survives
// plain references and is lost by computation. Equality of types ignores it.
#pragma once

#include <cstdint>
#include <string>

namespace rowtide {

enum class TypeKind : uint8_t {
  kNull,
  kBoolean,
  kTinyInt,
  kSmallInt,
  kInt,
  kBigInt,
  kFloat,
  kDouble,
  kDecimal,
  kChar,
  kVarChar,
  kBinary,
  kVarBinary,
  kDate,
  kTime,
  kTimestamp,
  kTimestampLtz,
  kIntervalMonths,
  kIntervalMillis,
  kSymbol,  // TRIM's BOTH, EXTRACT's YEAR: exists in expressions only
};

enum class Layout : uint8_t {
  kBool,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kInt128,
  kWideTime,
  kBytes
};

enum class TimeAttribute : uint8_t { kNone, kRowtime, kProctime };

enum class IntervalUnit : uint8_t { kUnset, kYear, kMonth, kDay, kHour, kMinute, kSecond };

inline constexpr int kMaxLength = 2147483647;  // STRING and BYTES
inline constexpr int kMaxDecimalPrecision = 38;

using int128 = __int128;

struct WideTime {
  int64_t millis;
  int32_t nanos;  // 0 .. 999,999: within the millisecond
  int32_t unused = 0;
  friend bool operator==(const WideTime& a, const WideTime& b) {
    return a.millis == b.millis && a.nanos == b.nanos;
  }
};

struct Type {
  TypeKind kind = TypeKind::kNull;
  bool nullable = true;
  TimeAttribute time_attribute = TimeAttribute::kNone;
  int32_t precision = 0;  // DECIMAL and times: digits; CHAR, VARCHAR, BINARY, VARBINARY: length
  int32_t scale = 0;      // DECIMAL

  static Type Of(TypeKind kind, int32_t precision = 0, int32_t scale = 0);
  static Type Boolean() { return Of(TypeKind::kBoolean); }
  static Type Int() { return Of(TypeKind::kInt); }
  static Type BigInt() { return Of(TypeKind::kBigInt); }
  static Type Double() { return Of(TypeKind::kDouble); }
  static Type Decimal(int precision, int scale) { return Of(TypeKind::kDecimal, precision, scale); }
  static Type String() { return Of(TypeKind::kVarChar, kMaxLength); }
  static Type VarChar(int length) { return Of(TypeKind::kVarChar, length); }
  static Type Char(int length) { return Of(TypeKind::kChar, length); }
  static Type Bytes() { return Of(TypeKind::kVarBinary, kMaxLength); }
  static Type Date() { return Of(TypeKind::kDate); }
  static Type Timestamp(int precision) { return Of(TypeKind::kTimestamp, precision); }
  static Type TimestampLtz(int precision) { return Of(TypeKind::kTimestampLtz, precision); }
  // INTERVAL `first` [TO `last`].
  static Type Interval(IntervalUnit first, IntervalUnit last);

  Type NotNull() const;
  Type Nullable() const;
  Type WithNullable(bool nullable) const;
  Type WithTimeAttribute(TimeAttribute attribute) const;
  Type WithoutTimeAttribute() const { return WithTimeAttribute(TimeAttribute::kNone); }

  bool is_rowtime() const { return time_attribute == TimeAttribute::kRowtime; }
  bool is_proctime() const { return time_attribute == TimeAttribute::kProctime; }
  bool is_time_attribute() const { return time_attribute != TimeAttribute::kNone; }

  // Same kind, parameters and nullability.
  friend bool operator==(const Type& a, const Type& b);
  bool SameButNullability(const Type& other) const;
};

Layout LayoutOf(const Type& type);
int WidthOf(Layout layout);  // bytes of one value in a column

bool IsInteger(const Type& type);      // TINYINT .. BIGINT
bool IsExactNumber(const Type& type);  // integers and DECIMAL
bool IsApproximate(const Type& type);  // FLOAT, DOUBLE
bool IsNumber(const Type& type);
bool IsCharacter(const Type& type);  // CHAR, VARCHAR
bool IsBinary(const Type& type);     // BINARY, VARBINARY
bool IsTimestamp(const Type& type);  // TIMESTAMP, TIMESTAMP_LTZ
bool IsTemporal(const Type& type);   // DATE, TIME, timestamps
bool IsInterval(const Type& type);

// Flink's SQL text of a type: `VARCHAR(2147483647)`, `DECIMAL(10, 2)`, `TIMESTAMP(3)`,
// `TIMESTAMP_LTZ(3)`, `INTEGER` (as plans print it); NOT NULL is appended by `ToString` only.
std::string TypeText(const Type& type);
// `INTERVAL DAY`, `INTERVAL DAY TO HOUR`. Requires: IsInterval.
std::string IntervalText(const Type& type);
// As DESCRIBE and messages print it: `STRING`, `INT`, with ` NOT NULL`.
std::string ToString(const Type& type);

}  // namespace rowtide

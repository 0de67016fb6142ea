#include "engine/types.h"

#include <fmt/format.h>

#include "engine/status.h"

namespace rowtide {

Type Type::Of(TypeKind kind, int32_t precision, int32_t scale) {
  Type type;
  type.kind = kind;
  type.precision = precision;
  type.scale = scale;
  return type;
}

Type Type::Interval(IntervalUnit first, IntervalUnit last) {
  const bool months = first <= IntervalUnit::kMonth;
  return Of(months ? TypeKind::kIntervalMonths : TypeKind::kIntervalMillis, static_cast<int>(first),
            static_cast<int>(last));
}

Type Type::NotNull() const { return WithNullable(false); }
Type Type::Nullable() const { return WithNullable(true); }

Type Type::WithNullable(bool value) const {
  Type copy = *this;
  copy.nullable = value;
  return copy;
}

Type Type::WithTimeAttribute(TimeAttribute attribute) const {
  Type copy = *this;
  copy.time_attribute = attribute;
  return copy;
}

bool operator==(const Type& a, const Type& b) {
  return a.nullable == b.nullable && a.SameButNullability(b);
}

bool Type::SameButNullability(const Type& other) const {
  return kind == other.kind && precision == other.precision && scale == other.scale;
}

Layout LayoutOf(const Type& type) {
  switch (type.kind) {
    case TypeKind::kNull:
    case TypeKind::kBoolean: return Layout::kBool;
    case TypeKind::kTinyInt: return Layout::kInt8;
    case TypeKind::kSmallInt: return Layout::kInt16;
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime: return Layout::kInt32;
    case TypeKind::kBigInt:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis: return Layout::kInt64;
    case TypeKind::kFloat: return Layout::kFloat;
    case TypeKind::kDouble: return Layout::kDouble;
    case TypeKind::kDecimal: return type.precision <= 18 ? Layout::kInt64 : Layout::kInt128;
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kSymbol: return Layout::kBytes;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return type.precision <= 6 ? Layout::kInt64 : Layout::kWideTime;
  }
  RT_CHECK(false);
}

int WidthOf(Layout layout) {
  switch (layout) {
    case Layout::kBool:
    case Layout::kInt8: return 1;
    case Layout::kInt16: return 2;
    case Layout::kInt32:
    case Layout::kFloat: return 4;
    case Layout::kInt64:
    case Layout::kDouble: return 8;
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: return 16;
  }
  RT_CHECK(false);
}

bool IsInteger(const Type& type) {
  return type.kind >= TypeKind::kTinyInt && type.kind <= TypeKind::kBigInt;
}
bool IsExactNumber(const Type& type) { return IsInteger(type) || type.kind == TypeKind::kDecimal; }
bool IsApproximate(const Type& type) {
  return type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble;
}
bool IsNumber(const Type& type) { return IsExactNumber(type) || IsApproximate(type); }
bool IsCharacter(const Type& type) {
  return type.kind == TypeKind::kChar || type.kind == TypeKind::kVarChar;
}
bool IsBinary(const Type& type) {
  return type.kind == TypeKind::kBinary || type.kind == TypeKind::kVarBinary;
}
bool IsTimestamp(const Type& type) {
  return type.kind == TypeKind::kTimestamp || type.kind == TypeKind::kTimestampLtz;
}
bool IsTemporal(const Type& type) {
  return type.kind == TypeKind::kDate || type.kind == TypeKind::kTime || IsTimestamp(type);
}
bool IsInterval(const Type& type) {
  return type.kind == TypeKind::kIntervalMonths || type.kind == TypeKind::kIntervalMillis;
}

std::string IntervalText(const Type& type) {
  static constexpr const char* kNames[] = {"", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"};
  const char* fallback = type.kind == TypeKind::kIntervalMonths ? "MONTH" : "SECOND";
  std::string text = "INTERVAL ";
  text += type.precision == 0 ? fallback : kNames[type.precision];
  if (type.scale != type.precision) text += std::string(" TO ") + kNames[type.scale];
  return text;
}

std::string TypeText(const Type& type) {
  switch (type.kind) {
    case TypeKind::kNull: return "NULL";
    case TypeKind::kBoolean: return "BOOLEAN";
    case TypeKind::kTinyInt: return "TINYINT";
    case TypeKind::kSmallInt: return "SMALLINT";
    case TypeKind::kInt: return "INTEGER";
    case TypeKind::kBigInt: return "BIGINT";
    case TypeKind::kFloat: return "FLOAT";
    case TypeKind::kDouble: return "DOUBLE";
    case TypeKind::kDecimal: return fmt::format("DECIMAL({}, {})", type.precision, type.scale);
    case TypeKind::kChar: return fmt::format("CHAR({})", type.precision);
    case TypeKind::kVarChar: return fmt::format("VARCHAR({})", type.precision);
    case TypeKind::kBinary: return fmt::format("BINARY({})", type.precision);
    case TypeKind::kVarBinary: return fmt::format("VARBINARY({})", type.precision);
    case TypeKind::kDate: return "DATE";
    case TypeKind::kTime: return fmt::format("TIME({})", type.precision);
    case TypeKind::kTimestamp: return fmt::format("TIMESTAMP({})", type.precision);
    case TypeKind::kTimestampLtz:
      return fmt::format("TIMESTAMP_WITH_LOCAL_TIME_ZONE({})", type.precision);
    case TypeKind::kIntervalMonths: return "INTERVAL YEAR TO MONTH";
    case TypeKind::kIntervalMillis: return "INTERVAL DAY TO SECOND";
    case TypeKind::kSymbol: return "SYMBOL";
  }
  RT_CHECK(false);
}

std::string ToString(const Type& type) {
  std::string text = TypeText(type);
  if (type.kind == TypeKind::kInt) text = "INT";
  if (type.kind == TypeKind::kVarChar && type.precision == kMaxLength) text = "STRING";
  if (type.kind == TypeKind::kVarBinary && type.precision == kMaxLength) text = "BYTES";
  if (type.kind == TypeKind::kTimestampLtz) text = fmt::format("TIMESTAMP_LTZ({})", type.precision);
  if (!type.nullable) text += " NOT NULL";
  return text;
}

}  // namespace rowtide

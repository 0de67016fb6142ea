#include "connectors/formats/json_values.h"

#include <algorithm>
#include <limits>

#include "connectors/formats/csv_values.h"
#include "connectors/formats/iso_times.h"
#include "engine/base64.h"
#include "engine/java_numbers.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

using Kind = JsonScalar::Kind;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A number of JSON without what stands behind the point: 1.9 is 1, 12e1 is 120. False: beyond 64
// bits.
bool WholePart(std::string_view text, int64_t* value) {
  const bool negative = text.front() == '-';
  if (negative) text.remove_prefix(1);
  const size_t e = std::min(text.find_first_of("eE"), text.size());
  int64_t exponent = 0;
  if (e < text.size()) {
    std::string_view digits = text.substr(e + 1);
    const bool minus = digits.front() == '-';
    if (!IsDigit(digits.front())) digits.remove_prefix(1);
    while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
    if (digits.size() > 9) digits = "999999999";
    ParseInt64(digits, &exponent);
    if (minus) exponent = -exponent;
  }
  const std::string_view mantissa = text.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  int64_t whole_digits = static_cast<int64_t>(point) + exponent;
  int128 sum = 0;
  for (size_t i = 0; whole_digits > 0; ++i) {
    if (i == point) continue;
    if (i >= mantissa.size() && sum == 0) break;
    sum = sum * 10 + (i < mantissa.size() ? mantissa[i] - '0' : 0);
    if (sum > int128{1} << 63) return false;
    --whole_digits;
  }
  if (negative) sum = -sum;
  *value = static_cast<int64_t>(sum);
  return *value == sum;
}

}  // namespace

// Days that a month does not have are an error in ISO 8601 without a zone only, as in Flink.
JsonColumn::JsonColumn(const Type& type, const JsonOptions& options)
    : type_(type),
      keeps_numbers_(options.keeps_numbers),
      zoned_(type.kind == TypeKind::kTimestampLtz),
      iso_(options.iso_timestamps),
      strict_days_(iso_ && !zoned_),
      quick_(QuickOf(type)),
      slots_(type),
      millis_(iso_ ? 'T' : ' ', strict_days_ ? DayOverflow::kError : DayOverflow::kLastDay) {}

JsonColumn::Quick JsonColumn::QuickOf(const Type& type) {
  if (IsCharacter(type)) return Quick::kText;
  if (type.kind == TypeKind::kInt) return Quick::kInt;
  if (type.kind == TypeKind::kBigInt) return Quick::kLong;
  return IsTimestamp(type) && type.precision == 3 ? Quick::kMillis : Quick::kNone;
}

JsonCast JsonColumn::Store(const JsonScalar& scalar, int row, StringBlocks* strings) {
  switch (type_.kind) {
    case TypeKind::kBoolean:
      slots_.Set(row, static_cast<uint8_t>(CsvBoolean(scalar.text)));
      return JsonCast::kValue;
    case TypeKind::kTinyInt: return StoreInteger<int8_t>(scalar, row);
    case TypeKind::kSmallInt: return StoreInteger<int16_t>(scalar, row);
    case TypeKind::kInt: return StoreInteger<int32_t>(scalar, row);
    case TypeKind::kBigInt: return StoreInteger<int64_t>(scalar, row);
    case TypeKind::kFloat: {
      float number;
      if (!ParseJavaFloat(scalar.text, &number)) return JsonCast::kBad;
      slots_.Set(row, number);
      return JsonCast::kValue;
    }
    case TypeKind::kDouble: {
      double number;
      if (!ParseJavaDouble(scalar.text, &number)) return JsonCast::kBad;
      slots_.Set(row, number);
      return JsonCast::kValue;
    }
    case TypeKind::kDecimal: return StoreDecimal(scalar, row);
    case TypeKind::kChar:
    case TypeKind::kVarChar: return StoreString(scalar, row, strings);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return StoreBytes(scalar, row, strings);
    case TypeKind::kDate: return StoreDate(scalar.text, row);
    case TypeKind::kTime: return StoreTime(scalar.text, row);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return StoreTimestamp(scalar.text, row);
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: return JsonCast::kBad;  // refused when the decoder is made
  }
  return JsonCast::kBad;
}

template <typename T>
JsonCast JsonColumn::StoreInteger(const JsonScalar& scalar, int row) {
  constexpr int64_t kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  const std::string_view text = scalar.text;
  int64_t value;
  if (!ParseInt64(text, &value)) {
    const bool cuts = scalar.kind == Kind::kNumber && sizeof(T) >= sizeof(int32_t);
    if (cuts ? !WholePart(text, &value) : !CsvIntegerSlowly(text, kLow, kHigh, &value))
      return JsonCast::kBad;
  }
  if (value < kLow || value > kHigh) return JsonCast::kBad;
  slots_.Set(row, static_cast<T>(value));
  return JsonCast::kValue;
}

JsonCast JsonColumn::StoreDecimal(const JsonScalar& scalar, int row) {
  int128 value;
  bool fits = true;
  if (scalar.kind == Kind::kWord ||
      !ParseJavaDecimal(JavaTrimmed(scalar.text), type_.precision, type_.scale, &value, &fits))
    return JsonCast::kBad;
  if (!fits) return JsonCast::kNull;
  if (slots_.layout() == Layout::kInt64)
    slots_.Set(row, static_cast<int64_t>(value));
  else
    slots_.Set(row, value);
  return JsonCast::kValue;
}

JsonCast JsonColumn::StoreString(const JsonScalar& scalar, int row, StringBlocks* strings) {
  const std::string_view text = scalar.text;
  if (scalar.kind == Kind::kNumber && !keeps_numbers_ &&
      text.find_first_of(".eE") != std::string_view::npos) {
    double number = 0;
    ParseJavaDouble(text, &number);
    std::string printed;
    AppendJavaDouble(number, &printed);
    slots_.Set(row, strings->Copy(printed));
  } else if (scalar.stays) {
    slots_.Set(row, StringView(text));
  } else {
    slots_.Set(row, strings->Copy(text));
  }
  return JsonCast::kValue;
}

JsonCast JsonColumn::StoreBytes(const JsonScalar& scalar, int row, StringBlocks* strings) {
  std::string bytes;
  if (scalar.kind != Kind::kString || !ParseBase64(scalar.text, &bytes)) return JsonCast::kBad;
  slots_.Set(row, strings->Copy(bytes));
  return JsonCast::kValue;
}

JsonCast JsonColumn::StoreDate(std::string_view text, int row) {
  int64_t days;
  if (!TakeIsoDate(&text, DayOverflow::kError, &days) || !text.empty()) return JsonCast::kBad;
  slots_.Set(row, static_cast<int32_t>(days));
  return JsonCast::kValue;
}

JsonCast JsonColumn::StoreTime(std::string_view text, int row) {
  int64_t nanos;
  if (!TakeIsoTime(&text, true, &nanos) || !text.empty() || nanos > kNanosOfDay)
    return JsonCast::kBad;
  constexpr int kUnits[] = {1000, 100, 10, 1};
  const int unit = kUnits[std::min(type_.precision, 3)];
  slots_.Set(row, static_cast<int32_t>(nanos % kNanosOfDay / 1000000 / unit * unit));
  return JsonCast::kValue;
}

JsonCast JsonColumn::StoreTimestamp(std::string_view text, int row) {
  int64_t days, nanos;
  if (!TakeIsoDate(&text, strict_days_ ? DayOverflow::kError : DayOverflow::kLastDay, &days) ||
      !(TakeCharacter(&text, iso_ ? 'T' : ' ') || (strict_days_ && TakeCharacter(&text, 't'))) ||
      !TakeIsoTime(&text, !iso_, &nanos)) {
    return JsonCast::kBad;
  }
  if (zoned_ && !TakeCharacter(&text, 'Z')) return JsonCast::kBad;
  if (!text.empty() || nanos > kNanosOfDay - (strict_days_ ? 1 : 0)) return JsonCast::kBad;
  const WideTime time{days * 86400000 + nanos / 1000000, static_cast<int32_t>(nanos % 1000000)};
  const Value value = FromWideTime(time, type_);
  if (slots_.layout() == Layout::kWideTime)
    slots_.Set(row, std::get<WideTime>(value));
  else
    slots_.Set(row, std::get<int64_t>(value));
  return JsonCast::kValue;
}

}  // namespace rowtide

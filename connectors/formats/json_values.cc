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

template <typename T>
JsonCast StoreInteger(const JsonScalar& scalar, int row, ColumnSlots* slots) {
  int64_t value;
  constexpr int64_t kLow = std::numeric_limits<T>::min(), kHigh = std::numeric_limits<T>::max();
  if (!ParseInt64(scalar.text, &value)) {
    const bool cuts = scalar.kind == Kind::kNumber && sizeof(T) >= sizeof(int32_t);
    if (cuts ? !WholePart(scalar.text, &value)
             : !CsvIntegerSlowly(scalar.text, kLow, kHigh, &value)) {
      return JsonCast::kBad;
    }
  }
  if (value < kLow || value > kHigh) return JsonCast::kBad;
  slots->Set(row, static_cast<T>(value));
  return JsonCast::kValue;
}

JsonCast StoreDecimal(const JsonScalar& scalar, const Type& type, int row, ColumnSlots* slots) {
  int128 value;
  bool fits = true;
  if (scalar.kind == Kind::kWord ||
      !ParseJavaDecimal(JavaTrimmed(scalar.text), type.precision, type.scale, &value, &fits))
    return JsonCast::kBad;
  if (!fits) return JsonCast::kNull;
  if (slots->layout() == Layout::kInt64)
    slots->Set(row, static_cast<int64_t>(value));
  else
    slots->Set(row, value);
  return JsonCast::kValue;
}

JsonCast StoreString(const JsonScalar& scalar, const JsonOptions& options, int row,
                     ColumnSlots* slots, StringBlocks* strings) {
  if (scalar.kind == Kind::kNumber && !options.keeps_numbers &&
      scalar.text.find_first_of(".eE") != std::string_view::npos) {
    double number = 0;
    ParseJavaDouble(scalar.text, &number);
    std::string text;
    AppendJavaDouble(number, &text);
    slots->Set(row, strings->Copy(text));
  } else if (scalar.stays) {
    slots->Set(row, StringView(scalar.text));
  } else {
    slots->Set(row, strings->Copy(scalar.text));
  }
  return JsonCast::kValue;
}

JsonCast StoreBytes(const JsonScalar& scalar, int row, ColumnSlots* slots, StringBlocks* strings) {
  std::string bytes;
  if (scalar.kind != Kind::kString || !ParseBase64(scalar.text, &bytes)) return JsonCast::kBad;
  slots->Set(row, strings->Copy(bytes));
  return JsonCast::kValue;
}

JsonCast StoreDate(std::string_view text, int row, ColumnSlots* slots) {
  int64_t days;
  if (!TakeIsoDate(&text, DayOverflow::kError, &days) || !text.empty()) return JsonCast::kBad;
  slots->Set(row, static_cast<int32_t>(days));
  return JsonCast::kValue;
}

JsonCast StoreTime(std::string_view text, int precision, int row, ColumnSlots* slots) {
  int64_t nanos;
  if (!TakeIsoTime(&text, true, &nanos) || !text.empty() || nanos > kNanosOfDay)
    return JsonCast::kBad;
  constexpr int kUnits[] = {1000, 100, 10, 1};
  const int unit = kUnits[std::min(precision, 3)];
  slots->Set(row, static_cast<int32_t>(nanos % kNanosOfDay / 1000000 / unit * unit));
  return JsonCast::kValue;
}

JsonCast StoreTimestamp(std::string_view text, const Type& type, bool iso, int row,
                        ColumnSlots* slots) {
  const bool zoned = type.kind == TypeKind::kTimestampLtz;
  const bool strict = iso && !zoned;
  int64_t days, nanos;
  if (!TakeIsoDate(&text, strict ? DayOverflow::kError : DayOverflow::kLastDay, &days) ||
      !(TakeCharacter(&text, iso ? 'T' : ' ') || (strict && TakeCharacter(&text, 't'))) ||
      !TakeIsoTime(&text, !iso, &nanos)) {
    return JsonCast::kBad;
  }
  if (zoned && !TakeCharacter(&text, 'Z')) return JsonCast::kBad;
  if (!text.empty() || nanos > kNanosOfDay - (strict ? 1 : 0)) return JsonCast::kBad;
  const WideTime time{days * 86400000 + nanos / 1000000, static_cast<int32_t>(nanos % 1000000)};
  const Value value = FromWideTime(time, type);
  if (slots->layout() == Layout::kWideTime)
    slots->Set(row, std::get<WideTime>(value));
  else
    slots->Set(row, std::get<int64_t>(value));
  return JsonCast::kValue;
}

}  // namespace

JsonCast StoreJson(const JsonScalar& scalar, const Type& type, const JsonOptions& options, int row,
                   ColumnSlots* slots, StringBlocks* strings) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      slots->Set(row, static_cast<uint8_t>(CsvBoolean(scalar.text)));
      return JsonCast::kValue;
    case TypeKind::kTinyInt: return StoreInteger<int8_t>(scalar, row, slots);
    case TypeKind::kSmallInt: return StoreInteger<int16_t>(scalar, row, slots);
    case TypeKind::kInt: return StoreInteger<int32_t>(scalar, row, slots);
    case TypeKind::kBigInt: return StoreInteger<int64_t>(scalar, row, slots);
    case TypeKind::kFloat: {
      float number;
      if (!ParseJavaFloat(scalar.text, &number)) return JsonCast::kBad;
      slots->Set(row, number);
      return JsonCast::kValue;
    }
    case TypeKind::kDouble: {
      double number;
      if (!ParseJavaDouble(scalar.text, &number)) return JsonCast::kBad;
      slots->Set(row, number);
      return JsonCast::kValue;
    }
    case TypeKind::kDecimal: return StoreDecimal(scalar, type, row, slots);
    case TypeKind::kChar:
    case TypeKind::kVarChar: return StoreString(scalar, options, row, slots, strings);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return StoreBytes(scalar, row, slots, strings);
    case TypeKind::kDate: return StoreDate(scalar.text, row, slots);
    case TypeKind::kTime: return StoreTime(scalar.text, type.precision, row, slots);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return StoreTimestamp(scalar.text, type, options.iso_timestamps, row, slots);
    case TypeKind::kNull:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis:
    case TypeKind::kSymbol: return JsonCast::kBad;  // refused when the decoder is made
  }
  return JsonCast::kBad;
}

}  // namespace rowtide

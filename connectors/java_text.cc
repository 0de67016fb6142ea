#include "connectors/java_text.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr int64_t kDayMillis = 86400000;

int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// `.123`, `.123456`, `.123456789` or nothing.
void AppendFraction(int64_t nanos, std::string* out) {
  if (nanos == 0) return;
  if (nanos % 1000000 == 0) {
    fmt::format_to(std::back_inserter(*out), ".{:03}", nanos / 1000000);
  } else if (nanos % 1000 == 0) {
    fmt::format_to(std::back_inserter(*out), ".{:06}", nanos / 1000);
  } else {
    fmt::format_to(std::back_inserter(*out), ".{:09}", nanos);
  }
}

void AppendClock(int64_t millis_of_day, int32_t nanos_of_milli, bool always_seconds,
                 std::string* out) {
  const int64_t second = millis_of_day / 1000;
  const int64_t nanos = millis_of_day % 1000 * 1000000 + nanos_of_milli;
  fmt::format_to(std::back_inserter(*out), "{:02}:{:02}", second / 3600, second / 60 % 60);
  if (second % 60 == 0 && nanos == 0 && !always_seconds) return;
  fmt::format_to(std::back_inserter(*out), ":{:02}", second % 60);
  AppendFraction(nanos, out);
}

void AppendDayAndClock(int64_t millis, int32_t nanos_of_milli, bool always_seconds,
                       std::string* out) {
  const int64_t days = FloorDivide(millis, kDayMillis);
  AppendDate(days, out);
  *out += 'T';
  AppendClock(millis - days * kDayMillis, nanos_of_milli, always_seconds, out);
}

// Takes zeros off the end of a fraction, and the point with them.
void StripFraction(size_t begin, std::string* text) {
  if (text->find('.', begin) == std::string::npos) return;
  text->resize(text->find_last_not_of('0') + 1);
  if (text->back() == '.') text->pop_back();
}

std::string Digits(int128 value) {
  auto rest =
      value < 0 ? -static_cast<unsigned __int128>(value) : static_cast<unsigned __int128>(value);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(rest % 10)));
    rest /= 10;
  } while (rest != 0);
  return digits;
}

}  // namespace

void AppendJavaDateTime(int64_t millis, int32_t nanos_of_milli, std::string* out) {
  AppendDayAndClock(millis, nanos_of_milli, false, out);
}

void AppendJavaTime(int64_t millis_of_day, std::string* out) {
  AppendClock(millis_of_day, 0, false, out);
}

void AppendJavaInstant(int64_t millis, int32_t nanos_of_milli, std::string* out) {
  AppendDayAndClock(millis, nanos_of_milli, true, out);
  *out += 'Z';
}

void AppendJavaDecimal(int128 unscaled, int scale, std::string* out) {
  const std::string digits = Digits(unscaled);
  const int exponent = static_cast<int>(digits.size()) - 1 - scale;
  if (scale >= 0 && exponent >= -6) return AppendDecimal(unscaled, scale, out);
  if (unscaled < 0) *out += '-';
  *out += digits[0];
  if (digits.size() > 1) *out += "." + digits.substr(1);
  fmt::format_to(std::back_inserter(*out), "E{}{}", exponent > 0 ? "+" : "", exponent);
}

char* PutJavaDecimalStripped(const BareDigits& bare, bool is_negative, int scale, char* out) {
  const char* const digits = bare.begin;
  const size_t used = bare.bytes;
  *out = '-';
  out += is_negative;
  if (*digits == '0') scale = 0;  // of no other number it is the first digit
  scale -= static_cast<int>(bare.zeros);
  const int exponent = static_cast<int>(used) - 1 - scale;
  if (scale < 0 || exponent < -6) {
    *out++ = digits[0];
    *out = '.';
    std::memcpy(out + 1, digits + 1, 20);
    out += used > 1 ? used : 0;
    out[0] = 'E';
    out[1] = '+';
    return PutInteger(exponent, out + (exponent > 0 ? 2 : 1));
  }
  if (exponent < 0) {
    std::memcpy(out, "0.000000", 8);
    out += 1 - exponent;
    std::memcpy(out, digits, 20);
    return out + used;
  }
  std::memcpy(out, digits, 20);
  if (scale == 0) return out + used;
  out += exponent + 1;
  *out = '.';
  std::memcpy(out + 1, digits + exponent + 1, 20);
  return out + 1 + scale;
}

void AppendJavaDecimalStripped(int128 unscaled, int scale, std::string* out) {
  if (unscaled == static_cast<int64_t>(unscaled)) {
    const auto value = static_cast<int64_t>(unscaled);
    char digits[64], text[64];
    const BareDigits bare = PutBareDigits(Magnitude(value), digits);
    out->append(text, PutJavaDecimalStripped(bare, value < 0, scale, text));
    return;
  }
  while (unscaled != 0 && unscaled % 10 == 0) {
    unscaled /= 10;
    --scale;
  }
  AppendJavaDecimal(unscaled, scale, out);
}

void AppendStrippedTime(const Value& value, const Type& type, char between, std::string* out) {
  const size_t begin = out->size();
  if (type.kind == TypeKind::kDate) return AppendDate(std::get<int64_t>(value), out);
  if (type.kind == TypeKind::kTime) {
    AppendTime(std::get<int64_t>(value), 3, out);
    return StripFraction(begin, out);
  }
  const WideTime time = ToWideTime(value, type);
  AppendTimestamp(time.millis, time.nanos, 9, out);
  (*out)[out->find(' ', begin)] = between;
  StripFraction(begin, out);
  if (type.kind == TypeKind::kTimestampLtz) *out += 'Z';
}

}  // namespace rowtide

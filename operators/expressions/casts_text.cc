// CAST to and from strings. The text of values is engine/value_text's; what is read here is what
// Flink's CAST reads.
#include <algorithm>
#include <cctype>
#include <limits>

#include "engine/value_text.h"
#include "operators/expressions/casts.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/time_format.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

// Cuts or pads to CHAR(n), cuts to VARCHAR(n); `text` may point to call.text.
Outcome Fitted(RowCall& call, std::string_view text, const Type& to, bool is_part,
               StringView* out) {
  if (to.precision < kMaxLength) text = text.substr(0, Utf8Offset(text, to.precision));
  if (to.kind == TypeKind::kChar) {
    const int missing = to.precision - CountCharacters(text);
    if (missing > 0) {
      std::string padded(text);
      padded.append(static_cast<size_t>(missing), ' ');
      *out = call.Keep(padded);
      return Outcome::kValue;
    }
  }
  *out = is_part ? RowCall::Part(text) : call.Keep(text);
  return Outcome::kValue;
}

// append(value, &text) writes the text of one value.
template <typename A, typename F>
NodePointer TextOf(CastSite& site, F append) {
  const Type to = site.to;
  return CastRow<StringView, A>(site, [to, append](RowCall& call, const A& value, StringView* out) {
    call.text.clear();
    append(value, &call.text);
    return Fitted(call, call.text, to, false, out);
  });
}

// Values whose text AppendCastText gives.
template <typename A, typename V>
NodePointer TextOfValue(CastSite& site) {
  const Type from = site.from();
  return TextOf<A>(site,
                   [from, zone = site.context.local_time_zone](const A& value, std::string* out) {
                     AppendCastText(Value(static_cast<V>(value)), from, zone, out);
                   });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

// [+-]digits[.digits]: the fraction is cut.
bool ReadInteger(std::string_view text, int64_t lowest, int64_t highest, int64_t* value) {
  text = Trimmed(text);
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  if (text.empty()) return false;
  const size_t point = std::min(text.find('.'), text.size());
  int128 number = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (text[i] < '0' || text[i] > '9') return false;
    if (i < point) number = number * 10 + (text[i] - '0');
    if (number > int128{std::numeric_limits<int64_t>::max()} + 1) return false;
  }
  if (negative) number = -number;
  if (number < lowest || number > highest) return false;
  *value = static_cast<int64_t>(number);
  return true;
}

bool ReadBoolean(std::string_view text, bool* value) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  static constexpr const char* kTrue[] = {"t", "true", "y", "yes", "1"};
  static constexpr const char* kFalse[] = {"f", "false", "n", "no", "0"};
  *value = std::find(std::begin(kTrue), std::end(kTrue), lower) != std::end(kTrue);
  return *value || std::find(std::begin(kFalse), std::end(kFalse), lower) != std::end(kFalse);
}

// Java's Double.valueOf: blanks around and a type letter behind.
bool ReadDouble(std::string_view text, double* value) {
  text = Trimmed(text);
  if (text.size() > 1 && std::string_view("fFdD").find(text.back()) != std::string_view::npos &&
      (std::isdigit(static_cast<unsigned char>(text[text.size() - 2])) ||
       text[text.size() - 2] == '.')) {
    text.remove_suffix(1);
  }
  return ParseDouble(text, value);
}

// yyyy[-M[-d]], and a timestamp, of which the date counts.
bool ReadDate(std::string_view text, int64_t* days) {
  text = Trimmed(text);
  const size_t blank = text.find_first_of(" T");
  if (blank != std::string_view::npos && blank > 0) text = text.substr(0, blank);
  std::string whole(text);
  for (int parts = static_cast<int>(std::count(whole.begin(), whole.end(), '-')); parts < 2;
       ++parts)
    whole += "-1";
  return ParseDate(whole, days);
}

// HH[:mm[:ss[.fff]]]
bool ReadTime(std::string_view text, int64_t* millis) {
  text = Trimmed(text);
  if (text.find(':') != std::string_view::npos) return ParseTime(text, millis);
  return ParseTime(std::string(text) + ":00", millis);
}

struct IntegerRange {
  int64_t lowest;
  int64_t highest;
};

IntegerRange RangeOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt: return {INT8_MIN, INT8_MAX};
    case TypeKind::kSmallInt: return {INT16_MIN, INT16_MAX};
    case TypeKind::kInt: return {INT32_MIN, INT32_MAX};
    default: return {INT64_MIN, INT64_MAX};
  }
}

// read(value) turns what TextToValue gives into the slot.
template <typename R, typename F>
NodePointer FromText(CastSite& site, F read) {
  const Type to = site.to;
  return CastRow<R, StringView>(site, [to, read, zone = site.context.local_time_zone](
                                          RowCall& call, const StringView& text, R* out) {
    Value value;
    const Outcome outcome = TextToValue(text.view(), to, zone, &value, &call.error);
    if (outcome == Outcome::kValue) *out = read(value);
    return outcome;
  });
}

template <typename R>
NodePointer IntegerFromText(CastSite& site) {
  return FromText<R>(site,
                     [](const Value& value) { return static_cast<R>(std::get<int64_t>(value)); });
}

template <typename R>
NodePointer DecimalFromText(CastSite& site) {
  return FromText<R>(site,
                     [](const Value& value) { return static_cast<R>(std::get<int128>(value)); });
}

template <typename R>
NodePointer FloatFromText(CastSite& site) {
  return FromText<R>(site,
                     [](const Value& value) { return static_cast<R>(std::get<double>(value)); });
}

}  // namespace

bool ReadSqlTimestamp(std::string_view text, WideTime* time) {
  static const TimeFormat format = [] {
    TimeFormat made;
    std::string error;
    RT_CHECK(made.Parse("yyyy-M-d[ H:m:s]", &error));
    return made;
  }();
  // The fraction has no fixed width, so it is read here.
  const size_t point = text.find('.');
  int64_t nanos = 0;
  if (point != std::string_view::npos) {
    const std::string_view digits = text.substr(point + 1);
    if (digits.size() > 9 || text.find(':') == std::string_view::npos) return false;
    for (size_t i = 0; i < 9; ++i) {
      const char c = i < digits.size() ? digits[i] : '0';
      if (c < '0' || c > '9') return false;
      nanos = nanos * 10 + (c - '0');
    }
    text = text.substr(0, point);
  }
  if (!format.Read(text, true, time)) return false;
  time->millis += nanos / 1'000'000;
  time->nanos = static_cast<int32_t>(nanos % 1'000'000);
  return true;
}

Outcome TextToValue(std::string_view text, const Type& type, const std::string& zone, Value* value,
                    std::string* reason) {
  bool ok = false;
  bool fits = true;
  int64_t number = 0;
  if (IsInteger(type)) {
    const IntegerRange range = RangeOf(type.kind);
    ok = ReadInteger(text, range.lowest, range.highest, &number);
    *value = number;
  } else if (IsApproximate(type)) {
    double floating = 0;
    ok = ReadDouble(text, &floating);
    *value = floating;
  } else if (type.kind == TypeKind::kDecimal) {
    int128 unscaled = 0;
    ok = ParseDecimal(Trimmed(text), type.precision, type.scale, &unscaled, &fits);
    *value = unscaled;
  } else if (type.kind == TypeKind::kBoolean) {
    bool truth = false;
    ok = ReadBoolean(text, &truth);
    *value = truth;
  } else if (type.kind == TypeKind::kDate) {
    ok = ReadDate(text, &number);
    *value = number;
  } else if (type.kind == TypeKind::kTime) {
    ok = ReadTime(text, &number);
    *value = number;
  } else if (IsTimestamp(type)) {
    WideTime time{};
    ok = ReadSqlTimestamp(text, &time);
    int64_t offset = 0;
    if (ok && type.kind == TypeKind::kTimestampLtz) ZoneOffsetAtLocal(zone, time.millis, &offset);
    time.millis -= offset;
    *value = FromWideTime(time, type);
  }
  if (!ok) {
    *reason = fmt::format("{} is no {}", Quote(text), ToString(type.Nullable()));
    return Outcome::kError;
  }
  return fits ? Outcome::kValue : Outcome::kNull;
}

Result<NodePointer> CastToText(CastSite& site) {
  const Type from = site.from();
  const Type to = site.to;
  switch (from.kind) {
    case TypeKind::kBoolean: return TextOfValue<uint8_t, bool>(site);
    case TypeKind::kTinyInt: return TextOfValue<int8_t, int64_t>(site);
    case TypeKind::kSmallInt: return TextOfValue<int16_t, int64_t>(site);
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime: return TextOfValue<int32_t, int64_t>(site);
    case TypeKind::kBigInt:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis: return TextOfValue<int64_t, int64_t>(site);
    case TypeKind::kFloat: return TextOfValue<float, double>(site);
    case TypeKind::kDouble: return TextOfValue<double, double>(site);
    case TypeKind::kDecimal:
      return from.precision <= 18 ? TextOfValue<int64_t, int128>(site)
                                  : TextOfValue<int128, int128>(site);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return from.precision <= 6 ? TextOfValue<int64_t, int64_t>(site)
                                 : TextOfValue<WideTime, WideTime>(site);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      return TextOf<StringView>(
          site, [](const StringView& value, std::string* out) { AppendUtf8(value.view(), out); });
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kSymbol:
      return CastRow<StringView, StringView>(
          site, [to](RowCall& call, const StringView& value, StringView* out) {
            return Fitted(call, value.view(), to, true, out);
          });
    case TypeKind::kNull: break;
  }
  return Status::Unsupported("CAST of {} to {}", ToString(from), ToString(to));
}

Result<NodePointer> CastFromText(CastSite& site) {
  const Type to = site.to;
  switch (to.kind) {
    case TypeKind::kBoolean:
      return FromText<uint8_t>(site, [](const Value& value) {
        return static_cast<uint8_t>(std::get<bool>(value) ? 1 : 0);
      });
    case TypeKind::kTinyInt: return IntegerFromText<int8_t>(site);
    case TypeKind::kSmallInt: return IntegerFromText<int16_t>(site);
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime: return IntegerFromText<int32_t>(site);
    case TypeKind::kBigInt: return IntegerFromText<int64_t>(site);
    case TypeKind::kFloat: return FloatFromText<float>(site);
    case TypeKind::kDouble: return FloatFromText<double>(site);
    case TypeKind::kDecimal:
      return to.precision <= 18 ? DecimalFromText<int64_t>(site) : DecimalFromText<int128>(site);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      if (to.precision <= 6) return IntegerFromText<int64_t>(site);
      return FromText<WideTime>(site, [](const Value& value) { return std::get<WideTime>(value); });
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      const size_t length = static_cast<size_t>(to.precision);
      const bool pads = to.kind == TypeKind::kBinary;
      return CastRow<StringView, StringView>(
          site, [length, pads](RowCall& call, const StringView& value, StringView* out) {
            call.text.assign(value.view().substr(0, length));
            if (pads) call.text.resize(length, '\0');
            *out = call.Keep(call.text);
            return Outcome::kValue;
          });
    }
    default: return Status::Unsupported("CAST of {} to {}", ToString(site.from()), ToString(to));
  }
}

}  // namespace rowtide

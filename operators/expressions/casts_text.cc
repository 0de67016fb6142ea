// CAST to and from strings. The text of values is engine/value_text's; what is read here is what
// Flink's CAST reads.
#include "engine/java_numbers.h"
#include "engine/value_text.h"
#include "operators/expressions/casts.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/text_values.h"
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

// The end of the first `units` UTF-16 units of UTF-8 text, or of all; *missing = how many it lacks.
// A cut through a pair of units leaves *half.
size_t Utf16Offset(std::string_view text, int units, int* missing, bool* half) {
  size_t at = 0;
  *missing = units;
  *half = false;
  while (at < text.size() && *missing > 0) {
    const bool pair = static_cast<unsigned char>(text[at]) >= 0xf0;
    *half = pair && *missing == 1;
    if (*half) break;
    *missing -= pair ? 2 : 1;
    at += Utf8Offset(text.substr(at), 1);
  }
  return at;
}

// Bytes become a Java string, so CHAR(n) and VARCHAR(n) count UTF-16 units, and half a pair is '?'.
NodePointer TextOfBytes(CastSite& site) {
  const Type to = site.to;
  return CastRow<StringView, StringView>(
      site, [to](RowCall& call, const StringView& value, StringView* out) {
        call.text.clear();
        AppendUtf8(value.view(), &call.text);
        if (to.precision < kMaxLength) {
          int missing;
          bool half;
          call.text.resize(Utf16Offset(call.text, to.precision, &missing, &half));
          if (half) call.text += '?';
          if (!half && to.kind == TypeKind::kChar)
            call.text.append(static_cast<size_t>(missing), ' ');
        }
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
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

Outcome TextToValue(std::string_view text, const Type& type, const std::string& zone, Value* value,
                    std::string* reason) {
  bool ok = false;
  int64_t number = 0;
  if (IsInteger(type)) {
    const IntegerRange range = RangeOf(type.kind);
    ok = ReadCastInteger(text, range.lowest, range.highest, &number);
    *value = number;
  } else if (type.kind == TypeKind::kDouble) {
    double floating = 0;
    ok = ParseJavaDouble(text, &floating);
    *value = floating;
  } else if (type.kind == TypeKind::kFloat) {
    float floating = 0;
    ok = ParseJavaFloat(text, &floating);
    *value = static_cast<double>(floating);
  } else if (type.kind == TypeKind::kDecimal) {
    int128 unscaled = 0;
    ok = ReadCastDecimal(text, type.precision, type.scale, &unscaled);
    *value = unscaled;
  } else if (type.kind == TypeKind::kBoolean) {
    bool truth = false;
    ok = ReadCastBoolean(text, &truth);
    *value = truth;
  } else if (type.kind == TypeKind::kDate) {
    ok = ReadCastDate(text, &number);
    *value = number;
  } else if (type.kind == TypeKind::kTime) {
    ok = ReadCastTime(text, &number);
    *value = number;
  } else if (IsTimestamp(type)) {
    WideTime time{};
    ok = ReadSqlTimestamp(text, &time);
    int64_t offset = 0;
    if (ok && type.kind == TypeKind::kTimestampLtz) ZoneOffsetAtLocal(zone, time.millis, &offset);
    time.millis -= offset;
    *value = FromWideTime(time, type);
  }
  if (ok) return Outcome::kValue;
  *reason = fmt::format("{} is no {}", Quote(text), ToString(type.Nullable()));
  return Outcome::kError;
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
    case TypeKind::kVarBinary: return TextOfBytes(site);
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

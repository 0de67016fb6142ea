// DATE_FORMAT, TO_TIMESTAMP, TO_DATE, UNIX_TIMESTAMP and their kin: times from text and numbers,
// and text from times.
#include <algorithm>
#include <limits>

#include "engine/value_text.h"
#include "operators/expressions/casts.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/text_values.h"
#include "operators/expressions/time_format.h"

namespace rowtide {
namespace {

constexpr const char* kDefaultPattern = "yyyy-MM-dd HH:mm:ss";
constexpr int64_t kDayMillis = 86'400'000;

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// The format of a row: parsed once for a literal, else again whenever the pattern changes.
class FormatOf {
 public:
  // `argument` past the end: the default pattern.
  static Result<FormatOf> Make(CallSite& site, size_t argument) {
    FormatOf of;
    if (argument >= site.size())
      site.arguments.push_back(LiteralNode(std::string(kDefaultPattern), Type::String().NotNull()));
    const bool given = argument < site.call.operands.size();
    const std::string* literal = given ? site.LiteralText(argument) : nullptr;
    if (literal && !of.Use(*literal))
      return Status::InvalidArgument("{} in {}", of.error_, Quote(*literal))
          .WithKind(ErrorKind::kRun);
    return of;
  }

  const TimeFormat* For(const StringView& pattern) {
    if (usable_ && pattern.view() == pattern_) return &format_;
    return Use(pattern.view()) ? &format_ : nullptr;
  }
  const std::string& error() const { return error_; }

 private:
  bool Use(std::string_view pattern) {
    pattern_.assign(pattern);
    usable_ = format_.Parse(pattern, &error_);
    return usable_;
  }

  bool usable_ = false;
  std::string pattern_;
  TimeFormat format_;
  std::string error_;
};

template <typename S>
NodePointer FormatTime(CallSite& site, FormatOf formats) {
  const Type type = site.arguments[0]->type();
  return PerRow<StringView, S, StringView>(
      site, [formats, type, zone = site.context.local_time_zone](
                RowCall& call, const S& slot, const StringView& pattern, StringView* out) mutable {
        const TimeFormat* format = formats.For(pattern);
        if (!format) return call.Fail(formats.error());
        WideTime time = LoadTime(slot, type.precision);
        int64_t offset = 0;
        if (type.kind == TypeKind::kTimestampLtz) ZoneOffsetAtInstant(zone, time.millis, &offset);
        time.millis += offset;
        call.text.clear();
        format->Append(time, &call.text);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

// The instant at which clocks of the zone show `local_millis`; of two such, Java's Calendar takes
// the later one. False: no such zone.
bool CalendarInstant(std::string_view zone, int64_t local_millis, int64_t* instant) {
  int64_t before, after, shown;
  if (!ZoneOffsetAtLocal(zone, local_millis, &before)) return false;
  *instant = local_millis - before;
  ZoneOffsetAtInstant(zone, *instant + kDayMillis, &after);
  ZoneOffsetAtInstant(zone, local_millis - after, &shown);
  if (shown == after) *instant = local_millis - after;
  return true;
}

// n of 10^-precision seconds as milliseconds and nanoseconds; false outside of the years 1 to 9999.
bool FromEpoch(int64_t n, int precision, WideTime* time) {
  static constexpr int64_t kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000};
  static constexpr int64_t kFirstMillis = -62'135'596'800'000, kLastMillis = 253'402'300'799'999;
  if (precision <= 3) {
    *time = {};
    if (__builtin_mul_overflow(n, kPowers[3 - precision], &time->millis)) return false;
  } else {
    const int64_t per_milli = kPowers[precision - 3];
    const int64_t rest = (n % per_milli + per_milli) % per_milli;  // no product: n may be the least
    *time = {FloorDiv(n, per_milli), static_cast<int32_t>(rest * (1'000'000 / per_milli))};
  }
  return time->millis >= kFirstMillis && time->millis <= kLastMillis;
}

template <typename R>
NodePointer LtzFromNumber(CallSite& site, int precision) {
  const Type type = site.type();
  site.arguments.resize(1);
  return PerRow<R, int64_t>(site, [type, precision](RowCall&, int64_t n, R* out) {
    WideTime time;
    if (!FromEpoch(n, precision, &time)) return Outcome::kNull;
    StoreTime(time, type.precision, out);
    return Outcome::kValue;
  });
}

// By how many days the day in the text (`2026-02-30 …`) lies behind that of the time, which is the
// last of its month then.
int64_t DaysPastMonth(std::string_view text, const WideTime& time) {
  const size_t dash = text.find('-', text.find('-') + 1);
  int64_t said = 0;
  for (size_t i = dash + 1; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
    said = said * 10 + (text[i] - '0');
  int64_t year;
  int month, day;
  CivilFromDays(FloorDiv(time.millis, kDayMillis), &year, &month, &day);
  return std::max<int64_t>(said - day, 0);
}

// What does not follow the pattern is read as SQL writes timestamps.
bool ReadWithPattern(const TimeFormat* format, std::string_view text, WideTime* time) {
  if (format != nullptr && format->Read(text, true, time)) return true;
  if (!ReadSqlTimestamp(text, time)) return false;
  // Here the 30th of February is the second of March.
  if (format != nullptr) time->millis += DaysPastMonth(text, *time) * kDayMillis;
  return true;
}

// (text [, pattern [, zone]]), the zone being UTC.
Result<NodePointer> LtzFromText(CallSite& site) {
  const bool has_pattern = site.size() > 1;
  const std::string* zone_text = site.size() > 2 ? site.LiteralText(2) : nullptr;
  if (site.size() > 2 && !zone_text)
    return Status::Unsupported("TO_TIMESTAMP_LTZ with a zone that is no literal");
  const std::string zone = zone_text ? *zone_text : "UTC";
  if (site.size() > 2) site.arguments.resize(2);
  RT_ASSIGN(FormatOf formats, FormatOf::Make(site, 1));
  return PerRow<int64_t, StringView, StringView>(
      site, [formats, has_pattern, zone](RowCall& call, const StringView& text,
                                         const StringView& pattern, int64_t* out) mutable {
        WideTime time{};
        const TimeFormat* format = formats.For(pattern);
        const bool ok = ReadWithPattern(has_pattern ? format : nullptr, text.view(), &time);
        if (!ok) return has_pattern ? Outcome::kNull : call.Fail("this is no timestamp");
        int64_t offset = 0;
        ZoneOffsetAtLocal(zone, time.millis, &offset);
        *out = time.millis - offset;
        return Outcome::kValue;
      });
}

}  // namespace

Result<NodePointer> BuildDateFormat(CallSite& site) {
  const Type type = site.argument_type(0);
  RT_ASSIGN(FormatOf formats, FormatOf::Make(site, 1));
  if (IsTimestamp(type)) {
    return type.precision <= 6 ? FormatTime<int64_t>(site, formats)
                               : FormatTime<WideTime>(site, formats);
  }
  if (!IsCharacter(type))
    return Status::InvalidArgument("DATE_FORMAT needs a TIMESTAMP or a string, not {}",
                                   ToString(type))
        .WithErrorCode("RT2006");
  TimeFormat sql_format;
  std::string error;
  RT_CHECK(sql_format.Parse(kDefaultPattern, &error));
  return PerRow<StringView, StringView, StringView>(
      site, [formats, sql_format](RowCall& call, const StringView& text, const StringView& pattern,
                                  StringView* out) mutable {
        const TimeFormat* format = formats.For(pattern);
        if (!format) return call.Fail(formats.error());
        WideTime time{};
        if (!sql_format.ReadLeniently(text.view(), &time)) return Outcome::kNull;
        call.text.clear();
        format->Append(time, &call.text);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildToTimestamp(CallSite& site) {
  const bool has_pattern = site.size() > 1;
  RT_ASSIGN(FormatOf formats, FormatOf::Make(site, 1));
  return PerRow<int64_t, StringView, StringView>(
      site, [formats, has_pattern](RowCall& call, const StringView& text, const StringView& pattern,
                                   int64_t* out) mutable {
        const TimeFormat* format = formats.For(pattern);
        if (!format) return call.Fail(formats.error());
        WideTime time{};
        if (!ReadWithPattern(has_pattern ? format : nullptr, text.view(), &time))
          return Outcome::kNull;
        *out = time.millis;
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildToTimestampLtz(CallSite& site) {
  const Type type = site.argument_type(0);
  if (IsCharacter(type)) return LtzFromText(site);
  if (!IsNumber(type))
    return Status::InvalidArgument("TO_TIMESTAMP_LTZ needs a number or a string, not {}",
                                   ToString(type))
        .WithErrorCode("RT2006");
  int precision = 3;
  if (site.size() > 1) {
    const int64_t* given = site.LiteralInteger(1);
    if (!given || *given < 0 || *given > 9)
      return Status::InvalidArgument("the precision of TO_TIMESTAMP_LTZ is a literal of 0 to 9");
    precision = static_cast<int>(*given);
  }
  RT_TRY(CastArgument(&site, 0, Type::BigInt()));
  return site.type().precision <= 6 ? LtzFromNumber<int64_t>(site, precision)
                                    : LtzFromNumber<WideTime>(site, precision);
}

Result<NodePointer> BuildToDate(CallSite& site) {
  const bool has_pattern = site.size() > 1;
  RT_ASSIGN(FormatOf formats, FormatOf::Make(site, 1));
  return PerRow<int32_t, StringView, StringView>(
      site, [formats, has_pattern](RowCall& call, const StringView& text, const StringView& pattern,
                                   int32_t* out) mutable {
        if (!has_pattern) {
          const std::string_view view = text.view();
          if (view.find('T') != std::string_view::npos || view.starts_with(' ') ||
              view.ends_with(' '))
            return Outcome::kNull;
          Value days;
          std::string reason;
          if (TextToValue(text.view(), Type::Date(), "UTC", &days, &reason) != Outcome::kValue)
            return Outcome::kNull;
          *out = static_cast<int32_t>(std::get<int64_t>(days));
          return Outcome::kValue;
        }
        const TimeFormat* format = formats.For(pattern);
        if (!format) return call.Fail(formats.error());
        WideTime time{};
        if (!format->ReadLeniently(text.view(), &time)) return Outcome::kNull;
        *out = static_cast<int32_t>(FloorDiv(time.millis, kDayMillis));
        return Outcome::kValue;
      });
}

// FROM_UNIXTIME(seconds [, pattern])
Result<NodePointer> BuildFromUnixtime(CallSite& site) {
  RT_ASSIGN(FormatOf formats, FormatOf::Make(site, 1));
  RT_TRY(CastArgument(&site, 0, Type::BigInt()));
  return PerRow<StringView, int64_t, StringView>(
      site,
      [formats, zone = site.context.local_time_zone](
          RowCall& call, int64_t seconds, const StringView& pattern, StringView* out) mutable {
        const TimeFormat* format = formats.For(pattern);
        if (!format) return call.Fail(formats.error());
        int64_t millis;
        if (__builtin_mul_overflow(seconds, int64_t{1000}, &millis)) return Outcome::kNull;
        int64_t offset = 0;
        ZoneOffsetAtInstant(zone, millis, &offset);
        call.text.clear();
        format->AppendLeniently({millis + offset, 0}, &call.text);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

namespace {

class UnixNowNode final : public Node {
 public:
  using Node::Node;
  Status Compute(const Frame& frame, Rows rows, View* out) override {
    int64_t* const slots = buffer_.Slots<int64_t>(frame.rows);
    ForEach(rows, [&](int row) { slots[row] = FloorDiv(frame.now_millis, 1000); });
    *out = {reinterpret_cast<const char*>(slots), nullptr};
    return Status::Ok();
  }
};

}  // namespace

// UNIX_TIMESTAMP(), UNIX_TIMESTAMP(text [, pattern]): what does not parse is -2^63.
Result<NodePointer> BuildUnixTimestamp(CallSite& site) {
  if (site.size() == 0) return NodePointer(std::make_unique<UnixNowNode>(site.type()));
  RT_ASSIGN(FormatOf formats, FormatOf::Make(site, 1));
  return PerRow<int64_t, StringView, StringView>(
      site,
      [formats, zone = site.context.local_time_zone](
          RowCall& call, const StringView& text, const StringView& pattern, int64_t* out) mutable {
        const TimeFormat* format = formats.For(pattern);
        if (!format) return call.Fail(formats.error());
        WideTime time{};
        const bool ok = format->ReadLeniently(text.view(), &time) &&
                        CalendarInstant(zone, time.millis, &time.millis);
        *out = ok ? FloorDiv(time.millis, 1000) : std::numeric_limits<int64_t>::min();
        return Outcome::kValue;
      });
}

// CONVERT_TZ(text, from, to)
Result<NodePointer> BuildConvertTz(CallSite& site) {
  TimeFormat format;
  std::string error;
  RT_CHECK(format.Parse(kDefaultPattern, &error));
  return PerRow<StringView, StringView, StringView, StringView>(
      site, [format](RowCall& call, const StringView& text, const StringView& from,
                     const StringView& to, StringView* out) {
        WideTime time{};
        int64_t to_offset;
        if (!format.ReadLeniently(text.view(), &time)) return Outcome::kNull;
        if (!CalendarInstant(from.view(), time.millis, &time.millis)) return Outcome::kNull;
        if (!ZoneOffsetAtInstant(to.view(), time.millis, &to_offset)) return Outcome::kNull;
        time.millis += to_offset;
        call.text.clear();
        format.Append(time, &call.text);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

}  // namespace rowtide

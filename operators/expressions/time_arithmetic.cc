// Dates and times plus and minus intervals, differences, and intervals times numbers.
//
//   2026-01-31 + 1 month = 2026-02-28        the day is cut to the month's last
//   2026-02-28 - 2026-01-31 in months = 1    the months that can be added without going past
#include <algorithm>

#include "engine/value_text.h"
#include "operators/expressions/casts.h"
#include "operators/expressions/kernels.h"

namespace rowtide {
namespace {

constexpr int64_t kDay = 86'400'000;

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Slots of NULL rows hold anything, so the sum must not overflow as signed numbers do.
template <int kSign>
int64_t WrappedSum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(kSign) * static_cast<uint64_t>(b));
}

int64_t AddMonths(int64_t days, int64_t months) {
  int64_t year;
  int month, day;
  CivilFromDays(days, &year, &month, &day);
  const int64_t total = year * 12 + month - 1 + months;
  year = FloorDiv(total, 12);
  month = static_cast<int>(total - year * 12) + 1;
  return DaysFromCivil(year, month, std::min(day, DaysOfMonth(year, month)));
}

int64_t MonthsBetweenDays(int64_t a, int64_t b) {
  if (a < b) return -MonthsBetweenDays(b, a);
  int64_t months = (a - b) / 31;
  while (AddMonths(b, months) < a && AddMonths(b, months + 1) <= a) ++months;
  return months;
}

int64_t MonthsBetween(int64_t a, int64_t b) {
  const int64_t days_a = FloorDiv(a, kDay), days_b = FloorDiv(b, kDay);
  const int64_t months = MonthsBetweenDays(days_a, days_b);
  const bool too_early =
      AddMonths(days_b, months) == days_a && a - days_a * kDay < b - days_b * kDay;
  return too_early ? months - 1 : months;
}

WideTime Shifted(WideTime time, int64_t amount, bool months) {
  if (!months) {
    time.millis += amount;
    return time;
  }
  const int64_t days = FloorDiv(time.millis, kDay);
  time.millis = AddMonths(days, amount) * kDay + (time.millis - days * kDay);
  return time;
}

template <typename S>
NodePointer Shift(CallSite& site, bool months, int64_t sign) {
  const Type type = site.arguments[0]->type();
  return PerRow<S, S, int64_t>(
      site, [type, months, sign](RowCall&, const S& slot, int64_t interval, S* out) {
        const int64_t amount = sign * interval;
        if constexpr (std::is_same_v<S, int32_t>) {
          int64_t value = slot;
          if (type.kind == TypeKind::kTime) {
            value = months ? value : ((value + amount) % kDay + kDay) % kDay;
          } else {
            value = months ? AddMonths(value, amount) : value + amount / kDay;
          }
          *out = static_cast<int32_t>(value);
        } else {
          // Digits below the type's precision stay, as in Flink: TIMESTAMP(0) + 0.5 s + 0.5 s is a
          // second later.
          StoreTime(Shifted(LoadTime(slot, type.precision), amount, months),
                    std::max(type.precision, 3), out);
        }
        return Outcome::kValue;
      });
}

Result<NodePointer> BuildShift(CallSite& site, int64_t sign) {
  if (IsInterval(site.arguments[0]->type())) std::swap(site.arguments[0], site.arguments[1]);
  const Type time = site.arguments[0]->type();
  const bool months = site.arguments[1]->type().kind == TypeKind::kIntervalMonths;
  if (LayoutOf(time) == Layout::kInt64 && time.precision == 3 && !months) {
    // Milliseconds and milliseconds: what every watermark is made of.
    const auto sum = sign > 0 ? WrappedSum<1> : WrappedSum<-1>;
    return Pure<int64_t, int64_t, int64_t>(site.type(), std::move(site.arguments), sum);
  }
  switch (LayoutOf(time)) {
    case Layout::kInt32: return Shift<int32_t>(site, months, sign);
    case Layout::kInt64: return Shift<int64_t>(site, months, sign);
    default: return Shift<WideTime>(site, months, sign);
  }
}

// Of two points in time: in months or milliseconds, as the call's type says.
Result<NodePointer> BuildDifference(CallSite& site) {
  const bool months = site.type().kind == TypeKind::kIntervalMonths;
  for (size_t i = 0; i < 2; ++i) {
    // One of TIMESTAMP and TIMESTAMP_LTZ: both as the wall clock shows them.
    const Type& own = site.arguments[i]->type();
    const Type& other = site.arguments[1 - i]->type();
    if (own.kind == TypeKind::kTime) continue;
    const bool both_instants =
        own.kind == TypeKind::kTimestampLtz && other.kind == TypeKind::kTimestampLtz;
    if (!both_instants || months) RT_TRY(CastArgument(&site, i, Type::Timestamp(3)));
    if (both_instants && !months) RT_TRY(CastArgument(&site, i, Type::TimestampLtz(3)));
  }
  if (site.arguments[0]->type().kind == TypeKind::kTime) {
    if (months) {  // Flink takes the milliseconds for days here
      return Pure<int64_t, int32_t, int32_t>(
          site.type(), std::move(site.arguments),
          [](int32_t a, int32_t b) { return MonthsBetweenDays(a, b); });
    }
    return Pure<int64_t, int32_t, int32_t>(site.type(), std::move(site.arguments),
                                           [](int32_t a, int32_t b) { return int64_t{a} - b; });
  }
  if (months) {
    return PerRow<int64_t, int64_t, int64_t>(site,
                                             [](RowCall&, int64_t a, int64_t b, int64_t* out) {
                                               *out = MonthsBetween(a, b);
                                               return Outcome::kValue;
                                             });
  }
  return Pure<int64_t, int64_t, int64_t>(site.type(), std::move(site.arguments), WrappedSum<-1>);
}

Result<NodePointer> BuildScaled(CallSite& site, bool divides) {
  if (!IsInterval(site.arguments[0]->type())) std::swap(site.arguments[0], site.arguments[1]);
  const bool whole = IsInteger(site.arguments[1]->type());
  RT_TRY(CastArgument(&site, 1, whole ? Type::BigInt() : Type::Double()));
  if (whole) {
    return PerRow<int64_t, int64_t, int64_t>(
        site, [divides](RowCall& call, int64_t interval, int64_t number, int64_t* out) {
          if (divides && number == 0) return call.Fail("division by zero");
          *out = divides ? interval / number
                         : static_cast<int64_t>(static_cast<uint64_t>(interval) *
                                                static_cast<uint64_t>(number));
          return Outcome::kValue;
        });
  }
  return PerRow<int64_t, int64_t, double>(
      site, [divides](RowCall& call, int64_t interval, double number, int64_t* out) {
        if (divides && number == 0) return call.Fail("division by zero");
        const double scaled = divides ? static_cast<double>(interval) / number
                                      : static_cast<double>(interval) * number;
        *out = static_cast<int64_t>(scaled);
        return Outcome::kValue;
      });
}

}  // namespace

bool IsTimeArithmetic(const CallSite& site) {
  for (const NodePointer& argument : site.arguments) {
    if (IsTemporal(argument->type()) || IsInterval(argument->type())) return true;
  }
  return false;
}

Result<NodePointer> BuildTimeArithmetic(CallSite& site) {
  const std::string& name = site.call.function;
  const Type& a = site.arguments[0]->type();
  const Type& b = site.arguments[1]->type();
  if (name == "*" || name == "/") return BuildScaled(site, name == "/");
  if (IsTemporal(a) && IsTemporal(b)) return BuildDifference(site);
  const int64_t sign = name == "-" ? -1 : 1;
  if (IsInterval(a) && IsInterval(b)) {
    const auto sum = sign > 0 ? WrappedSum<1> : WrappedSum<-1>;
    return Pure<int64_t, int64_t, int64_t>(site.type(), std::move(site.arguments), sum);
  }
  return BuildShift(site, sign);
}

}  // namespace rowtide

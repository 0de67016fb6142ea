// CAST between DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ. TIMESTAMP_LTZ is read and written in the
// session's zone.
#include <algorithm>

#include "engine/value_text.h"
#include "operators/expressions/casts.h"

namespace rowtide {
namespace {

constexpr int64_t kDayMillis = 86'400'000;

int64_t FloorDays(int64_t millis) {
  return millis >= 0 ? millis / kDayMillis : -((-millis + kDayMillis - 1) / kDayMillis);
}

// What the source shows on the wall clock, or for LTZ the instant.
enum class From : uint8_t { kDate, kTime, kTimestamp, kLtz };

From FromOf(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDate: return From::kDate;
    case TypeKind::kTime: return From::kTime;
    case TypeKind::kTimestamp: return From::kTimestamp;
    default: return From::kLtz;
  }
}

template <typename S>
WideTime Load(From from, const S& slot, int precision) {
  if constexpr (std::is_same_v<S, int32_t>) {
    return {from == From::kDate ? int64_t{slot} * kDayMillis : int64_t{slot}, 0};
  } else {
    return LoadTime(slot, precision);
  }
}

template <typename R>
void Store(WideTime time, const Type& to, R* out) {
  if constexpr (std::is_same_v<R, int32_t>) {
    const int64_t days = FloorDays(time.millis);
    *out =
        static_cast<int32_t>(to.kind == TypeKind::kDate ? days : time.millis - days * kDayMillis);
  } else {
    StoreTime(time, to.precision, out);
  }
}

// The milliseconds of which Flink keeps a whole number.
int64_t UnitOfFlink(From source, const Type& to) {
  static constexpr int64_t kUnits[] = {1000, 100, 10, 1};
  if (to.kind == TypeKind::kDate) return source == From::kTimestamp ? kDayMillis : 1;
  return IsTimestamp(to) ? kUnits[std::min(to.precision, 3)] : 1;
}

template <typename R, typename S>
NodePointer Convert(CastSite& site) {
  const Type from = site.from();
  const Type to = site.to;
  const From source = FromOf(from);
  const bool from_instant = source == From::kLtz && to.kind != TypeKind::kTimestampLtz;
  // Flink cuts towards 1970, so a TIMESTAMP before it falls on the next day, or into the next
  // second (deviation 15.24).
  const int64_t cut = site.context.flink_compat ? UnitOfFlink(source, to) : 1;
  const bool to_instant = source != From::kLtz && to.kind == TypeKind::kTimestampLtz;
  return CastRow<R, S>(site,
                       [=, zone = site.context.local_time_zone](RowCall&, const S& slot, R* out) {
                         WideTime time = Load(source, slot, from.precision);
                         int64_t offset = 0;
                         if (from_instant) ZoneOffsetAtInstant(zone, time.millis, &offset);
                         if (to_instant) ZoneOffsetAtLocal(zone, time.millis, &offset);
                         time.millis += from_instant ? offset : -offset;
                         time.millis = time.millis / cut * cut;
                         Store(time, to, out);
                         return Outcome::kValue;
                       });
}

template <typename S>
Result<NodePointer> ConvertTo(CastSite& site) {
  switch (LayoutOf(site.to)) {
    case Layout::kInt32: return Convert<int32_t, S>(site);
    case Layout::kInt64: return Convert<int64_t, S>(site);
    default: return Convert<WideTime, S>(site);
  }
}

}  // namespace

void StoreTime(WideTime time, int precision, int64_t* slot) {
  if (precision == 3) {
    *slot = time.millis;
    return;
  }
  *slot = std::get<int64_t>(FromWideTime(time, Type::Timestamp(precision)));
}

void StoreTime(WideTime time, int precision, WideTime* slot) {
  *slot = std::get<WideTime>(FromWideTime(time, Type::Timestamp(precision)));
}

Result<NodePointer> CastTime(CastSite& site) {
  switch (LayoutOf(site.from())) {
    case Layout::kInt32: return ConvertTo<int32_t>(site);
    case Layout::kInt64: return ConvertTo<int64_t>(site);
    default: return ConvertTo<WideTime>(site);
  }
}

}  // namespace rowtide

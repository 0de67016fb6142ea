// Parts of times, FLOOR and CEIL TO a unit, and the functions that tell the time.
#include <algorithm>
#include <unordered_map>

#include "engine/value_text.h"
#include "operators/expressions/casts.h"
#include "operators/expressions/kernels.h"

namespace rowtide {
namespace {

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;

int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}
int64_t CeilDiv(int64_t a, int64_t b) { return -FloorDiv(-a, b); }

enum class Unit : uint8_t {
  kMillennium,
  kCentury,
  kDecade,
  kYear,
  kIsoYear,
  kQuarter,
  kMonth,
  kWeek,
  kDay,
  kDayOfWeek,
  kIsoDayOfWeek,
  kDayOfYear,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kMicrosecond,
  kNanosecond,
  kEpoch,
};

bool FindUnit(const std::string& name, Unit* unit) {
  static const std::unordered_map<std::string_view, Unit> units{
      {"MILLENNIUM", Unit::kMillennium},
      {"CENTURY", Unit::kCentury},
      {"DECADE", Unit::kDecade},
      {"YEAR", Unit::kYear},
      {"ISOYEAR", Unit::kIsoYear},
      {"QUARTER", Unit::kQuarter},
      {"MONTH", Unit::kMonth},
      {"WEEK", Unit::kWeek},
      {"DAY", Unit::kDay},
      {"DOW", Unit::kDayOfWeek},
      {"ISODOW", Unit::kIsoDayOfWeek},
      {"DOY", Unit::kDayOfYear},
      {"HOUR", Unit::kHour},
      {"MINUTE", Unit::kMinute},
      {"SECOND", Unit::kSecond},
      {"MILLISECOND", Unit::kMillisecond},
      {"MICROSECOND", Unit::kMicrosecond},
      {"NANOSECOND", Unit::kNanosecond},
      {"EPOCH", Unit::kEpoch},
  };
  const auto found = units.find(name);
  if (found == units.end()) return false;
  *unit = found->second;
  return true;
}

// Monday is 0.
int64_t DayOfWeek(int64_t days) { return ((days + 3) % 7 + 7) % 7; }

// The Thursday of a week decides which year it is in.
int64_t IsoYear(int64_t days) {
  int64_t year;
  int month, day;
  CivilFromDays(days - DayOfWeek(days) + 3, &year, &month, &day);
  return year;
}

int64_t IsoWeek(int64_t days) {
  const int64_t thursday = days - DayOfWeek(days) + 3;
  return (thursday - DaysFromCivil(IsoYear(days), 1, 1)) / 7 + 1;
}

int64_t PartOfDate(Unit unit, int64_t days) {
  int64_t year;
  int month, day;
  CivilFromDays(days, &year, &month, &day);
  switch (unit) {
    case Unit::kMillennium: return year > 0 ? (year + 999) / 1000 : -((999 - (year - 1)) / 1000);
    case Unit::kCentury: return year > 0 ? (year + 99) / 100 : -((99 - (year - 1)) / 100);
    case Unit::kDecade: return FloorDiv(year, 10);
    case Unit::kYear: return year;
    case Unit::kIsoYear: return IsoYear(days);
    case Unit::kQuarter: return (month + 2) / 3;
    case Unit::kMonth: return month;
    case Unit::kWeek: return IsoWeek(days);
    case Unit::kDay: return day;
    case Unit::kDayOfWeek: return (DayOfWeek(days) + 1) % 7 + 1;
    case Unit::kIsoDayOfWeek: return DayOfWeek(days) + 1;
    case Unit::kDayOfYear: return days - DaysFromCivil(year, 1, 1) + 1;
    default: return 0;
  }
}

int64_t Part(Unit unit, WideTime time) {
  const int64_t days = FloorDiv(time.millis, kDay);
  const int64_t millis_of_day = time.millis - days * kDay;
  switch (unit) {
    case Unit::kHour: return millis_of_day / kHour;
    case Unit::kMinute: return millis_of_day / kMinute % 60;
    case Unit::kSecond: return millis_of_day / kSecond % 60;
    case Unit::kMillisecond: return millis_of_day % kSecond;
    case Unit::kMicrosecond: return millis_of_day % kSecond * 1000 + time.nanos / 1000;
    case Unit::kNanosecond: return millis_of_day % kSecond * 1'000'000 + time.nanos;
    case Unit::kEpoch: return FloorDiv(time.millis, kSecond);
    default: return PartOfDate(unit, days);
  }
}

template <typename S>
WideTime LoadAny(const S& slot, const Type& type) {
  if constexpr (std::is_same_v<S, int32_t>) {
    return {type.kind == TypeKind::kDate ? slot * kDay : int64_t{slot}, 0};
  } else {
    return LoadTime(slot, type.precision);
  }
}

// How the wall clock of the type's values is reached: LTZ ones are moved into the session's zone.
int64_t OffsetOf(const Type& type, const std::string& zone, int64_t millis) {
  int64_t offset = 0;
  if (type.kind == TypeKind::kTimestampLtz) ZoneOffsetAtInstant(zone, millis, &offset);
  return offset;
}

template <typename S>
Result<NodePointer> ExtractFrom(CallSite& site, Unit unit) {
  const Type type = site.arguments[1]->type();
  Nodes operand;
  operand.push_back(std::move(site.arguments[1]));
  site.arguments = std::move(operand);
  return PerRow<int64_t, S>(site, [unit, type, zone = site.context.local_time_zone](
                                      RowCall&, const S& slot, int64_t* out) {
    WideTime time = LoadAny(slot, type);
    // EPOCH too: Flink counts the seconds of the wall clock.
    time.millis += OffsetOf(type, zone, time.millis);
    *out = Part(unit, time);
    return Outcome::kValue;
  });
}

// A unit of an interval: what is left of it below the next larger unit, with its sign.
int64_t PartOfInterval(Unit unit, int64_t amount) {
  switch (unit) {
    case Unit::kMillennium: return amount / 12 / 1000;
    case Unit::kCentury: return amount / 12 / 100;
    case Unit::kYear: return amount / 12;
    case Unit::kQuarter: return (amount % 12 - 1) / 3 + 1;
    case Unit::kMonth: return amount % 12;
    case Unit::kDay: return amount / kDay;
    case Unit::kHour: return amount % kDay / kHour;
    case Unit::kMinute: return amount % kHour / kMinute;
    case Unit::kSecond: return amount % kMinute / kSecond;
    default: return amount % kSecond;
  }
}

Result<NodePointer> ExtractFromInterval(CallSite& site, Unit unit, const std::string& word) {
  const Type type = site.argument_type(1);
  const bool months = type.kind == TypeKind::kIntervalMonths;
  const bool of_months = unit == Unit::kMillennium || unit == Unit::kCentury ||
                         unit == Unit::kYear || unit == Unit::kQuarter || unit == Unit::kMonth;
  const bool of_millis = unit == Unit::kDay || (unit >= Unit::kHour && unit <= Unit::kMillisecond);
  if (!(months ? of_months : of_millis)) {
    const bool of_other = months ? of_millis : of_months;
    const bool below_millis = unit == Unit::kMicrosecond || unit == Unit::kNanosecond;
    return Status::InvalidArgument("an {} has no {}", ToString(type.Nullable()), word)
        .WithErrorCode("RT2024")
        .WithKind(of_other || below_millis ? ErrorKind::kValidate : ErrorKind::kRun);
  }
  site.arguments.erase(site.arguments.begin());
  return PerRow<int64_t, int64_t>(site, [unit](RowCall&, int64_t amount, int64_t* out) {
    *out = PartOfInterval(unit, amount);
    return Outcome::kValue;
  });
}

// --- FLOOR and CEIL ------------------------------------------------------------------------------

// The first day of the unit that holds the day, or with `up` of the next one unless the day is
// itself a first.
int64_t RoundDays(Unit unit, int64_t days, bool up) {
  int64_t year;
  int month, day;
  CivilFromDays(days, &year, &month, &day);
  const auto years = [&](int64_t step, int64_t first) {
    const int64_t floor = FloorDiv(year - first, step) * step + first;
    const int64_t start = DaysFromCivil(floor, 1, 1);
    return up && start != days ? DaysFromCivil(floor + step, 1, 1) : start;
  };
  const auto months = [&](int step) {
    const int floor = (month - 1) / step * step + 1;
    const int64_t start = DaysFromCivil(year, floor, 1);
    if (!up || start == days) return start;
    return floor + step > 12 ? DaysFromCivil(year + 1, 1, 1) : DaysFromCivil(year, floor + step, 1);
  };
  switch (unit) {
    case Unit::kMillennium: return years(1000, 1);
    case Unit::kCentury: return years(100, 1);
    case Unit::kDecade: return years(10, 0);
    case Unit::kYear: return years(1, 0);
    case Unit::kQuarter: return months(3);
    case Unit::kMonth: return months(1);
    case Unit::kWeek: {
      // Weeks start on Sunday here.
      const int64_t start = days - (DayOfWeek(days) + 1) % 7;
      return up && start != days ? start + 7 : start;
    }
    default: return days;
  }
}

int64_t MillisOf(Unit unit) {
  switch (unit) {
    case Unit::kHour: return kHour;
    case Unit::kMinute: return kMinute;
    case Unit::kSecond: return kSecond;
    case Unit::kMillisecond: return 1;
    case Unit::kDay: return kDay;
    default: return 0;  // no fixed length
  }
}

int64_t RoundMillis(Unit unit, int64_t millis, bool up) {
  if (const int64_t length = MillisOf(unit))
    return (up ? CeilDiv(millis, length) : FloorDiv(millis, length)) * length;
  // The time of the day does not count: CEIL of a first of January, at any hour, is its midnight.
  return RoundDays(unit, FloorDiv(millis, kDay), up) * kDay;
}

template <typename S>
NodePointer RoundTime(CallSite& site, Unit unit, bool up) {
  const Type type = site.type();
  site.arguments.resize(1);
  return PerRow<S, S>(
      site, [type, unit, up, zone = site.context.local_time_zone](RowCall&, const S& slot, S* out) {
        if constexpr (std::is_same_v<S, int32_t>) {
          const bool is_date = type.kind == TypeKind::kDate;
          // CEIL of a DATE TO DAY is the next one, as in Flink.
          const int64_t whole_day = is_date && up && unit == Unit::kDay ? 1 : 0;
          const int64_t rounded =
              RoundMillis(unit, is_date ? (slot + whole_day) * kDay : int64_t{slot}, up);
          *out = static_cast<int32_t>(is_date ? FloorDiv(rounded, kDay) : rounded);
        } else {
          WideTime time = LoadTime(slot, type.precision);
          time.nanos = 0;  // does not count
          // The way back takes the same offset, even if the clocks change in between, as in Flink.
          const int64_t offset = OffsetOf(type, zone, time.millis);
          time.millis = RoundMillis(unit, time.millis + offset, up) - offset;
          StoreTime(time, std::max(type.precision, 3), out);
        }
        return Outcome::kValue;
      });
}

// --- now -----------------------------------------------------------------------------------------

class NowNode final : public Node {
 public:
  NowNode(Type type, bool local, std::string zone)
      : Node(type), local_(local), zone_(std::move(zone)) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    int64_t offset = 0;
    if (local_) ZoneOffsetAtInstant(zone_, frame.now_millis, &offset);
    const int64_t millis = frame.now_millis + offset;
    const int64_t days = FloorDiv(millis, kDay);
    if (LayoutOf(type_) == Layout::kInt32) {
      const int64_t value =
          type_.kind == TypeKind::kDate ? days : (millis - days * kDay) / kSecond * kSecond;
      int32_t* const slots = buffer_.Slots<int32_t>(frame.rows);
      ForEach(rows, [&](int row) { slots[row] = static_cast<int32_t>(value); });
      out->data = reinterpret_cast<const char*>(slots);
    } else {
      int64_t* const slots = buffer_.Slots<int64_t>(frame.rows);
      ForEach(rows, [&](int row) { slots[row] = millis; });
      out->data = reinterpret_cast<const char*>(slots);
    }
    out->nulls = nullptr;
    return Status::Ok();
  }

 private:
  bool local_;
  std::string zone_;
};

class WatermarkNode final : public Node {
 public:
  WatermarkNode(Type type, const int64_t* watermark) : Node(type), watermark_(watermark) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    const bool known = watermark_ != nullptr && *watermark_ != Time::kNoWatermark;
    int64_t* const slots = buffer_.Slots<int64_t>(frame.rows);
    uint8_t* const nulls = buffer_.Nulls(frame.rows);
    ForEach(rows, [&](int row) {
      slots[row] = known ? *watermark_ : 0;
      nulls[row] = known ? 0 : 1;
    });
    *out = {reinterpret_cast<const char*>(slots), nulls};
    return Status::Ok();
  }

 private:
  const int64_t* watermark_;
};

}  // namespace

Result<NodePointer> BuildExtract(CallSite& site) {
  const std::string* word = site.LiteralText(0);
  Unit unit;
  if (!word || !FindUnit(*word, &unit))
    return Status::InvalidArgument("EXTRACT knows no unit {}", word ? *word : "")
        .WithErrorCode("RT2024");
  const Type type = site.argument_type(1);
  if (IsInterval(type)) return ExtractFromInterval(site, unit, *word);
  if (!IsTemporal(type))
    return Status::InvalidArgument("EXTRACT needs a date or time, not {}", ToString(type))
        .WithErrorCode("RT2006");
  const bool of_time = unit >= Unit::kHour && unit <= Unit::kMillisecond;
  const bool below_millis = unit == Unit::kMicrosecond || unit == Unit::kNanosecond;
  if ((type.kind == TypeKind::kTime && !of_time) ||
      (type.kind == TypeKind::kDate && below_millis)) {
    return Status::InvalidArgument("a {} has no {}", ToString(type.Nullable()), *word)
        .WithErrorCode("RT2024");
  }
  switch (LayoutOf(type)) {
    case Layout::kInt32: return ExtractFrom<int32_t>(site, unit);
    case Layout::kInt64: return ExtractFrom<int64_t>(site, unit);
    default: return ExtractFrom<WideTime>(site, unit);
  }
}

Result<NodePointer> BuildTimeFloor(CallSite& site, bool ceil) {
  const std::string* word = site.LiteralText(1);
  Unit unit;
  if (!word || !FindUnit(*word, &unit))
    return Status::InvalidArgument("{} knows no unit {}", site.call.function, word ? *word : "")
        .WithErrorCode("RT2024");
  if (!IsTemporal(site.argument_type(0)))
    return Status::InvalidArgument("{} TO needs a date or time", site.call.function)
        .WithErrorCode("RT2006");
  if (site.argument_type(0).kind == TypeKind::kTime && unit < Unit::kHour)
    return Status::InvalidArgument("a TIME has no {}", *word).WithErrorCode("RT2024");
  RT_TRY(CastArgument(&site, 0, site.type()));
  switch (LayoutOf(site.type())) {
    case Layout::kInt32: return RoundTime<int32_t>(site, unit, ceil);
    case Layout::kInt64: return RoundTime<int64_t>(site, unit, ceil);
    default: return RoundTime<WideTime>(site, unit, ceil);
  }
}

Result<NodePointer> BuildNow(CallSite& site) {
  const bool instant = site.type().kind == TypeKind::kTimestampLtz;
  return NodePointer(
      std::make_unique<NowNode>(site.type(), !instant, site.context.local_time_zone));
}

Result<NodePointer> BuildWatermark(CallSite& site) {
  return NodePointer(std::make_unique<WatermarkNode>(site.type(), site.context.watermark));
}

// The time at which the row came, as PROCTIME() has put it into its column.
Result<NodePointer> BuildMaterialize(CallSite& site) { return std::move(site.arguments[0]); }

}  // namespace rowtide

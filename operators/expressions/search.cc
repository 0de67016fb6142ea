// SEARCH(x, Sarg[…]): membership in a sorted list of ranges.
#include <algorithm>
#include <type_traits>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

template <typename T>
struct TypedRange {
  T lower{};
  T upper{};
  bool has_lower = false;
  bool has_upper = false;
  bool lower_inclusive = true;
  bool upper_inclusive = true;

  template <typename V>
  bool StartsAfter(const V& value) const {
    return has_lower && (lower_inclusive ? value < lower : !(lower < value));
  }
  template <typename V>
  bool EndsBefore(const V& value) const {
    return has_upper && (upper_inclusive ? upper < value : !(value < upper));
  }
};

// Disjoint and ascending: the last range that does not start after the value is the only one that
// can hold it.
template <typename T>
class RangeSet {
 public:
  explicit RangeSet(std::vector<TypedRange<T>> ranges)
      : ranges_(std::move(ranges)), holds_nan_(IsAllButPoints()) {}

  // `value` is a T or compares with one: a string_view with strings.
  template <typename V>
  bool Contains(const V& value) const {
    if constexpr (std::is_floating_point_v<V>) {
      if (value != value) return holds_nan_;
    }
    const auto after = std::partition_point(
        ranges_.begin(), ranges_.end(),
        [&value](const TypedRange<T>& range) { return !range.StartsAfter(value); });
    return after != ranges_.begin() && !(after - 1)->EndsBefore(value);
  }

 private:
  // Calcite writes these as `x <> 1 AND x <> 2`, which NaN passes; all others have a < or a >.
  bool IsAllButPoints() const {
    if (ranges_.empty() || ranges_.front().has_lower || ranges_.back().has_upper) return false;
    for (size_t i = 1; i < ranges_.size(); ++i) {
      const TypedRange<T>& below = ranges_[i - 1];
      const TypedRange<T>& above = ranges_[i];
      const bool is_point = !(below.upper < above.lower) && !(above.lower < below.upper);
      if (!is_point || below.upper_inclusive || above.lower_inclusive) return false;
    }
    return true;
  }

  std::vector<TypedRange<T>> ranges_;
  bool holds_nan_;
};

template <typename T, typename Convert>
Result<RangeSet<T>> RangesOf(const Sarg& sarg, Convert convert) {
  std::vector<TypedRange<T>> ranges;
  for (const Sarg::Range& range : sarg.ranges) {
    TypedRange<T> typed;
    typed.lower_inclusive = range.lower_inclusive;
    typed.upper_inclusive = range.upper_inclusive;
    if (range.lower) {
      typed.has_lower = true;
      RT_ASSIGN(typed.lower, convert(*range.lower));
    }
    if (range.upper) {
      typed.has_upper = true;
      RT_ASSIGN(typed.upper, convert(*range.upper));
    }
    ranges.push_back(std::move(typed));
  }
  return RangeSet<T>(std::move(ranges));
}

// What the Sarg says of NULL is put over the answers.
class NullAsNode final : public Node {
 public:
  NullAsNode(Type type, NodePointer search, bool answer)
      : Node(type), search_(std::move(search)), answer_(answer) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    View view;
    RT_TRY(search_->Compute(frame, rows, &view));
    uint8_t* const values = buffer_.Slots<uint8_t>(frame.rows);
    const uint8_t* const found = view.slots<uint8_t>();
    ForEach(rows, [&](int row) { values[row] = view.IsNull(row) ? answer_ : found[row]; });
    *out = {reinterpret_cast<const char*>(values), nullptr};
    return Status::Ok();
  }

 private:
  NodePointer search_;
  bool answer_;
};

// The points as values of the type that the operand is compared in.
Result<Value> PointAs(const Value& value, const Type& from, const Type& to,
                      const EvaluationContext& context) {
  Expression literal = Expression::Literal(value, from.NotNull());
  if (from.SameButNullability(to)) return value;
  return EvaluateConstant(Expression::Cast(std::move(literal), to.NotNull()), context);
}

template <typename T, typename Slot, typename Load, typename Read>
Result<NodePointer> SearchNode(CallSite& site, const Sarg& sarg, Load load, Read read) {
  RT_ASSIGN(RangeSet<T> ranges, (RangesOf<T>(sarg, load)));
  auto shared = std::make_shared<const RangeSet<T>>(std::move(ranges));
  const Type type = sarg.null_as == Sarg::NullAs::kUnknown ? site.type() : Type::Boolean();
  return PerRow<uint8_t, Slot>(type, site.label, std::move(site.arguments),
                               [shared, read](RowCall&, const Slot& value, uint8_t* out) {
                                 *out = shared->Contains(read(value)) ? 1 : 0;
                                 return Outcome::kValue;
                               });
}

struct WidePoint {
  WideTime time{};
  friend bool operator<(const WidePoint& a, const WidePoint& b) {
    return a.time.millis != b.time.millis ? a.time.millis < b.time.millis
                                          : a.time.nanos < b.time.nanos;
  }
};

template <typename Slot>
Result<NodePointer> IntegerSearch(CallSite& site, const Sarg& sarg, const Type& type) {
  const Type from = sarg.type;
  const auto load = [&, from](const Value& value) -> Result<int64_t> {
    RT_ASSIGN(Value point, PointAs(value, from, type, site.context));
    if (const int128* decimal = std::get_if<int128>(&point)) return static_cast<int64_t>(*decimal);
    return std::get<int64_t>(point);
  };
  return SearchNode<int64_t, Slot>(site, sarg, load,
                                   [](Slot value) { return static_cast<int64_t>(value); });
}

template <typename T, typename Slot, typename Get>
Result<NodePointer> OtherSearch(CallSite& site, const Sarg& sarg, const Type& type, Get get) {
  const Type from = sarg.type;
  const auto load = [&, from](const Value& value) -> Result<T> {
    RT_ASSIGN(Value point, PointAs(value, from, type, site.context));
    return get.FromValue(point);
  };
  return SearchNode<T, Slot>(site, sarg, load,
                             [get](const Slot& value) { return get.FromSlot(value); });
}

struct GetDouble {
  static double FromValue(const Value& value) { return std::get<double>(value); }
  static double FromSlot(double value) { return value; }
};
struct GetFloat {
  static double FromValue(const Value& value) { return std::get<double>(value); }
  static double FromSlot(float value) { return static_cast<double>(value); }
};
struct GetDecimal {
  static int128 FromValue(const Value& value) { return std::get<int128>(value); }
  static int128 FromSlot(int128 value) { return value; }
};
struct GetBoolean {
  static int64_t FromValue(const Value& value) { return std::get<bool>(value) ? 1 : 0; }
  static int64_t FromSlot(uint8_t value) { return value; }
};
struct GetText {
  static std::string FromValue(const Value& value) { return std::get<std::string>(value); }
  static std::string_view FromSlot(const StringView& value) { return value.view(); }
};
struct GetWide {
  static WidePoint FromValue(const Value& value) { return {std::get<WideTime>(value)}; }
  static WidePoint FromSlot(const WideTime& value) { return {value}; }
};

Result<NodePointer> BuildTyped(CallSite& site, const Sarg& sarg, const Type& type) {
  switch (LayoutOf(type)) {
    case Layout::kBool: return OtherSearch<int64_t, uint8_t>(site, sarg, type, GetBoolean());
    case Layout::kInt8: return IntegerSearch<int8_t>(site, sarg, type);
    case Layout::kInt16: return IntegerSearch<int16_t>(site, sarg, type);
    case Layout::kInt32: return IntegerSearch<int32_t>(site, sarg, type);
    case Layout::kInt64: return IntegerSearch<int64_t>(site, sarg, type);
    case Layout::kFloat: return OtherSearch<double, float>(site, sarg, type, GetFloat());
    case Layout::kDouble: return OtherSearch<double, double>(site, sarg, type, GetDouble());
    case Layout::kInt128: return OtherSearch<int128, int128>(site, sarg, type, GetDecimal());
    case Layout::kBytes: return OtherSearch<std::string, StringView>(site, sarg, type, GetText());
    case Layout::kWideTime: return OtherSearch<WidePoint, WideTime>(site, sarg, type, GetWide());
  }
  RT_CHECK(false);
}

}  // namespace

Result<NodePointer> BuildSearch(CallSite& site) {
  if (!site.call.sarg) return Status::Internal("SEARCH without its ranges");
  const Sarg& sarg = *site.call.sarg;
  site.arguments.resize(1);  // whatever stands for the Sarg among the operands is not computed
  const Type operand = site.arguments[0]->type();
  std::optional<Type> common = ComparedIn(operand, sarg.type);
  if (!common)
    return Status::Unsupported("SEARCH of {} among {}", ToString(operand), ToString(sarg.type));
  Sarg points = sarg;
  if (IsCharacter(operand)) {
    common = operand;
    points.type = operand;
  }
  RT_TRY(CastArgument(&site, 0, *common));
  RT_ASSIGN(NodePointer search, BuildTyped(site, points, *common));
  if (sarg.null_as == Sarg::NullAs::kUnknown) return search;
  return NodePointer(std::make_unique<NullAsNode>(site.type(), std::move(search),
                                                  sarg.null_as == Sarg::NullAs::kTrue));
}

}  // namespace rowtide

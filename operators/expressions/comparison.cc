// = <> < <= > >=, IS [NOT] DISTINCT FROM, GREATEST and LEAST. Strings and bytes compare by unsigned
// bytes.
#include <functional>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

enum class Order : uint8_t { kEqual, kUnequal, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

Order OrderOf(const std::string& name) {
  if (name == "=" || name == "IS NOT DISTINCT FROM") return Order::kEqual;
  if (name == "<>" || name == "IS DISTINCT FROM") return Order::kUnequal;
  if (name == "<") return Order::kLess;
  if (name == "<=") return Order::kLessOrEqual;
  return name == ">" ? Order::kGreater : Order::kGreaterOrEqual;
}

// Fixed-width values compare on every row, NULL or not.
template <typename T, template <typename> class Compare>
NodePointer FixedNode(const Type& type, Nodes arguments) {
  return Pure<uint8_t, T, T>(type, std::move(arguments),
                             [](T a, T b) { return static_cast<uint8_t>(Compare<T>()(a, b)); });
}

template <typename T>
NodePointer FixedComparison(Order order, const Type& type, Nodes arguments) {
  switch (order) {
    case Order::kEqual: return FixedNode<T, std::equal_to>(type, std::move(arguments));
    case Order::kUnequal: return FixedNode<T, std::not_equal_to>(type, std::move(arguments));
    case Order::kLess: return FixedNode<T, std::less>(type, std::move(arguments));
    case Order::kLessOrEqual: return FixedNode<T, std::less_equal>(type, std::move(arguments));
    case Order::kGreater: return FixedNode<T, std::greater>(type, std::move(arguments));
    case Order::kGreaterOrEqual:
      return FixedNode<T, std::greater_equal>(type, std::move(arguments));
  }
  RT_CHECK(false);
}

bool Holds(Order order, int sign) {
  switch (order) {
    case Order::kEqual: return sign == 0;
    case Order::kUnequal: return sign != 0;
    case Order::kLess: return sign < 0;
    case Order::kLessOrEqual: return sign <= 0;
    case Order::kGreater: return sign > 0;
    case Order::kGreaterOrEqual: return sign >= 0;
  }
  RT_CHECK(false);
}

// compare(a, b) gives -1, 0 or 1 (any sign); NULL rows are left out.
template <typename A, typename B, typename F>
NodePointer SignedComparison(Order order, const Type& type, Nodes arguments, F compare) {
  return PerRow<uint8_t, A, B>(type, {}, std::move(arguments),
                               [order, compare](RowCall&, const A& a, const B& b, uint8_t* out) {
                                 *out = Holds(order, compare(a, b)) ? 1 : 0;
                                 return Outcome::kValue;
                               });
}

int CompareText(const StringView& a, const StringView& b) { return a.view().compare(b.view()); }

int CompareWide(const WideTime& a, const WideTime& b) {
  if (a.millis != b.millis) return a.millis < b.millis ? -1 : 1;
  return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
}

NodePointer TextComparison(Order order, const Type& type, Nodes arguments) {
  if (order != Order::kEqual && order != Order::kUnequal) {
    return SignedComparison<StringView, StringView>(order, type, std::move(arguments), CompareText);
  }
  const bool wanted = order == Order::kEqual;
  return PerRow<uint8_t, StringView, StringView>(
      type, {}, std::move(arguments),
      [wanted](RowCall&, const StringView& a, const StringView& b, uint8_t* out) {
        *out = (a == b) == wanted ? 1 : 0;
        return Outcome::kValue;
      });
}

NodePointer DecimalComparison(Order order, const Type& type, Nodes arguments) {
  const Type a = arguments[0]->type();
  const Type b = arguments[1]->type();
  const bool narrow_a = a.precision <= 18, narrow_b = b.precision <= 18;
  if (narrow_a && narrow_b && a.scale == b.scale)
    return FixedComparison<int64_t>(order, type, std::move(arguments));
  const auto compare = [a, b](int128 x, int128 y) {
    return DecimalCompare({x, a.scale}, {y, b.scale});
  };
  if (narrow_a && narrow_b)
    return SignedComparison<int64_t, int64_t>(order, type, std::move(arguments), compare);
  if (narrow_a)
    return SignedComparison<int64_t, int128>(order, type, std::move(arguments), compare);
  if (narrow_b)
    return SignedComparison<int128, int64_t>(order, type, std::move(arguments), compare);
  return SignedComparison<int128, int128>(order, type, std::move(arguments), compare);
}

// = of a BOOLEAN and a text, which Flink does not read as one: never equal, whatever it says.
bool NeverEqual(const Type& a, const Type& b) {
  return (a.kind == TypeKind::kBoolean && IsCharacter(b)) ||
         (IsCharacter(a) && b.kind == TypeKind::kBoolean);
}

// Both sides in the type they are compared in; DECIMALs keep their scales.
Status BringTogether(CallSite* site) {
  const Type& a = site->arguments[0]->type();
  const Type& b = site->arguments[1]->type();
  if (NeverEqual(a, b)) return Status::Ok();
  std::optional<Type> common = ComparedIn(a, b);
  if (!common) {
    // A string beside a date, time or number is read as that.
    if (IsCharacter(a) == IsCharacter(b)) {
      return Status::Unsupported("comparing {} and {}", ToString(a), ToString(b));
    }
    common = IsCharacter(a) ? b : a;
  }
  if (common->kind == TypeKind::kNull) common->kind = TypeKind::kBoolean;
  for (size_t i = 0; i < 2; ++i) {
    Type target = *common;
    const Type& own = site->arguments[i]->type();
    if (target.kind == TypeKind::kDecimal && own.kind != TypeKind::kNull)
      target = IsExactNumber(own) ? AsDecimal(own) : target;
    if (IsCharacter(target) && IsCharacter(own)) continue;
    // A text in a column that is no date or time equals none: NULL.
    if (IsCharacter(own) && !site->call.operands[i].is_literal()) {
      NodePointer& text = site->arguments[i];
      RT_ASSIGN(text,
                CastNode(std::move(text), target.Nullable(), true, site->context, site->label));
      continue;
    }
    RT_TRY(CastArgument(site, i, target));
  }
  return Status::Ok();
}

template <typename A, typename B>
NodePointer Unequal(Order order, const Type& type, Nodes arguments) {
  const uint8_t answer = order == Order::kUnequal ? 1 : 0;
  return PerRow<uint8_t, A, B>(type, {}, std::move(arguments),
                               [answer](RowCall&, const A&, const B&, uint8_t* out) {
                                 *out = answer;
                                 return Outcome::kValue;
                               });
}

Result<NodePointer> Compare(Order order, const Type& type, Nodes arguments) {
  const Type& operand = arguments[0]->type();
  if (NeverEqual(operand, arguments[1]->type())) {
    return IsCharacter(operand) ? Unequal<StringView, uint8_t>(order, type, std::move(arguments))
                                : Unequal<uint8_t, StringView>(order, type, std::move(arguments));
  }
  if (operand.kind == TypeKind::kDecimal)
    return DecimalComparison(order, type, std::move(arguments));
  switch (LayoutOf(operand)) {
    case Layout::kBool: return FixedComparison<uint8_t>(order, type, std::move(arguments));
    case Layout::kInt8: return FixedComparison<int8_t>(order, type, std::move(arguments));
    case Layout::kInt16: return FixedComparison<int16_t>(order, type, std::move(arguments));
    case Layout::kInt32: return FixedComparison<int32_t>(order, type, std::move(arguments));
    case Layout::kInt64: return FixedComparison<int64_t>(order, type, std::move(arguments));
    case Layout::kFloat: return FixedComparison<float>(order, type, std::move(arguments));
    case Layout::kDouble: return FixedComparison<double>(order, type, std::move(arguments));
    case Layout::kBytes: return TextComparison(order, type, std::move(arguments));
    case Layout::kWideTime:
      return SignedComparison<WideTime, WideTime>(order, type, std::move(arguments), CompareWide);
    case Layout::kInt128: break;
  }
  return Status::Unsupported("comparing {}", ToString(operand));
}

// `a = b` where both are known, else whether both are NULL. The operands are computed once, by the
// comparison: a node in between shows it their views.
class ViewNode final : public Node {
 public:
  explicit ViewNode(Type type) : Node(type) {}
  Status Compute(const Frame&, Rows, View* out) override {
    *out = view;
    return Status::Ok();
  }
  View view;
};

class DistinctNode final : public Node {
 public:
  DistinctNode(Type type, Nodes operands, std::array<ViewNode*, 2> shown, NodePointer comparison,
               bool distinct)
      : Node(type),
        operands_(std::move(operands)),
        shown_(shown),
        comparison_(std::move(comparison)),
        distinct_(distinct) {}

  Status Compute(const Frame& frame, Rows rows, View* out) override {
    for (size_t i = 0; i < 2; ++i) RT_TRY(operands_[i]->Compute(frame, rows, &shown_[i]->view));
    View compared;
    RT_TRY(comparison_->Compute(frame, rows, &compared));
    uint8_t* const values = buffer_.Slots<uint8_t>(frame.rows);
    const uint8_t* const answers = compared.slots<uint8_t>();
    const View& a = shown_[0]->view;
    const View& b = shown_[1]->view;
    ForEach(rows, [&](int row) {
      const bool null_a = a.IsNull(row), null_b = b.IsNull(row);
      values[row] = null_a || null_b ? (null_a && null_b) != distinct_ : answers[row];
    });
    *out = {reinterpret_cast<const char*>(values), nullptr};
    return Status::Ok();
  }

 private:
  Nodes operands_;
  std::array<ViewNode*, 2> shown_;
  NodePointer comparison_;
  bool distinct_;
};

// NaN is the largest, and -0.0 below 0.0.
template <typename T>
bool LessWithNan(const T& a, const T& b) {
  return a < b || (std::isnan(b) && !std::isnan(a)) ||
         (a == b && std::signbit(a) && !std::signbit(b));
}

// The greatest (or least) of the operands, NULL when one is.
template <typename T, typename Less>
Result<NodePointer> Extreme(CallSite& site, bool greatest, Less less) {
  Nodes operands = std::move(site.arguments);
  NodePointer best = std::move(operands[0]);
  const Type type = site.type();
  for (size_t i = 1; i < operands.size(); ++i) {
    Nodes pair;
    pair.push_back(std::move(best));
    pair.push_back(std::move(operands[i]));
    best = PerRow<T, T, T>(type, site.label, std::move(pair),
                           [greatest, less](RowCall&, const T& a, const T& b, T* out) {
                             *out = (greatest ? less(a, b) : less(b, a)) ? b : a;
                             return Outcome::kValue;
                           });
  }
  return best;
}

Result<NodePointer> BuildExtreme(CallSite& site, bool greatest) {
  for (size_t i = 0; i < site.size(); ++i) RT_TRY(CastArgument(&site, i, site.type()));
  switch (LayoutOf(site.type())) {
    case Layout::kBool: return Extreme<uint8_t>(site, greatest, std::less<uint8_t>());
    case Layout::kInt8: return Extreme<int8_t>(site, greatest, std::less<int8_t>());
    case Layout::kInt16: return Extreme<int16_t>(site, greatest, std::less<int16_t>());
    case Layout::kInt32: return Extreme<int32_t>(site, greatest, std::less<int32_t>());
    case Layout::kInt64: return Extreme<int64_t>(site, greatest, std::less<int64_t>());
    case Layout::kFloat: return Extreme<float>(site, greatest, LessWithNan<float>);
    case Layout::kDouble: return Extreme<double>(site, greatest, LessWithNan<double>);
    case Layout::kInt128: return Extreme<int128>(site, greatest, std::less<int128>());
    case Layout::kBytes:
      return Extreme<StringView>(site, greatest, [](const StringView& a, const StringView& b) {
        return CompareText(a, b) < 0;
      });
    case Layout::kWideTime:
      return Extreme<WideTime>(site, greatest, [](const WideTime& a, const WideTime& b) {
        return CompareWide(a, b) < 0;
      });
  }
  RT_CHECK(false);
}

}  // namespace

Result<NodePointer> BuildComparison(CallSite& site) {
  RT_TRY(BringTogether(&site));
  return Compare(OrderOf(site.call.function), site.type(), std::move(site.arguments));
}

Result<NodePointer> BuildDistinct(CallSite& site) {
  RT_TRY(BringTogether(&site));
  std::array<ViewNode*, 2> shown{};
  Nodes views;
  for (size_t i = 0; i < 2; ++i) {
    auto view = std::make_unique<ViewNode>(site.arguments[i]->type());
    shown[i] = view.get();
    views.push_back(std::move(view));
  }
  const Order order = OrderOf(site.call.function);
  RT_ASSIGN(NodePointer comparison, Compare(order, Type::Boolean(), std::move(views)));
  return NodePointer(std::make_unique<DistinctNode>(site.type(), std::move(site.arguments), shown,
                                                    std::move(comparison),
                                                    order == Order::kUnequal));
}

Result<NodePointer> BuildGreatest(CallSite& site) { return BuildExtreme(site, true); }
Result<NodePointer> BuildLeast(CallSite& site) { return BuildExtreme(site, false); }

}  // namespace rowtide

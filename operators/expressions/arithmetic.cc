// + - * / MOD of numbers: integers wrap, DECIMALs round HALF_UP and are NULL when they do not fit,
// floats are IEEE.
#include <cmath>
#include <limits>
#include <type_traits>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

constexpr const char* kByZero = "division by zero";

// Two's complement, as Java computes: int8 and int16 in int, then cut.
template <typename T>
T WrappedAdd(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
T WrappedSubtract(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename T>
T WrappedMultiply(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
// The smallest number divided by -1 is itself.
template <typename T>
T WrappedDivide(T a, T b) {
  return b == -1 ? WrappedSubtract<T>(0, a) : static_cast<T>(a / b);
}

template <typename T>
NodePointer IntegerNode(CallSite& site, Arithmetic operation) {
  switch (operation) {
    case Arithmetic::kAdd:
      return Pure<T, T, T>(site.type(), std::move(site.arguments), WrappedAdd<T>);
    case Arithmetic::kSubtract:
      return Pure<T, T, T>(site.type(), std::move(site.arguments), WrappedSubtract<T>);
    case Arithmetic::kMultiply:
      return Pure<T, T, T>(site.type(), std::move(site.arguments), WrappedMultiply<T>);
    case Arithmetic::kDivide:
      return PerRow<T, T, T>(site, [](RowCall& call, T a, T b, T* out) {
        if (b == 0) return call.Fail(kByZero);
        *out = WrappedDivide(a, b);
        return Outcome::kValue;
      });
    case Arithmetic::kRemainder:
      return PerRow<T, T, T>(site, [](RowCall& call, T a, T b, T* out) {
        if (b == 0) return call.Fail(kByZero);
        *out = b == -1 ? T{0} : static_cast<T>(a % b);
        return Outcome::kValue;
      });
  }
  RT_CHECK(false);
}

template <typename T>
NodePointer FloatNode(CallSite& site, Arithmetic operation) {
  switch (operation) {
    case Arithmetic::kAdd:
      return Pure<T, T, T>(site.type(), std::move(site.arguments), [](T a, T b) { return a + b; });
    case Arithmetic::kSubtract:
      return Pure<T, T, T>(site.type(), std::move(site.arguments), [](T a, T b) { return a - b; });
    case Arithmetic::kMultiply:
      return Pure<T, T, T>(site.type(), std::move(site.arguments), [](T a, T b) { return a * b; });
    case Arithmetic::kDivide: {
      // Two literals are folded by Calcite, which computes in decimals and fails.
      const bool folded = site.call.operands[0].is_literal() && site.call.operands[1].is_literal();
      return PerRow<T, T, T>(site, [folded](RowCall& call, T a, T b, T* out) {
        if (folded && b == 0) return call.Fail(kByZero);
        *out = a / b;
        return Outcome::kValue;
      });
    }
    case Arithmetic::kRemainder:
      return Pure<T, T, T>(site.type(), std::move(site.arguments),
                           [](T a, T b) { return std::fmod(a, b); });
  }
  RT_CHECK(false);
}

// L, M, R: int64 or int128, the layouts of the operands and the result. Requires: the scale of the
// result is the sum of those of the operands, so that nothing is rounded.
template <typename L, typename M, typename R>
NodePointer DecimalProduct(CallSite& site) {
  const Type type = site.type();
  const int128 limit = PowerOfTen(type.precision);
  return PerRow<R, L, M>(site, [type, limit](RowCall& /*call*/, L a, M b, R* out) {
    const auto left = static_cast<int64_t>(a), right = static_cast<int64_t>(b);
    int128 product = int128{left} * right;
    if (left != a || right != b) [[unlikely]] {
      const std::optional<int128> wide = DecimalMultiply({a, 0}, {b, type.scale}, type);
      if (!wide) return Outcome::kNull;
      product = *wide;
    }
    if (product <= -limit || product >= limit) return Outcome::kNull;
    *out = static_cast<R>(product);
    return Outcome::kValue;
  });
}

// … and of any operation and scales.
template <typename L, typename M, typename R>
NodePointer DecimalNode(CallSite& site, Arithmetic operation) {
  const Type type = site.type();
  const int left_scale = site.arguments[0]->type().scale;
  const int right_scale = site.arguments[1]->type().scale;
  const auto node = [&](auto compute, bool divides) {
    return PerRow<R, L, M>(site, [=](RowCall& call, L a, M b, R* out) {
      if (divides && b == 0) return call.Fail(kByZero);
      const std::optional<int128> result =
          compute(DecimalOperand{a, left_scale}, DecimalOperand{b, right_scale}, type);
      if (!result) return Outcome::kNull;
      *out = static_cast<R>(*result);
      return Outcome::kValue;
    });
  };
  switch (operation) {
    case Arithmetic::kAdd: return node(DecimalAdd, false);
    case Arithmetic::kSubtract: return node(DecimalSubtract, false);
    case Arithmetic::kMultiply:
      return left_scale + right_scale == type.scale ? DecimalProduct<L, M, R>(site)
                                                    : node(DecimalMultiply, false);
    case Arithmetic::kDivide: return node(DecimalDivide, true);
    case Arithmetic::kRemainder: return node(DecimalRemainder, true);
  }
  RT_CHECK(false);
}

bool IsNarrow(const Type& type) { return type.precision <= 18; }

template <typename L, typename M>
NodePointer DecimalNodeOf(CallSite& site, Arithmetic operation) {
  return IsNarrow(site.type()) ? DecimalNode<L, M, int64_t>(site, operation)
                               : DecimalNode<L, M, int128>(site, operation);
}

Result<NodePointer> BuildDecimalNode(CallSite& site, Arithmetic operation) {
  for (size_t i = 0; i < 2; ++i)
    RT_TRY(CastArgument(&site, i, AsDecimal(site.arguments[i]->type())));
  const bool left = IsNarrow(site.arguments[0]->type());
  const bool right = IsNarrow(site.arguments[1]->type());
  if (left) {
    return right ? DecimalNodeOf<int64_t, int64_t>(site, operation)
                 : DecimalNodeOf<int64_t, int128>(site, operation);
  }
  return right ? DecimalNodeOf<int128, int64_t>(site, operation)
               : DecimalNodeOf<int128, int128>(site, operation);
}

// A remainder of whole numbers has the type of its right side, which may be an integer's.
Result<NodePointer> BuildDecimal(CallSite& call, Arithmetic operation) {
  Expression decimal = call.call;
  if (decimal.type.kind != TypeKind::kDecimal)
    decimal.type =
        DecimalRemainderType(AsDecimal(call.argument_type(0)), AsDecimal(call.argument_type(1)));
  CallSite site{decimal, std::move(call.arguments), call.context, call.label};
  RT_ASSIGN(NodePointer node, BuildDecimalNode(site, operation));
  if (decimal.type.SameButNullability(call.type())) return node;
  return CastNode(std::move(node), call.type(), false, call.context, call.label);
}

Result<NodePointer> BuildNumbers(CallSite& site, Arithmetic operation) {
  const Type left = site.argument_type(0);
  const Type right = site.argument_type(1);
  Type common = *LeastRestrictive(left, right);
  // The remainder of a whole DECIMAL by an integer is an integer; Flink computes it in 64 bits, so
  // longer decimals wrap.
  if (common.kind == TypeKind::kDecimal && IsInteger(site.type())) common = Type::BigInt();
  // The planner may have given the call a type of its own; what it computes in follows from the
  // operands.
  if (common.kind == TypeKind::kDecimal) return BuildDecimal(site, operation);
  for (size_t i = 0; i < 2; ++i) RT_TRY(CastArgument(&site, i, common));
  const Type wanted = site.type();
  Expression in_common = site.call;
  in_common.type = common;
  CallSite inner{in_common, std::move(site.arguments), site.context, site.label};
  NodePointer node;
  switch (common.kind) {
    case TypeKind::kTinyInt: node = IntegerNode<int8_t>(inner, operation); break;
    case TypeKind::kSmallInt: node = IntegerNode<int16_t>(inner, operation); break;
    case TypeKind::kInt: node = IntegerNode<int32_t>(inner, operation); break;
    case TypeKind::kBigInt: node = IntegerNode<int64_t>(inner, operation); break;
    case TypeKind::kFloat: node = FloatNode<float>(inner, operation); break;
    case TypeKind::kDouble: node = FloatNode<double>(inner, operation); break;
    default: return Status::Unsupported("arithmetic on {}", ToString(common));
  }
  return CastNode(std::move(node), wanted, false, site.context, site.label);
}

template <typename T>
NodePointer NegationOf(CallSite& site) {
  if constexpr (std::is_floating_point_v<T>) {
    // Calcite's literals have no negative zero.
    if (site.call.operands[0].is_literal())
      return Pure<T, T>(site.type(), std::move(site.arguments), [](T a) { return T{0} - a; });
    return Pure<T, T>(site.type(), std::move(site.arguments), [](T a) { return -a; });
  } else {
    return Pure<T, T>(site.type(), std::move(site.arguments),
                      [](T a) { return WrappedSubtract<T>(0, a); });
  }
}

Result<NodePointer> BuildNegation(CallSite& site) {
  switch (LayoutOf(site.argument_type(0))) {
    case Layout::kInt8: return NegationOf<int8_t>(site);
    case Layout::kInt16: return NegationOf<int16_t>(site);
    case Layout::kInt32: return NegationOf<int32_t>(site);
    case Layout::kInt64: return NegationOf<int64_t>(site);
    case Layout::kFloat: return NegationOf<float>(site);
    case Layout::kDouble: return NegationOf<double>(site);
    case Layout::kInt128:
      return Pure<int128, int128>(site.type(), std::move(site.arguments),
                                  [](int128 a) { return -a; });
    default: return Status::Unsupported("- of {}", ToString(site.argument_type(0)));
  }
}

}  // namespace

Result<NodePointer> BuildAdd(CallSite& site) {
  if (IsTimeArithmetic(site)) return BuildTimeArithmetic(site);
  return BuildNumbers(site, Arithmetic::kAdd);
}

Result<NodePointer> BuildSubtract(CallSite& site) {
  if (site.size() == 1) return BuildNegation(site);
  if (IsTimeArithmetic(site)) return BuildTimeArithmetic(site);
  return BuildNumbers(site, Arithmetic::kSubtract);
}

Result<NodePointer> BuildMultiply(CallSite& site) {
  if (IsTimeArithmetic(site)) return BuildTimeArithmetic(site);
  return BuildNumbers(site, Arithmetic::kMultiply);
}

Result<NodePointer> BuildDivide(CallSite& site) {
  if (IsTimeArithmetic(site)) return BuildTimeArithmetic(site);
  return BuildNumbers(site, Arithmetic::kDivide);
}

Result<NodePointer> BuildRemainder(CallSite& site) {
  return BuildNumbers(site, Arithmetic::kRemainder);
}

Result<NodePointer> BuildWholeDivide(CallSite& site) {
  for (size_t i = 0; i < 2; ++i) RT_TRY(CastArgument(&site, i, Type::BigInt()));
  return PerRow<int64_t, int64_t, int64_t>(site,
                                           [](RowCall& call, int64_t a, int64_t b, int64_t* out) {
                                             if (b == 0) return call.Fail(kByZero);
                                             *out = WrappedDivide(a, b);
                                             return Outcome::kValue;
                                           });
}

// The number behind an interval.
Result<NodePointer> BuildReinterpret(CallSite& site) {
  return Pure<int64_t, int64_t>(site.type(), std::move(site.arguments),
                                [](int64_t a) { return a; });
}

}  // namespace rowtide

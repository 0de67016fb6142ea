#include "operators/expressions/casts.h"

#include <cmath>
#include <limits>

#include "operators/expressions/decimals.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

// Java's (int) and (long) of a float: the nearest there is, NaN = 0; smaller integers are cut from
// the int.
template <typename T, typename F>
T FloatToInteger(F value) {
  if constexpr (sizeof(T) < 4) {
    return static_cast<T>(FloatToInteger<int32_t>(value));
  } else {
    if (std::isnan(value)) return 0;
    if (value >= -static_cast<F>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::max();
    if (value <= static_cast<F>(std::numeric_limits<T>::min()))
      return std::numeric_limits<T>::min();
    return static_cast<T>(value);
  }
}

// A source value as integer target T; `unit` is 10^scale of a DECIMAL.
template <typename T, typename S>
T ToInteger(S value, int128 unit) {
  if constexpr (std::is_floating_point_v<S>) {
    return FloatToInteger<T>(value);
  } else {
    if (unit == 1) return static_cast<T>(value);
    return static_cast<T>(static_cast<uint64_t>(static_cast<int128>(value) / unit));
  }
}

template <typename T, typename S>
NodePointer IntegerFrom(CastSite& site, int128 unit) {
  const Type to = site.to;
  return Pure<T, S>(to, site.TakeOperand(), [unit](S value) { return ToInteger<T>(value, unit); });
}

template <typename T, typename S>
NodePointer FloatFrom(CastSite& site) {
  const Type to = site.to;
  const int scale = site.from().scale;
  if (site.from().kind != TypeKind::kDecimal) {
    return Pure<T, S>(to, site.TakeOperand(), [](S value) { return static_cast<T>(value); });
  }
  const double power = static_cast<double>(PowerOfTen(scale));
  return Pure<T, S>(to, site.TakeOperand(), [scale, power](S value) {
    if constexpr (std::is_floating_point_v<S>) {
      return static_cast<T>(value);
    } else if constexpr (std::is_same_v<S, int64_t>) {
      // Up to 18 digits Flink divides doubles, so the digits behind the 15th may differ.
      return static_cast<T>(static_cast<double>(value) / power);
    } else {
      return static_cast<T>(DecimalToDouble(value, scale));
    }
  });
}

// To a DECIMAL with as many digits behind the point, that is, to the same number, or NULL.
template <typename R, typename S>
NodePointer SameDigits(CastSite& site) {
  const Type to = site.to;
  const Type& from = site.from();
  if (IsExactNumber(from) && AsDecimal(from).precision <= to.precision)
    return Pure<R, S>(to, site.TakeOperand(), [](S value) { return static_cast<R>(value); });
  const int128 limit = PowerOfTen(to.precision);
  return CastRow<R, S>(site, [limit](RowCall& /*call*/, S value, R* out) {
    if (value <= -limit || value >= limit) return Outcome::kNull;
    *out = static_cast<R>(value);
    return Outcome::kValue;
  });
}

template <typename R, typename S>
NodePointer DecimalFrom(CastSite& site) {
  const Type to = site.to;
  const int scale = site.from().kind == TypeKind::kDecimal ? site.from().scale : 0;
  if constexpr (!std::is_floating_point_v<S>) {
    if (scale == to.scale) return SameDigits<R, S>(site);
  }
  return CastRow<R, S>(site, [to, scale](RowCall& call, S value, R* out) {
    std::optional<int128> unscaled;
    if constexpr (std::is_floating_point_v<S>) {
      if (!std::isfinite(value)) return call.Fail("NaN and Infinity are no DECIMAL");
      unscaled = DecimalFromDouble(static_cast<double>(value), to.precision, to.scale);
    } else {
      unscaled = Rescaled(value, scale, to.precision, to.scale);
    }
    if (!unscaled) return Outcome::kNull;
    *out = static_cast<R>(*unscaled);
    return Outcome::kValue;
  });
}

// Numbers and intervals; S is the C++ type of the source's slots.
template <typename S>
Result<NodePointer> FromNumber(CastSite& site) {
  const int128 unit = site.from().kind == TypeKind::kDecimal ? PowerOfTen(site.from().scale) : 1;
  const Type to = site.to;
  switch (to.kind) {
    case TypeKind::kTinyInt: return IntegerFrom<int8_t, S>(site, unit);
    case TypeKind::kSmallInt: return IntegerFrom<int16_t, S>(site, unit);
    case TypeKind::kInt: return IntegerFrom<int32_t, S>(site, unit);
    case TypeKind::kBigInt:
    case TypeKind::kIntervalMonths:
    case TypeKind::kIntervalMillis: return IntegerFrom<int64_t, S>(site, unit);
    case TypeKind::kFloat: return FloatFrom<float, S>(site);
    case TypeKind::kDouble: return FloatFrom<double, S>(site);
    case TypeKind::kDecimal:
      return to.precision <= 18 ? DecimalFrom<int64_t, S>(site) : DecimalFrom<int128, S>(site);
    case TypeKind::kBoolean:
      return Pure<uint8_t, S>(to, site.TakeOperand(),
                              [](S value) { return static_cast<uint8_t>(value != 0); });
    default: return Status::Unsupported("CAST of {} to {}", ToString(site.from()), ToString(to));
  }
}

Result<NodePointer> FromNumberOrInterval(CastSite& site) {
  switch (LayoutOf(site.from())) {
    case Layout::kInt8: return FromNumber<int8_t>(site);
    case Layout::kInt16: return FromNumber<int16_t>(site);
    case Layout::kInt32: return FromNumber<int32_t>(site);
    case Layout::kInt64: return FromNumber<int64_t>(site);
    case Layout::kInt128: return FromNumber<int128>(site);
    case Layout::kFloat: return FromNumber<float>(site);
    case Layout::kDouble: return FromNumber<double>(site);
    default: return Status::Unsupported("CAST of {}", ToString(site.from()));
  }
}

Result<NodePointer> FromBoolean(CastSite& site) {
  const Type tiny = Type::Of(TypeKind::kTinyInt).WithNullable(site.from().nullable);
  NodePointer number = Pure<int8_t, uint8_t>(
      tiny, site.TakeOperand(), [](uint8_t value) { return static_cast<int8_t>(value != 0); });
  return CastNode(std::move(number), site.to, site.is_try, site.context, site.label);
}

// VARBINARY to shorter: cut; BINARY: zeros behind.
NodePointer BytesToBytes(CastSite& site) {
  const size_t length = static_cast<size_t>(site.to.precision);
  const bool pads = site.to.kind == TypeKind::kBinary;
  return CastRow<StringView, StringView>(
      site, [length, pads](RowCall& call, const StringView& value, StringView* out) {
        std::string_view bytes = value.view().substr(0, length);
        if (!pads || bytes.size() == length) {
          *out = RowCall::Part(bytes);
          return Outcome::kValue;
        }
        call.text.assign(bytes);
        call.text.resize(length, '\0');
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

// Values of both types look the same in their slots.
bool NothingToDo(const Type& from, const Type& to) {
  if (from.kind == to.kind) {
    switch (from.kind) {
      case TypeKind::kDecimal:
        return from.precision <= to.precision && from.scale == to.scale &&
               LayoutOf(from) == LayoutOf(to);
      case TypeKind::kChar:
      case TypeKind::kBinary: return from.precision == to.precision;
      case TypeKind::kVarChar:
      case TypeKind::kVarBinary: return from.precision <= to.precision;
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        return LayoutOf(from) == LayoutOf(to) && from.precision <= to.precision &&
               (from.precision > 3 || to.precision <= 3);
      default: return true;
    }
  }
  if (from.kind == TypeKind::kChar && to.kind == TypeKind::kVarChar)
    return from.precision <= to.precision;
  if (from.kind == TypeKind::kBinary && to.kind == TypeKind::kVarBinary)
    return from.precision <= to.precision;
  return from.kind == TypeKind::kSymbol;
}

Result<NodePointer> BuildCastOf(CallSite& site, bool is_try) {
  return CastNode(std::move(site.arguments[0]), site.type(), is_try, site.context, site.label);
}

}  // namespace

Result<NodePointer> CastNode(NodePointer operand, const Type& to, bool is_try,
                             const EvaluationContext& context, const std::string& label) {
  const Type from = operand->type();
  if (NothingToDo(from, to)) return operand;
  if (from.kind == TypeKind::kNull) return LiteralNode(Value{}, to);
  CastSite site{std::move(operand), to, is_try, context, label};
  if (IsCharacter(to)) return CastToText(site);
  if (IsCharacter(from)) return CastFromText(site);
  if (IsNumber(from) || IsInterval(from)) return FromNumberOrInterval(site);
  if (from.kind == TypeKind::kBoolean) return FromBoolean(site);
  if (IsBinary(from) && IsBinary(to)) return BytesToBytes(site);
  if (IsTemporal(from) && IsTemporal(to)) return CastTime(site);
  return Status::Unsupported("CAST of {} to {}", ToString(from), ToString(to));
}

Result<NodePointer> BuildCast(CallSite& site) { return BuildCastOf(site, false); }
Result<NodePointer> BuildTryCast(CallSite& site) { return BuildCastOf(site, true); }

Result<NodePointer> BuildTypeOf(CallSite& site) {
  return LiteralNode(ToString(site.argument_type(0)), site.type());
}

}  // namespace rowtide

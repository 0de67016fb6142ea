#include "operators/expressions/type_rules.h"

#include <algorithm>

#include "engine/status.h"

namespace rowtide {
namespace {

constexpr int kMinimumAdjustedScale = 6;

Type AdjustedDecimal(int precision, int scale) {
  if (precision > kMaxDecimalPrecision) {
    const int digits = precision - scale;
    scale = std::max(kMaxDecimalPrecision - digits, std::min(scale, kMinimumAdjustedScale));
    precision = kMaxDecimalPrecision;
  }
  return Type::Decimal(precision, scale).NotNull();
}

// The common type of two decimals has room for the whole digits of both; the scale gets what is
// left.
Type CommonDecimal(const Type& a, const Type& b) {
  const int scale = std::max(a.scale, b.scale);
  const int digits = std::max(a.precision - a.scale, b.precision - b.scale);
  const int kept = std::min(scale, kMaxDecimalPrecision - digits);
  return Type::Decimal(digits + kept, kept).NotNull();
}

std::optional<Type> CommonNumber(const Type& a, const Type& b) {
  if (a.kind == b.kind && a.kind != TypeKind::kDecimal) return a;
  // To Calcite FLOAT and DOUBLE are as precise as each other, so the first one stands.
  if (IsApproximate(a) && IsApproximate(b)) return Type::Of(a.kind);
  if (IsApproximate(a) || IsApproximate(b)) {
    const bool with_decimal = a.kind == TypeKind::kDecimal || b.kind == TypeKind::kDecimal;
    return with_decimal ? Type::Double() : Type::Of(IsApproximate(a) ? a.kind : b.kind);
  }
  if (IsInteger(a) && IsInteger(b)) return Type::Of(std::max(a.kind, b.kind));
  return CommonDecimal(AsDecimal(a), AsDecimal(b));
}

// Of strings or of byte strings: `fixed` is CHAR or BINARY.
Type CommonString(const Type& a, const Type& b, TypeKind fixed, TypeKind varying) {
  const bool same = a.kind == fixed && b.kind == fixed && a.precision == b.precision;
  return Type::Of(same ? fixed : varying, std::max(a.precision, b.precision));
}

std::optional<Type> CommonButNull(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kNull) return b;
  if (b.kind == TypeKind::kNull) return a;
  if (IsNumber(a) && IsNumber(b)) return CommonNumber(a, b);
  if (IsCharacter(a) && IsCharacter(b))
    return CommonString(a, b, TypeKind::kChar, TypeKind::kVarChar);
  if (IsBinary(a) && IsBinary(b))
    return CommonString(a, b, TypeKind::kBinary, TypeKind::kVarBinary);
  if (IsTimestamp(a) && IsTimestamp(b)) {
    Type common = Type::Of(a.kind, std::max(a.precision, b.precision));  // of the first
    if (a.time_attribute == b.time_attribute && a.kind == b.kind)
      common.time_attribute = a.time_attribute;
    return common;
  }
  if (a.kind == b.kind) return Type::Of(a.kind, std::max(a.precision, b.precision));
  return std::nullopt;
}

}  // namespace

std::optional<Type> LeastRestrictive(const Type& a, const Type& b) {
  std::optional<Type> common = CommonButNull(a, b);
  if (common) common->nullable = a.nullable || b.nullable;
  return common;
}

std::optional<Type> ComparedIn(const Type& a, const Type& b) {
  std::optional<Type> common = LeastRestrictive(a, b);
  if (!common || a.kind == b.kind) return common;
  if (IsApproximate(a) && IsApproximate(b)) common->kind = TypeKind::kDouble;
  if (IsTimestamp(a) && IsTimestamp(b)) common->kind = TypeKind::kTimestamp;
  return common;
}

std::optional<Type> LeastRestrictive(std::span<const Type> types) {
  if (types.empty()) return std::nullopt;
  std::optional<Type> common = types[0];
  for (const Type& type : types.subspan(1)) {
    common = LeastRestrictive(*common, type);
    if (!common) return std::nullopt;
  }
  return common;
}

Type AsDecimal(const Type& type) {
  switch (type.kind) {
    case TypeKind::kTinyInt: return Type::Decimal(3, 0).WithNullable(type.nullable);
    case TypeKind::kSmallInt: return Type::Decimal(5, 0).WithNullable(type.nullable);
    case TypeKind::kInt: return Type::Decimal(10, 0).WithNullable(type.nullable);
    case TypeKind::kBigInt: return Type::Decimal(19, 0).WithNullable(type.nullable);
    default: break;
  }
  RT_CHECK(type.kind == TypeKind::kDecimal);
  return type;
}

Type DecimalSumType(const Type& a, const Type& b) {
  const int scale = std::max(a.scale, b.scale);
  return AdjustedDecimal(std::max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale);
}

Type DecimalProductType(const Type& a, const Type& b) {
  return AdjustedDecimal(a.precision + b.precision + 1, a.scale + b.scale);
}

Type DecimalQuotientType(const Type& a, const Type& b) {
  const int scale = std::max(6, a.scale + b.precision + 1);
  return AdjustedDecimal(a.precision - a.scale + b.scale + scale, scale);
}

Type DecimalRemainderType(const Type& a, const Type& b) {
  const int scale = std::max(a.scale, b.scale);
  return AdjustedDecimal(std::min(a.precision - a.scale, b.precision - b.scale) + scale, scale);
}

Type DecimalRoundType(const Type& type, int digits) {
  const int whole = type.precision - type.scale;
  if (digits >= type.scale) return type.NotNull();
  if (digits < 0) return Type::Decimal(std::min(kMaxDecimalPrecision, 1 + whole), 0).NotNull();
  return Type::Decimal(1 + whole + digits, digits).NotNull();
}

Type ArithmeticType(Arithmetic operation, const Type& a, const Type& b) {
  const bool nullable = a.nullable || b.nullable;
  if (!IsExactNumber(a) || !IsExactNumber(b)) return CommonNumber(a, b)->WithNullable(nullable);
  if (operation == Arithmetic::kRemainder) {
    const bool whole = AsDecimal(a).scale == 0 && AsDecimal(b).scale == 0;
    return (whole ? b : DecimalRemainderType(AsDecimal(a), AsDecimal(b))).WithNullable(nullable);
  }
  if (IsInteger(a) && IsInteger(b)) return CommonNumber(a, b)->WithNullable(nullable);
  const Type left = AsDecimal(a);
  const Type right = AsDecimal(b);
  switch (operation) {
    case Arithmetic::kAdd:
    case Arithmetic::kSubtract: return DecimalSumType(left, right).WithNullable(nullable);
    case Arithmetic::kMultiply: return DecimalProductType(left, right).WithNullable(nullable);
    case Arithmetic::kDivide: return DecimalQuotientType(left, right).WithNullable(nullable);
    case Arithmetic::kRemainder: break;
  }
  RT_CHECK(false);
}

bool CanCast(const Type& from, const Type& to) {
  if (from.kind == TypeKind::kNull || from.kind == to.kind) return true;
  if (to.kind == TypeKind::kNull || from.kind == TypeKind::kSymbol || to.kind == TypeKind::kSymbol)
    return false;
  if (IsCharacter(to)) return true;
  if (IsCharacter(from)) return !IsInterval(to);
  if (IsNumber(from))
    // A whole number can be an INTERVAL DAY, but not a DAY TO SECOND.
    return IsNumber(to) || to.kind == TypeKind::kBoolean ||
           (IsInterval(to) && IsInteger(from) && to.precision == to.scale);
  switch (from.kind) {
    case TypeKind::kBoolean: return IsNumber(to);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: return IsBinary(to);
    case TypeKind::kDate: return IsTimestamp(to);
    case TypeKind::kTime: return IsTimestamp(to);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return IsTemporal(to);
    default: return false;
  }
}

namespace {

// The longest text of a value of the type, or kMaxLength where there is no bound of use.
int LongestText(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean: return 5;
    case TypeKind::kTinyInt: return 4;
    case TypeKind::kSmallInt: return 6;
    case TypeKind::kInt: return 11;
    case TypeKind::kBigInt: return 20;
    case TypeKind::kDate: return 10;
    case TypeKind::kTime: return type.precision > 0 ? 9 + type.precision : 8;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return type.precision > 0 ? 20 + type.precision : 19;
    default: return kMaxLength;
  }
}

}  // namespace

bool IsInjectiveCast(const Type& from, const Type& to) {
  if (from.SameButNullability(to)) return true;
  if (IsInteger(from) && IsInteger(to)) return from.kind <= to.kind;
  if (from.kind == to.kind && IsTimestamp(from)) return from.precision <= to.precision;
  if (IsTimestamp(from) && IsTimestamp(to)) return from.precision == to.precision;
  if (IsCharacter(from) && (IsCharacter(to) || IsBinary(to))) {
    // CHAR pads, so 'a' and 'a ' would meet.
    const bool fixed = to.kind == TypeKind::kChar || to.kind == TypeKind::kBinary;
    return !fixed && from.precision <= to.precision;
  }
  if (IsCharacter(to)) {
    const bool text_tells = from.kind == TypeKind::kBoolean || IsInteger(from) || IsTemporal(from);
    return text_tells && LongestText(from) <= to.precision;
  }
  return false;
}

bool CanInsert(const Type& from, const Type& to) {
  if (from.kind == TypeKind::kNull || from.kind == to.kind) return true;
  if (from.kind == TypeKind::kChar && to.kind == TypeKind::kVarChar) return true;
  if (from.kind == TypeKind::kVarChar && to.kind == TypeKind::kChar)
    return from.precision != kMaxLength;
  if (IsBinary(from) && IsBinary(to))
    return from.precision != kMaxLength || to.kind == TypeKind::kVarBinary;
  if (IsInteger(from) && IsInteger(to)) return from.kind < to.kind;
  if (IsNumber(from) && to.kind == TypeKind::kDecimal) return true;
  if (IsNumber(from) && IsApproximate(to)) return from.kind != TypeKind::kDouble;
  if (IsTimestamp(from) && IsTimestamp(to)) return true;
  return from.kind == TypeKind::kTimestamp &&
         (to.kind == TypeKind::kDate || to.kind == TypeKind::kTime);
}

}  // namespace rowtide

#include <cmath>

#include "engine/value_text.h"
#include "operators/expressions/function_table.h"
#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

bool Accepts(char letter, const Type& type) {
  switch (letter) {
    case 'a': return true;
    case 'b': return type.kind == TypeKind::kBoolean || type.kind == TypeKind::kNull;
    case 'n': return IsNumber(type);
    case 'x': return IsExactNumber(type);
    case 'i': return IsInteger(type);
    case 's': return IsCharacter(type);
    case 'y': return IsBinary(type);
    case 'z': return IsCharacter(type) || IsBinary(type);
    case 'd': return IsTemporal(type) && type.kind != TypeKind::kTime;
    case 'p': return IsTimestamp(type);
    case 'q': return IsTimestamp(type) || IsCharacter(type);
    case 't': return IsTemporal(type);
    case 'e': return Accepts('d', type) || IsInterval(type);
    case 'u': return IsTemporal(type) || IsInterval(type);
    case 'v': return IsInterval(type);
    case 'f': return type.kind == TypeKind::kSymbol;
    default: return false;
  }
}

const char* Wanted(char letter) {
  switch (letter) {
    case 'b': return "a BOOLEAN";
    case 'n': return "a number";
    case 'x': return "an integer or DECIMAL";
    case 'i': return "an integer";
    case 's': return "a string";
    case 'y': return "bytes";
    case 'z': return "a string or bytes";
    case 'd': return "a DATE or TIMESTAMP";
    case 'p': return "a TIMESTAMP";
    case 'q': return "a TIMESTAMP or a string";
    case 't': return "a DATE, TIME or TIMESTAMP";
    case 'e': return "a DATE, TIMESTAMP or INTERVAL";
    case 'u': return "a DATE, TIME, TIMESTAMP or INTERVAL";
    case 'v': return "an INTERVAL";
    case 'f': return "a keyword";
    default: return "a value";
  }
}

struct Shape {
  std::string letters;
  size_t required = 0;
  bool repeats = false;
};

Shape ShapeOf(std::string_view takes) {
  Shape shape;
  bool optional = false;
  for (const char c : takes) {
    if (c == '?') {
      optional = true;
    } else if (c == '*') {
      shape.repeats = true;
    } else {
      shape.letters += c;
      shape.required += optional ? 0 : 1;
    }
  }
  return shape;
}

// A repeated last letter may also be absent when something stands before it ("ssa*": two or more).
bool RightCount(const Shape& shape, size_t count) {
  const size_t required =
      shape.repeats && shape.letters.size() > 1 ? shape.required - 1 : shape.required;
  return count >= required && (shape.repeats || count <= shape.letters.size());
}

Status CheckArguments(const Function& function, Arguments arguments) {
  const Shape shape = ShapeOf(function.takes);
  if (!RightCount(shape, arguments.size())) {
    return Status::InvalidArgument("{} does not take {} argument{}", function.name,
                                   arguments.size(), arguments.size() == 1 ? "" : "s")
        .WithErrorCode("RT2022");
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const char letter = shape.letters[std::min(i, shape.letters.size() - 1)];
    const Type& type = arguments[i].type;
    if (type.kind == TypeKind::kNull && letter != 'a' && letter != 'b') {
      return Status::InvalidArgument("illegal use of NULL in {}: write CAST(NULL AS type)",
                                     function.name)
          .WithErrorCode("RT2009");
    }
    if (!Accepts(letter, type)) {
      return Status::InvalidArgument("argument {} of {} is {}; {} needs {}", i + 1, function.name,
                                     ToString(type), function.name, Wanted(letter))
          .WithErrorCode("RT2006")
          .At(arguments[i].position);
    }
  }
  return Status::Ok();
}

bool AnyNullable(Arguments arguments) {
  for (const Expression& e : arguments) {
    if (e.type.nullable && e.type.kind != TypeKind::kSymbol) return true;
  }
  return false;
}

Type WithNulls(Nulls nulls, const Type& type, Arguments arguments) {
  switch (nulls) {
    case Nulls::kStrict: return type.WithNullable(AnyNullable(arguments));
    case Nulls::kAlways: return type.Nullable();
    case Nulls::kNever: return type.NotNull();
    case Nulls::kByRule: return type;
  }
  RT_CHECK(false);
}

// = brings both sides to their common type; a string beside a DATE stays, the comparison reads it.
void CoerceEqual(Signature* signature) {
  std::optional<Type> common = LeastRestrictive(signature->arguments[0], signature->arguments[1]);
  if (!common) return;
  for (Type& type : signature->arguments) type = common->WithNullable(type.nullable);
}

// What a string beside `other` is read as in < and its kin.
Type ReadAs(const Type& other) {
  if (IsInteger(other)) return Type::BigInt();
  if (other.kind == TypeKind::kDecimal) return Type::Decimal(kMaxDecimalPrecision, 18);
  if (IsNumber(other)) return Type::Double();
  return other;
}

void CoerceOrder(Signature* signature) {
  Type& a = signature->arguments[0];
  Type& b = signature->arguments[1];
  if (IsCharacter(a) == IsCharacter(b) || a.kind == TypeKind::kNull || b.kind == TypeKind::kNull)
    return;
  const Type common = ReadAs(IsCharacter(a) ? b : a).WithoutTimeAttribute();
  a = common.WithNullable(a.nullable);
  b = common.WithNullable(b.nullable);
}

// CHAR(1) counts as VARCHAR(5) without a cast.
bool NeedsNoCast(const Type& from, const Type& to) {
  if (from.SameButNullability(to)) return true;
  const bool strings = IsCharacter(from) && to.kind == TypeKind::kVarChar;
  const bool bytes = IsBinary(from) && to.kind == TypeKind::kVarBinary;
  return (strings || bytes) && from.precision <= to.precision;
}

void CoerceCommon(const Type& common, bool strict, Signature* signature, size_t argument) {
  Type& type = signature->arguments[argument];
  if (!strict && NeedsNoCast(type, common)) return;
  type = common.WithNullable(type.nullable);
}

void Coerce(Coercion coercion, Signature* signature) {
  const size_t count = signature->arguments.size();
  switch (coercion) {
    case Coercion::kNone: break;
    case Coercion::kEqual: CoerceEqual(signature); break;
    case Coercion::kOrder: CoerceOrder(signature); break;
    case Coercion::kCommon:
      for (size_t i = 0; i < count; ++i) CoerceCommon(signature->type, false, signature, i);
      break;
    case Coercion::kCase:
      for (size_t i = 0; i < count; ++i) {
        if (i % 2 == 1 || i + 1 == count) CoerceCommon(signature->type, true, signature, i);
      }
      break;
  }
}

}  // namespace

Result<Signature> ResolveFunction(std::string_view name, std::span<const Expression> arguments) {
  const Function* function = FindFunction(name);
  if (!function) {
    const std::string nearest = Nearest(name, ScalarFunctionNames());
    Status status = Status::NotFound("no function {}", name);
    if (!nearest.empty()) return std::move(status).WithHint("the nearest is " + nearest);
    return status;
  }
  RT_TRY(CheckArguments(*function, arguments));
  Signature signature;
  RT_ASSIGN(Type type, function->gives(arguments));
  if (function->nulls == Nulls::kByRule && function->coercion == Coercion::kNone && name != "IF") {
    type = type.WithNullable(AnyNullable(arguments));
  }
  signature.type = WithNulls(function->nulls, type, arguments);
  for (const Expression& argument : arguments) signature.arguments.push_back(argument.type);
  Coerce(function->coercion, &signature);
  return signature;
}

Expression Symbol(std::string word) {
  return Expression::Literal(std::move(word), Type::Of(TypeKind::kSymbol).NotNull());
}

bool IsSymbol(const Expression& expression, std::string_view word) {
  if (!expression.is_literal() || expression.type.kind != TypeKind::kSymbol) return false;
  const std::string* text = std::get_if<std::string>(&expression.literal);
  return text && *text == word;
}

}  // namespace rowtide

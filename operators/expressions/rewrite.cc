// MakeCall, MakeCast and CoerceTo: calls as Flink writes them in its plans.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/value_text.h"
#include "operators/expressions/decimals.h"
#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"

namespace rowtide {
namespace {

constexpr int64_t kDayMillis = 86'400'000;

std::optional<Value> NumberAs(const Value& value, const Type& from, const Type& to) {
  if (IsInteger(to)) {
    const int64_t* integer = std::get_if<int64_t>(&value);
    if (!integer || !FitsInteger(*integer, to.kind)) return std::nullopt;
    return value;
  }
  if (to.kind == TypeKind::kDecimal) {
    if (IsApproximate(from)) return std::nullopt;
    const int128 unscaled = IsInteger(from) ? std::get<int64_t>(value) : std::get<int128>(value);
    const std::optional<int128> scaled = Rescaled(unscaled, from.scale, to.precision, to.scale);
    if (!scaled ||
        (to.scale < from.scale && Rescaled(*scaled, to.scale, 38, from.scale) != unscaled))
      return std::nullopt;
    return *scaled;
  }
  if (IsApproximate(from))
    return to.kind == TypeKind::kDouble ? std::optional<Value>(value) : std::nullopt;
  if (IsInteger(from)) return static_cast<double>(std::get<int64_t>(value));
  return DecimalToDouble(std::get<int128>(value), from.scale);
}

std::optional<Value> TextAs(const std::string& text, const Type& to) {
  if (to.kind == TypeKind::kVarChar) {
    return CountCharacters(text) <= to.precision ? std::optional<Value>(text) : std::nullopt;
  }
  if (to.kind == TypeKind::kChar) {
    const int length = CountCharacters(text);
    if (length > to.precision) return std::nullopt;
    return text + std::string(static_cast<size_t>(to.precision - length), ' ');
  }
  if (to.kind == TypeKind::kDate) {
    int64_t days;
    return ParseDate(text, &days) ? std::optional<Value>(days) : std::nullopt;
  }
  if (to.kind == TypeKind::kTimestamp) {
    WideTime time;
    return ParseTimestamp(text, &time) ? std::optional<Value>(FromWideTime(time, to))
                                       : std::nullopt;
  }
  if (to.kind == TypeKind::kBigInt) {
    int64_t number;
    return ParseInt64(text, &number) ? std::optional<Value>(number) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Value> LiteralAs(const Expression& literal, const Type& to) {
  if (IsNull(literal.literal)) return std::optional<Value>(std::in_place);
  if (literal.type.kind == to.kind && literal.type.SameButNullability(to)) return literal.literal;
  if (IsNumber(literal.type) && IsNumber(to)) return NumberAs(literal.literal, literal.type, to);
  if (IsCharacter(literal.type)) return TextAs(std::get<std::string>(literal.literal), to);
  if (literal.type.kind == TypeKind::kTimestamp && to.kind == TypeKind::kTimestamp) {
    return FromWideTime(ToWideTime(literal.literal, literal.type), to);
  }
  return std::nullopt;
}

Expression IntLiteral(int64_t value) { return Expression::Literal(value, Type::Int().NotNull()); }

struct Unit {
  IntervalUnit unit;
  int64_t amount;  // months or milliseconds
};

const Unit* FindUnit(const Expression& symbol) {
  static const std::unordered_map<std::string, Unit> units{
      {"YEAR", {IntervalUnit::kYear, 12}},         {"QUARTER", {IntervalUnit::kMonth, 3}},
      {"MONTH", {IntervalUnit::kMonth, 1}},        {"WEEK", {IntervalUnit::kDay, 7 * kDayMillis}},
      {"DAY", {IntervalUnit::kDay, kDayMillis}},   {"HOUR", {IntervalUnit::kHour, 3'600'000}},
      {"MINUTE", {IntervalUnit::kMinute, 60'000}}, {"SECOND", {IntervalUnit::kSecond, 1000}},
      {"MILLISECOND", {IntervalUnit::kSecond, 1}}, {"FRAC_SECOND", {IntervalUnit::kSecond, 1}},
  };
  const std::string* name = std::get_if<std::string>(&symbol.literal);
  if (!name) return nullptr;
  const auto found = units.find(name->starts_with("SQL_TSI_") ? name->substr(8) : *name);
  return found == units.end() ? nullptr : &found->second;
}

// TIMESTAMPADD(HOUR, n, ts) is ts + n hours.
Result<Expression> TimestampAdd(std::vector<Expression> a) {
  const Unit* unit = FindUnit(a[0]);
  if (!unit)
    return Status::InvalidArgument("TIMESTAMPADD knows no such unit").WithErrorCode("RT2024");
  const Type interval = Type::Interval(unit->unit, unit->unit).NotNull();
  Expression amount = Expression::Literal(unit->amount, interval);
  if (a[1].is_literal() && !IsNull(a[1].literal)) {
    amount.literal = unit->amount * std::get<int64_t>(a[1].literal);
  } else if (a[1].is_literal()) {
    amount = Expression::Null(interval);
  } else {
    RT_ASSIGN(amount, MakeCall("*", {std::move(amount), std::move(a[1])}));
  }
  const bool splits_day = a[2].type.kind == TypeKind::kDate && unit->unit > IntervalUnit::kDay;
  if (splits_day) a[2] = CoerceTo(std::move(a[2]), Type::Timestamp(6));
  return MakeCall("+", {std::move(a[2]), std::move(amount)});
}

// TIMESTAMPDIFF(unit, a, b) is CAST(/INT(Reinterpret(-(b, a)), amount) AS INTEGER).
Result<Expression> TimestampDiff(std::vector<Expression> a) {
  const Unit* unit = FindUnit(a[0]);
  if (!unit)
    return Status::InvalidArgument("TIMESTAMPDIFF knows no such unit").WithErrorCode("RT2024");
  const auto is_instant = [](const Type& type) { return type.kind == TypeKind::kTimestampLtz; };
  const auto is_time = [](const Type& type) { return type.kind == TypeKind::kTime; };
  if (is_instant(a[1].type) != is_instant(a[2].type) || is_time(a[1].type) != is_time(a[2].type)) {
    return Status::InvalidArgument("TIMESTAMPDIFF does not take {} beside {}; cast one of them",
                                   ToString(a[1].type), ToString(a[2].type))
        .WithErrorCode("RT2006")
        .WithKind(ErrorKind::kRun);
  }
  const bool nullable = a[1].type.nullable || a[2].type.nullable;
  const Type interval = Type::Interval(unit->unit, unit->unit).WithNullable(nullable);
  const Type number = Type::BigInt().WithNullable(nullable);
  Expression difference = Expression::Call("-", {std::move(a[2]), std::move(a[1])}, interval);
  Expression count = Expression::Call("Reinterpret", {std::move(difference)}, number);
  if (unit->amount != 1)
    count = Expression::Call("/INT", {std::move(count), IntLiteral(unit->amount)}, number);
  return Expression::Cast(std::move(count), Type::Int().WithNullable(nullable));
}

Result<Expression> NullIf(std::vector<Expression> a) {
  RT_ASSIGN(Expression equal, MakeCall("=", {a[0], a[1]}));
  const Type type = a[0].type.Nullable();
  return Expression::Call("CASE", {std::move(equal), Expression::Null(type), a[0]}, type);
}

Result<Expression> SquareRoot(std::vector<Expression> a) {
  const Type type = Type::Double().WithNullable(a[0].type.nullable);
  Expression half = Expression::Literal(int128{5}, Type::Decimal(2, 1).NotNull());
  return Expression::Call("POWER", {std::move(a[0]), std::move(half)}, type);
}

// The functions that are EXTRACT in plans.
const std::unordered_map<std::string_view, const char*>& ExtractedUnits() {
  static const std::unordered_map<std::string_view, const char*> units{
      {"YEAR", "YEAR"},     {"QUARTER", "QUARTER"}, {"MONTH", "MONTH"},   {"WEEK", "WEEK"},
      {"DAYOFYEAR", "DOY"}, {"DAYOFMONTH", "DAY"},  {"DAYOFWEEK", "DOW"}, {"HOUR", "HOUR"},
      {"MINUTE", "MINUTE"}, {"SECOND", "SECOND"},
  };
  return units;
}

// NULL ON NULL and ABSENT ON NULL of JSON_OBJECT and JSON_ARRAY, as plans spell them.
void NameNullBehavior(std::vector<Expression>* a) {
  if (IsSymbol(a->front(), "NULL ON NULL")) a->front() = Symbol("NULL_ON_NULL");
  if (IsSymbol(a->front(), "ABSENT ON NULL")) a->front() = Symbol("ABSENT_ON_NULL");
}

// JSON_QUERY(text, path, wrapper, on empty, on error): always all five, whatever was said in which
// order.
void CompleteJsonQuery(std::vector<Expression>* a) {
  if (a->size() == 5 && !IsSymbol(a->back(), "ON EMPTY") && !IsSymbol(a->back(), "ON ERROR"))
    return;
  const auto behavior = [](std::string word) {
    std::replace(word.begin(), word.end(), ' ', '_');
    return Symbol("SqlJsonQueryEmptyOrErrorBehavior[" + word + "]");
  };
  std::string wrapper = "WITHOUT_ARRAY", said, on_empty = "NULL", on_error = "NULL";
  for (size_t i = 2; i < a->size(); ++i) {
    const std::string* word = std::get_if<std::string>(&(*a)[i].literal);
    if (!word) continue;
    if (*word == "WITHOUT WRAPPER") {
      wrapper = "WITHOUT_ARRAY";
    } else if (word->ends_with("WRAPPER") || word->starts_with("WITH")) {
      const bool conditional =
          *word == "WITH CONDITIONAL WRAPPER" || *word == "WITH_CONDITIONAL_ARRAY";
      wrapper = conditional ? "WITH_CONDITIONAL_ARRAY" : "WITH_UNCONDITIONAL_ARRAY";
    } else if (*word == "ON EMPTY") {
      on_empty = said;
    } else if (*word == "ON ERROR") {
      on_error = said;
    } else {
      said = *word;
    }
  }
  a->resize(2, Symbol(wrapper));
  a->push_back(Symbol(wrapper));
  a->push_back(behavior(on_empty));
  a->push_back(behavior(on_error));
}

// The clauses of SQL/JSON functions as Flink's plans show them.
void NameJsonClauses(std::string_view name, std::vector<Expression>* a) {
  if (a->empty()) return;
  if (name == "JSON_OBJECT" || name == "JSON_ARRAY") NameNullBehavior(a);
  if (name == "JSON_QUERY" && a->size() >= 2) CompleteJsonQuery(a);
  if (name == "JSON_EXISTS" && IsSymbol(a->back(), "ON ERROR")) a->pop_back();
}

// IS DISTINCT FROM as Calcite writes it. Operands stay as they are: the comparison sees to their
// types.
Result<Expression> Distinct(const std::vector<Expression>& a, bool distinct) {
  const Type known = Type::Boolean().NotNull();
  std::vector<Expression> nulls;
  for (const Expression& operand : a) {
    nulls.push_back(Expression::Call(distinct ? "IS NOT NULL" : "IS NULL", {operand}, known));
  }
  const Type equality = Type::Boolean().WithNullable(a[0].type.nullable || a[1].type.nullable);
  Expression equal = Expression::Call(distinct ? "IS NOT TRUE" : "IS TRUE",
                                      {Expression::Call("=", a, equality)}, known);
  Expression both = Expression::Call(distinct ? "OR" : "AND", std::move(nulls), known);
  return Expression::Call(distinct ? "AND" : "OR", {std::move(both), std::move(equal)}, known);
}

}  // namespace

Expression CoerceTo(Expression operand, const Type& target) {
  const Type type = target.WithNullable(operand.type.nullable);
  if (operand.type.SameButNullability(type)) return operand;
  if (operand.is_literal()) {
    std::optional<Value> value = LiteralAs(operand, type);
    if (value) {
      const auto* integer = std::get_if<int64_t>(&operand.literal);
      const bool widened = integer && IsInteger(operand.type) && type.kind == TypeKind::kDecimal;
      if (widened && operand.literal_text.empty()) operand.literal_text = std::to_string(*integer);
      operand.literal = std::move(*value);
      operand.type = type;
      return operand;
    }
  }
  const SourcePosition position = operand.position;
  Expression cast = Expression::Cast(std::move(operand), type);
  cast.position = position;
  return cast;
}

Result<Expression> MakeCast(Expression operand, const Type& target, bool is_try) {
  const SourcePosition position = operand.position;
  const Type& from = operand.type;
  const bool to_timestamp = IsNumber(from) && IsTimestamp(target);
  if (!CanCast(from, target)) {
    Status status = Status::Validate(position, "{} cannot be cast to {}", ToString(from.Nullable()),
                                     ToString(target.Nullable()))
                        .WithErrorCode("RT2007");
    if (to_timestamp) return std::move(status).WithHint("use TO_TIMESTAMP_LTZ(n, precision)");
    return status;
  }
  if (is_try) return Expression::Call("TRY_CAST", {std::move(operand)}, target.Nullable());
  const Type type = target.WithNullable(from.nullable || operand.is_null_literal());
  if (from.kind == TypeKind::kBoolean && IsNumber(target) && !operand.is_literal()) {
    Expression one = CoerceTo(IntLiteral(1), target.NotNull());
    Expression zero = CoerceTo(IntLiteral(0), target.NotNull());
    Expression known =
        Expression::Call("CASE", {operand, std::move(one), std::move(zero)}, target.NotNull());
    if (!from.nullable) return known;
    Expression is_known = Expression::Call("IS NOT NULL", {operand}, Type::Boolean().NotNull());
    return Expression::Call(
        "CASE", {std::move(is_known), std::move(known), Expression::Null(target)}, type);
  }
  if (IsNumber(from) && target.kind == TypeKind::kBoolean && !operand.is_literal()) {
    return Expression::Call("<>", {std::move(operand), IntLiteral(0)}, type);
  }
  return CoerceTo(std::move(operand), type);
}

Result<Expression> MakeCall(std::string_view name, std::vector<Expression> arguments) {
  NameJsonClauses(name, &arguments);
  const bool interval_first = name == "+" && arguments.size() == 2 &&
                              IsInterval(arguments[0].type) && IsTemporal(arguments[1].type);
  if (interval_first) std::swap(arguments[0], arguments[1]);
  RT_ASSIGN(Signature signature, ResolveFunction(name, arguments));
  if (name == "NULLIF") return NullIf(std::move(arguments));
  if (name == "SQRT") return SquareRoot(std::move(arguments));
  if (name == "TIMESTAMPADD") return TimestampAdd(std::move(arguments));
  if (name == "TIMESTAMPDIFF") return TimestampDiff(std::move(arguments));
  if (name == "IS UNKNOWN") return MakeCall("IS NULL", std::move(arguments));
  if (name == "IS NOT UNKNOWN") return MakeCall("IS NOT NULL", std::move(arguments));
  if (name == "IS DISTINCT FROM") return Distinct(arguments, true);
  if (name == "IS NOT DISTINCT FROM") return Distinct(arguments, false);
  if (name == "CHARACTER_LENGTH") return MakeCall("CHAR_LENGTH", std::move(arguments));
  if (const auto unit = ExtractedUnits().find(name); unit != ExtractedUnits().end()) {
    return MakeCall("EXTRACT", {Symbol(unit->second), std::move(arguments[0])});
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = CoerceTo(std::move(arguments[i]), signature.arguments[i]);
  }
  return Expression::Call(std::string(name), std::move(arguments), signature.type);
}

}  // namespace rowtide

#include "planner/logical/expression_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "engine/value_text.h"

namespace rowtide {
namespace {

enum class Form : uint8_t { kAst, kPhysical };

size_t CharacterCount(std::string_view text) {
  size_t units = 0;  // UTF-16 code units, as Java counts
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80) units += byte >= 0xF0 ? 2 : 1;
  }
  return units;
}

std::string SqlQuoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + "'";
}

void StripFraction(std::string* text) {
  if (text->find('.') == std::string::npos) return;
  while (text->back() == '0') text->pop_back();
  if (text->back() == '.') text->pop_back();
}

// Java's BigDecimal in scientific form: `1E0`, `2.5E0`, `2E-1`.
std::string ScientificText(double value) {
  std::string digits = fmt::format("{:e}", value);
  for (int precision = 0; precision < 17; ++precision) {
    digits = fmt::format("{:.{}e}", value, precision);
    if (std::strtod(digits.c_str(), nullptr) == value) break;
  }
  const size_t e = digits.find('e');
  if (e == std::string::npos) return digits;
  return digits.substr(0, e) + "E" + std::to_string(std::atoi(digits.c_str() + e + 1));
}

std::string NumberText(const Expression& literal) {
  if (const auto* number = std::get_if<int64_t>(&literal.literal)) return std::to_string(*number);
  if (const auto* number = std::get_if<double>(&literal.literal)) return ScientificText(*number);
  std::string text;
  AppendDecimal(std::get<int128>(literal.literal), literal.type.scale, &text);
  return text;
}

std::string TimeText(const Expression& literal) {
  std::string text;
  switch (literal.type.kind) {
    case TypeKind::kDate: AppendDate(std::get<int64_t>(literal.literal), &text); return text;
    case TypeKind::kTime: AppendTime(std::get<int64_t>(literal.literal), 3, &text); break;
    default: {
      const WideTime time = ToWideTime(literal.literal, literal.type);
      AppendTimestamp(time.millis, time.nanos, 9, &text);
    }
  }
  StripFraction(&text);
  return text;
}

std::string BinaryText(const std::string& bytes) {
  std::string text = "X'";
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text + "'";
}

bool CompareOrCompute(const std::string& function) {
  return function == "=" || function == "<>" || function == "<" || function == "<=" ||
         function == ">" || function == ">=" || function == "+" || function == "-" ||
         function == "*" || function == "/";
}

// AST calls drop a literal's type where the other operand shows it.
bool DropsType(const Expression& call, size_t operand) {
  const Expression& literal = call.operands[operand];
  if ((call.function == "AND" || call.function == "OR") && literal.type.kind == TypeKind::kBoolean)
    return true;
  if (call.operands.size() != 2 || !CompareOrCompute(call.function)) return false;
  const Expression& other = call.operands[1 - operand];
  return (!other.is_literal() || !LiteralNeedsType(other)) &&
         literal.type.SameButNullability(other.type);
}

class Printer {
 public:
  Printer(Form form, const InputName& input_name) : form_(form), input_name_(input_name) {}

  std::string Text(const Expression& e) const {
    switch (e.kind) {
      case Expression::Kind::kInput: return input_name_(e.column);
      case Expression::Kind::kLiteral: return TypedLiteral(e);
      case Expression::Kind::kOuter: return e.function + "." + e.literal_text;
      case Expression::Kind::kCall: return CallText(e);
      case Expression::Kind::kOver: return OverText(e);
      case Expression::Kind::kSubquery: return e.function + "(" + Operands(e) + ")";
    }
    RT_CHECK(false);
  }

 private:
  std::string TypedLiteral(const Expression& e) const {
    std::string text = LiteralText(e);
    if (LiteralNeedsType(e) && !IsInterval(e.type)) text += ":" + FullTypeText(e.type.Nullable());
    return text;
  }

  std::string Operands(const Expression& e) const {
    std::string text;
    for (size_t i = 0; i < e.operands.size(); ++i) {
      if (i > 0) text += ", ";
      const Expression& operand = e.operands[i];
      const bool bare = form_ == Form::kAst && operand.is_literal() && DropsType(e, i);
      text += bare ? BareText(operand) : Text(operand);
    }
    return text;
  }

  // A DOUBLE made of an INT beside a DOUBLE column is still spelled as the INT.
  static std::string BareText(const Expression& literal) {
    const auto* number = std::get_if<double>(&literal.literal);
    const bool whole = number && literal.literal_text.empty() && *number == std::trunc(*number) &&
                       std::fabs(*number) < 1e15;
    return whole ? std::to_string(static_cast<int64_t>(*number)) : LiteralText(literal);
  }

  std::string CallText(const Expression& e) const {
    if (e.function == "SEARCH" && e.sarg) {
      return "SEARCH(" + Text(e.operands[0]) + ", " + SargText(*e.sarg, true) + ")";
    }
    if (e.function == "CAST" || e.function == "TRY_CAST") {
      if (form_ == Form::kAst && e.function == "TRY_CAST") return "TRY_CAST(" + Operands(e) + ")";
      if (form_ == Form::kAst) return e.function + "(" + Operands(e) + "):" + FullTypeText(e.type);
      return e.function + "(" + Operands(e) + " AS " + FullTypeText(e.type) + ")";
    }
    if (e.operands.empty() && form_ == Form::kAst && IsFunctionId(e.function)) return e.function;
    return e.function + "(" + Operands(e) + ")";
  }

  static bool IsFunctionId(const std::string& function) {
    return function == "CURRENT_TIMESTAMP" || function == "CURRENT_DATE" ||
           function == "CURRENT_TIME" || function == "LOCALTIMESTAMP" || function == "LOCALTIME";
  }

  std::string OverText(const Expression& e) const {
    std::string text =
        e.function + "(" + (e.distinct ? "DISTINCT " : "") + Operands(e) + ") OVER (";
    const OverWindow& over = *e.over;
    for (size_t i = 0; i < over.partition.size(); ++i) {
      text += i == 0 ? "PARTITION BY " : ", ";
      text += Text(over.partition[i]);
    }
    for (size_t i = 0; i < over.order.size(); ++i) {
      if (i > 0) {
        text += ", ";
      } else {
        text += over.partition.empty() ? "ORDER BY " : " ORDER BY ";
      }
      const OverWindow::Order& order = over.order[i];
      text += Text(order.key) + (order.descending ? " DESC" : "") +
              (order.nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
    return text + FrameText(e) + ")";
  }

  std::string FrameText(const Expression& e) const {
    const OverWindow& over = *e.over;
    if (!AllowsFrame(e.function) || over.order.empty()) return "";
    if (over.lower_unbounded && (!over.upper_current_row || !over.rows)) return "";
    std::string lower = "CURRENT ROW";
    if (over.lower_unbounded) lower = "UNBOUNDED PRECEDING";
    if (over.lower_preceding) lower = Text(*over.lower_preceding) + " PRECEDING";
    const std::string unit = over.rows ? " ROWS " : " RANGE ";
    if (over.upper_current_row) return unit + lower;
    return unit + "BETWEEN " + lower + " AND UNBOUNDED FOLLOWING";
  }

  static bool AllowsFrame(const std::string& function) {
    return function != "ROW_NUMBER" && function != "RANK" && function != "DENSE_RANK" &&
           function != "NTILE" && function != "LAG" && function != "LEAD" &&
           function != "PERCENT_RANK" && function != "CUME_DIST";
  }

  Form form_;
  const InputName& input_name_;
};

std::string BoundText(const Value& value, const Type& type, bool with_types) {
  Expression literal = Expression::Literal(value, type.NotNull());
  if (IsCharacter(type) && type.kind == TypeKind::kChar) return LiteralText(literal);
  if (!with_types && IsApproximate(type)) return fmt::format("{}", std::get<double>(value));
  std::string text = LiteralText(literal);
  if (type.kind == TypeKind::kDecimal) StripFraction(&text);
  if (!with_types) return text;
  if (type.kind == TypeKind::kBigInt) text += "L";
  if (LiteralNeedsType(literal) && !IsInterval(type)) text += ":" + FullTypeText(type.Nullable());
  return text;
}

}  // namespace

std::string FullTypeText(const Type& type) {
  std::string text = TypeText(type);
  if (IsCharacter(type)) text += " CHARACTER SET \"UTF-16LE\"";
  if (!type.nullable) text += " NOT NULL";
  return text;
}

bool LiteralNeedsType(const Expression& literal) {
  if (literal.is_null_literal()) return true;
  switch (literal.type.kind) {
    case TypeKind::kInt:
    case TypeKind::kBoolean:
    case TypeKind::kSymbol: return false;
    case TypeKind::kDate: return false;
    case TypeKind::kTime:
    case TypeKind::kTimestamp: return literal.type.precision != 0;
    case TypeKind::kChar:
      return CharacterCount(std::get<std::string>(literal.literal)) !=
             static_cast<size_t>(literal.type.precision);
    default: return true;
  }
}

std::string LiteralText(const Expression& literal) {
  if (IsCharacter(literal.type) && !literal.is_null_literal())
    return "_UTF-16LE" + BareLiteralText(literal);
  return BareLiteralText(literal);
}

std::string BareLiteralText(const Expression& literal) {
  if (literal.is_null_literal())
    return IsInterval(literal.type) ? "null:" + IntervalText(literal.type) : "null";
  if (!literal.literal_text.empty()) return literal.literal_text;
  const Type& type = literal.type;
  if (type.kind == TypeKind::kBoolean) return std::get<bool>(literal.literal) ? "true" : "false";
  if (type.kind == TypeKind::kSymbol) return "FLAG(" + std::get<std::string>(literal.literal) + ")";
  if (IsCharacter(type)) return SqlQuoted(std::get<std::string>(literal.literal));
  if (IsBinary(type)) return BinaryText(std::get<std::string>(literal.literal));
  if (IsTemporal(type)) return TimeText(literal);
  if (IsInterval(type)) return NumberText(literal) + ":" + IntervalText(type);
  return NumberText(literal);
}

std::string SargText(const Sarg& sarg, bool with_types) {
  std::string text = "Sarg[";
  for (size_t i = 0; i < sarg.ranges.size(); ++i) {
    const Sarg::Range& range = sarg.ranges[i];
    if (i > 0) text += ", ";
    const std::string lower = range.lower ? BoundText(*range.lower, sarg.type, with_types) : "-∞";
    const std::string upper = range.upper ? BoundText(*range.upper, sarg.type, with_types) : "+∞";
    if (range.lower && range.upper && range.lower_inclusive && range.upper_inclusive &&
        lower == upper) {
      text += lower;
      continue;
    }
    text += range.lower && range.lower_inclusive ? "[" : "(";
    text += lower + ".." + upper;
    text += range.upper && range.upper_inclusive ? "]" : ")";
  }
  if (sarg.null_as == Sarg::NullAs::kTrue)
    text += sarg.ranges.empty() ? "NULL AS TRUE" : "; NULL AS TRUE";
  if (sarg.null_as == Sarg::NullAs::kFalse)
    text += sarg.ranges.empty() ? "NULL AS FALSE" : "; NULL AS FALSE";
  text += "]";
  const bool bare = sarg.type.kind == TypeKind::kInt || sarg.type.kind == TypeKind::kBoolean ||
                    (IsTemporal(sarg.type) && sarg.type.precision == 0);
  if (with_types && !bare) text += ":" + FullTypeText(sarg.type.Nullable());
  return text;
}

std::string AstText(const Expression& expression) {
  const InputName dollar = [](int column) { return "$" + std::to_string(column); };
  return Printer(Form::kAst, dollar).Text(expression);
}

std::string PhysicalText(const Expression& expression, const InputName& input_name) {
  return Printer(Form::kPhysical, input_name).Text(expression);
}

}  // namespace rowtide

#include "planner/sql/canonical_text.h"

#include <algorithm>
#include <map>
#include <set>

#include "planner/sql/unparse.h"

namespace rowtide {
namespace {

// How strongly operators bind; what stands inside another one needs parentheses when it is weaker.
constexpr int kOr = 1, kAnd = 2, kNot = 3, kIs = 4, kCompare = 5, kBetween = 6, kSum = 7,
              kProduct = 8, kSign = 9, kAtom = 10;

struct Piece {
  std::string text;
  int strength = kAtom;
};

Piece Write(const ast::Expr& expr);

std::string AtLeast(int strength, const ast::Expr& expr) {
  Piece piece = Write(expr);
  return piece.strength < strength ? "(" + piece.text + ")" : std::move(piece.text);
}

std::string Ticked(const std::string& name) {
  std::string text = "`";
  for (const char c : name) text += c == '`' ? "``" : std::string(1, c);
  return text + "`";
}

std::string Ticked(const ast::Name& name) {
  std::string text;
  for (const std::string& part : name.parts) text += (text.empty() ? "" : ".") + Ticked(part);
  return text;
}

std::string List(const std::vector<ast::ExprPointer>& items, size_t from = 0) {
  std::string text;
  for (size_t i = from; i < items.size(); ++i)
    text += (i > from ? ", " : "") + Write(*items[i]).text;
  return text;
}

// Functions that Flink has of its own stand in back-ticks, those of the standard do not.
bool IsOwnFunction(const std::string& name) {
  static const std::set<std::string> kOwn = {
      "BTRIM",        "STARTSWITH",       "ENDSWITH",         "GREATEST",   "LEAST", "IFNULL",
      "REGEXP_COUNT", "REGEXP_INSTR",     "REGEXP_SUBSTR",    "TYPEOF",     "UNHEX", "URL_ENCODE",
      "URL_DECODE",   "JSON_STRING",      "TO_TIMESTAMP_LTZ", "TRANSLATE3", "SPLIT", "ELT",
      "PRINTF",       "SOURCE_WATERMARK", "CURRENT_WATERMARK"};
  return kOwn.contains(name);
}

const char* ExtractedUnit(const std::string& name) {
  static const std::map<std::string, const char*> kUnits = {
      {"YEAR", "YEAR"},     {"QUARTER", "QUARTER"}, {"MONTH", "MONTH"},   {"WEEK", "WEEK"},
      {"DAYOFYEAR", "DOY"}, {"DAYOFMONTH", "DAY"},  {"DAYOFWEEK", "DOW"}, {"HOUR", "HOUR"},
      {"MINUTE", "MINUTE"}, {"SECOND", "SECOND"}};
  const auto found = kUnits.find(name);
  return found == kUnits.end() ? nullptr : found->second;
}

Piece Binary(const ast::Call& call, const std::string& symbol, int strength) {
  // Operators of one strength are read from the left.
  std::string text = AtLeast(strength, *call.operands[0]);
  for (size_t i = 1; i < call.operands.size(); ++i)
    text += " " + symbol + " " + AtLeast(strength + 1, *call.operands[i]);
  return {std::move(text), strength};
}

Piece Operator(const ast::Call& call) {
  const std::string& f = call.function;
  const auto& operands = call.operands;
  if (f == "OR") return Binary(call, f, kOr);
  if (f == "AND") return Binary(call, f, kAnd);
  if (f == "NOT") {
    const auto* inner = operands[0]->as<ast::Call>();
    const bool matches =
        inner && inner->infix && (inner->function == "LIKE" || inner->function == "SIMILAR TO");
    if (matches) {
      ast::Call negated = *inner;
      negated.function = "NOT " + inner->function;
      return Operator(negated);
    }
    return {"NOT " + AtLeast(kNot, *operands[0]), kNot};
  }
  if (f.starts_with("IS ") && operands.size() == 1) {
    std::string words = f;
    if (words == "IS JSON" || words == "IS NOT JSON") words += " VALUE";
    return {AtLeast(kIs, *operands[0]) + " " + words, kIs};
  }
  if (f.ends_with("LIKE") || f.ends_with("SIMILAR TO")) {
    std::string text =
        AtLeast(kBetween, *operands[0]) + " " + f + " " + AtLeast(kBetween + 1, *operands[1]);
    if (operands.size() == 3) text += " ESCAPE " + AtLeast(kBetween + 1, *operands[2]);
    return {std::move(text), kBetween};
  }
  if (f == "NEGATE" || f == "PLUS") {
    const auto* number = operands[0]->as<ast::Literal>();
    const bool literal = f == "NEGATE" && number && number->kind == ast::Literal::Kind::kExact;
    const std::string sign = f == "PLUS" ? "+ " : literal ? "-" : "- ";
    return {sign + AtLeast(kSign, *operands[0]), literal ? kAtom : kSign};
  }
  if (f == "+" || f == "-" || f == "||") return Binary(call, f, kSum);
  if (f == "*" || f == "/") return Binary(call, f, kProduct);
  if (f == "MOD") return Binary(call, "%", kProduct);
  if (f == "ITEM")
    return {AtLeast(kAtom, *operands[0]) + "[" + Write(*operands[1]).text + "]", kAtom};
  if (f == "DOT") return {AtLeast(kAtom, *operands[0]) + "." + Write(*operands[1]).text, kAtom};
  return Binary(call, f, kCompare);
}

// Calls with words between their operands.
std::string Special(const ast::Call& call) {
  const std::string& f = call.function;
  const auto operand = [&](size_t i) { return Write(*call.operands[i]).text; };
  const size_t count = call.operands.size();
  if (const char* unit = count == 1 ? ExtractedUnit(f) : nullptr)
    return std::string("EXTRACT(") + unit + " FROM " + operand(0) + ")";
  if (f == "EXTRACT") return "EXTRACT(" + operand(0) + " FROM " + operand(1) + ")";
  const bool to_unit = count == 2 && call.operands[1]->as<ast::Literal>() &&
                       call.operands[1]->as<ast::Literal>()->kind == ast::Literal::Kind::kSymbol;
  if ((f == "FLOOR" || f == "CEIL") && to_unit)
    return f + "(" + operand(0) + " TO " + operand(1) + ")";
  if (f == "TRIM" && count == 3)
    return "TRIM(" + operand(0) + " " + operand(1) + " FROM " + operand(2) + ")";
  if (f == "TRIM" && count == 1) return "TRIM(BOTH ' ' FROM " + operand(0) + ")";
  if (f == "POSITION" && count == 2) return "POSITION(" + operand(0) + " IN " + operand(1) + ")";
  if (f == "OVERLAY" && count >= 3) {
    return "OVERLAY(" + operand(0) + " PLACING " + operand(1) + " FROM " + operand(2) +
           (count == 4 ? " FOR " + operand(3) : "") + ")";
  }
  if (f == "NULLIF" && count == 2) {
    return "CASE WHEN " + AtLeast(kCompare, *call.operands[0]) + " = " +
           AtLeast(kCompare + 1, *call.operands[1]) + " THEN NULL ELSE " + operand(0) + " END";
  }
  if (f == "INTERVAL") return "INTERVAL " + operand(0) + " " + operand(1);
  if (f == "MINUS_DATE") {
    return "(" + AtLeast(kSum, *call.operands[0]) + " - " + AtLeast(kSum + 1, *call.operands[1]) +
           ") " + operand(2);
  }
  return "";
}

// The clauses behind the arguments of JSON functions, and those that are meant when none is said.
std::string JsonCall(const ast::Call& call) {
  const std::string& f = call.function;
  const auto operand = [&](size_t i) { return Write(*call.operands[i]).text; };
  if (f == "JSON_OBJECT") {
    std::string text = f + "(";
    for (size_t i = 1; i + 1 < call.operands.size(); i += 2)
      text += (i > 1 ? ", KEY " : "KEY ") + operand(i) + " VALUE " + operand(i + 1);
    return text + " " + operand(0) + ")";
  }
  if (f == "JSON_ARRAY") return f + "(" + List(call.operands, 1) + " " + operand(0) + ")";
  std::string clauses;
  for (size_t i = 2; i < call.operands.size(); ++i) {
    const auto* cast = call.operands[i]->as<ast::Cast>();
    const bool type_only = cast && cast->operand->as<ast::Literal>() &&
                           cast->operand->as<ast::Literal>()->kind == ast::Literal::Kind::kSymbol;
    clauses += " " + (type_only ? TypeText(cast->type.type) : operand(i));
  }
  if (f == "JSON_QUERY" && clauses.empty())
    clauses = " WITHOUT ARRAY WRAPPER NULL ON EMPTY NULL ON ERROR";
  return f + "(" + operand(0) + ", " + operand(1) + clauses + ")";
}

Piece Function(const ast::Call& call) {
  if (call.infix) return Operator(call);
  if (!call.parentheses) return {call.function};
  if (call.over || call.filter || !call.within_group.empty()) return {Unparse(*MakeExpr(call, {}))};
  if (call.function.starts_with("JSON_") && call.operands.size() > 1) return {JsonCall(call)};
  std::string special = Special(call);
  if (!special.empty()) return {std::move(special)};
  const std::string name = call.function == "TRANSLATE" ? "TRANSLATE3" : call.function;
  return {(IsOwnFunction(name) ? Ticked(name) : name) + "(" + (call.distinct ? "DISTINCT " : "") +
          List(call.operands) + ")"};
}

Piece Write(const ast::Case& node) {
  std::string text = "CASE";
  for (const auto& [when, then] : node.whens) {
    text += " WHEN ";
    if (node.operand) {
      text += AtLeast(kCompare, *node.operand) + " = " + AtLeast(kCompare + 1, *when);
    } else {
      text += Write(*when).text;
    }
    text += " THEN " + Write(*then).text;
  }
  return {text + " ELSE " + (node.otherwise ? Write(*node.otherwise).text : "NULL") + " END"};
}

// As CAST and TRY_CAST show types.
std::string CastType(const ast::Cast& cast) {
  if (!cast.type.unsupported.empty()) return cast.type.text;
  const std::string text = ToString(cast.type.type.Nullable());
  return cast.tries && text == "INT" ? "INTEGER" : text;
}

Piece Write(const ast::Cast& cast) {
  return {std::string(cast.tries ? "TRY_CAST(" : "CAST(") + Write(*cast.operand).text + " AS " +
          CastType(cast) + ")"};
}

Piece Write(const ast::Between& between) {
  return {AtLeast(kBetween + 1, *between.operand) +
              (between.negated ? " NOT BETWEEN " : " BETWEEN ") +
              (between.symmetric ? "SYMMETRIC " : "ASYMMETRIC ") +
              AtLeast(kBetween + 1, *between.low) + " AND " + AtLeast(kBetween + 1, *between.high),
          kBetween};
}

Piece Write(const ast::In& in) {
  return {AtLeast(kBetween + 1, *in.operand) + (in.negated ? " NOT IN (" : " IN (") +
              (in.query ? Unparse(*in.query) : List(in.list)) + ")",
          kBetween};
}

Piece Write(const ast::Literal& literal, const ast::Expr& expr) {
  std::string text = Unparse(expr);
  const bool upper = literal.kind == ast::Literal::Kind::kBinary ||
                     literal.kind == ast::Literal::Kind::kApproximate;
  if (upper) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  }
  return {std::move(text)};
}

Piece Write(const ast::Expr& expr) {
  if (const auto* ref = expr.as<ast::NameRef>()) return {Ticked(ref->name)};
  if (const auto* call = expr.as<ast::Call>()) return Function(*call);
  if (const auto* node = expr.as<ast::Case>()) return Write(*node);
  if (const auto* cast = expr.as<ast::Cast>()) return Write(*cast);
  if (const auto* between = expr.as<ast::Between>()) return Write(*between);
  if (const auto* in = expr.as<ast::In>()) return Write(*in);
  if (const auto* literal = expr.as<ast::Literal>()) return Write(*literal, expr);
  return {Unparse(expr)};
}

}  // namespace

std::string CanonicalText(const ast::Expr& expr) { return Write(expr).text; }

}  // namespace rowtide

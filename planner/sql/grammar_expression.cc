// Operator precedence as Calcite's, weakest first: OR, AND, NOT, IS/IN/BETWEEN/LIKE/comparison
// (left to right), ||, + -, * / %, unary sign, a[i] and (x).f.
#include "engine/schema.h"
#include "planner/sql/grammar.h"
#include "planner/sql/parser.h"
#include "planner/sql/reserved_words.h"

namespace rowtide {

using ast::ExprPointer;
using ast::MakeExpr;
using ast::Span;

namespace {

ExprPointer Infix(std::string function, ExprPointer left, ExprPointer right) {
  const SourcePosition position = Span(left->position, right->position);
  ast::Call call;
  call.function = std::move(function);
  call.infix = true;
  call.operands = {std::move(left), std::move(right)};
  return MakeExpr(std::move(call), position);
}

// a AND b AND c is one call: long conditions do not nest.
ExprPointer Chain(std::string function, std::vector<ExprPointer> operands) {
  if (operands.size() == 1) return operands[0];
  const SourcePosition position = Span(operands.front()->position, operands.back()->position);
  ast::Call call;
  call.function = std::move(function);
  call.infix = true;
  call.operands = std::move(operands);
  return MakeExpr(std::move(call), position);
}

ExprPointer Applied(std::string function, ExprPointer operand, SourcePosition position) {
  ast::Call call;
  call.function = std::move(function);
  call.infix = true;
  call.operands = {std::move(operand)};
  return MakeExpr(std::move(call), position);
}

ExprPointer Negated(ExprPointer operand) {
  const SourcePosition position = operand->position;
  return Applied("NOT", std::move(operand), position);
}

constexpr std::string_view kComparisons[] = {"=", "<>", "!=", "<", "<=", ">", ">="};

bool IsComparison(const Token& token) {
  if (token.kind != Token::Kind::kSymbol) return false;
  for (const std::string_view comparison : kComparisons) {
    if (token.text == comparison) return true;
  }
  return false;
}

// Functions that may be written without parentheses.
bool IsBareFunction(const std::string& upper) {
  return upper == "CURRENT_TIMESTAMP" || upper == "CURRENT_DATE" || upper == "CURRENT_TIME" ||
         upper == "LOCALTIMESTAMP" || upper == "LOCALTIME" || upper == "CURRENT_USER" ||
         upper == "SESSION_USER" || upper == "SYSTEM_USER" || upper == "USER" ||
         upper == "CURRENT_CATALOG" || upper == "CURRENT_SCHEMA" || upper == "CURRENT_PATH" ||
         upper == "CURRENT_ROLE";
}

// Reserved words that are functions when an opening parenthesis follows.
bool IsReservedFunction(const std::string& upper) {
  static const std::vector<std::string> kNames = {
      "ABS",         "ARRAY_AGG",    "AVG",          "CARDINALITY",
      "CEIL",        "CEILING",      "CHAR_LENGTH",  "CHARACTER_LENGTH",
      "COALESCE",    "COLLECT",      "CONTAINS",     "CORR",
      "COUNT",       "COVAR_POP",    "COVAR_SAMP",   "CUME_DIST",
      "CURRENT_ROW", "DENSE_RANK",   "ELEMENT",      "EVERY",
      "EXP",         "FIRST_VALUE",  "FLOOR",        "GROUPING",
      "HASH",        "HOUR",         "LAG",          "LAST_VALUE",
      "LEAD",        "LEFT",         "LN",           "LOWER",
      "MAX",         "MIN",          "MINUTE",       "MOD",
      "MONTH",       "DAY",          "NTH_VALUE",    "NTILE",
      "NULLIF",      "OCTET_LENGTH", "PERCENT_RANK", "PERCENTILE_CONT",
      "POWER",       "RANK",         "REGR_COUNT",   "RIGHT",
      "ROW_NUMBER",  "SECOND",       "SOME",         "SQRT",
      "STDDEV_POP",  "STDDEV_SAMP",  "SUM",          "TRUNCATE",
      "UPPER",       "VAR_POP",      "VAR_SAMP",     "YEAR",
      "JSON_SCOPE",  "REGR_SXX",     "REGR_SYY",     "WIDTH_BUCKET",
      "TRANSLATE"};
  for (const std::string& name : kNames) {
    if (name == upper) return true;
  }
  return false;
}

}  // namespace

ExprPointer Grammar::Symbol(std::string text, SourcePosition position) {
  ast::Literal literal;
  literal.kind = ast::Literal::Kind::kSymbol;
  literal.text = std::move(text);
  return MakeExpr(std::move(literal), position);
}

Result<ExprPointer> Grammar::ParseExpression() {
  RT_TRY(Fill(0));
  return Or();
}

Result<ExprPointer> Grammar::Or() {
  RT_TRY(Enter());
  RT_ASSIGN(ExprPointer first, And());
  std::vector<ExprPointer> operands = {std::move(first)};
  while (Is("OR")) {
    RT_TRY(Step());
    RT_ASSIGN(ExprPointer next, And());
    operands.push_back(std::move(next));
  }
  Leave();
  return Chain("OR", std::move(operands));
}

Result<ExprPointer> Grammar::And() {
  RT_ASSIGN(ExprPointer first, Not());
  std::vector<ExprPointer> operands = {std::move(first)};
  while (Is("AND")) {
    RT_TRY(Step());
    RT_ASSIGN(ExprPointer next, Not());
    operands.push_back(std::move(next));
  }
  return Chain("AND", std::move(operands));
}

Result<ExprPointer> Grammar::Not() {
  if (!Is("NOT")) return Predicate();
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  RT_TRY(Enter());
  RT_ASSIGN(ExprPointer operand, Not());
  Leave();
  const SourcePosition position = Span(start, operand->position);
  return Applied("NOT", std::move(operand), position);
}

Result<ExprPointer> Grammar::Predicate() {
  RT_ASSIGN(ExprPointer left, Concatenation());
  bool more = true;
  for (int links = 0; more; ++links) {
    RT_TRY(CheckChain(links));
    RT_ASSIGN(left, PredicateTail(std::move(left), &more));
  }
  return left;
}

Result<ExprPointer> Grammar::PredicateTail(ExprPointer left, bool* more) {
  *more = true;
  if (IsComparison(Here())) return Comparison(std::move(left));
  if (Is("IS")) return IsTail(std::move(left));
  const bool negated =
      Is("NOT") && (IsAhead(1, "IN") || IsAhead(1, "BETWEEN") || IsAhead(1, "LIKE") ||
                    IsAhead(1, "SIMILAR") || IsAhead(1, "RLIKE") || IsAhead(1, "ILIKE"));
  if (negated) RT_TRY(Step());
  if (Is("IN")) return InTail(std::move(left), negated);
  if (Is("LIKE") || Is("SIMILAR") || Is("RLIKE") || Is("ILIKE"))
    return LikeTail(std::move(left), negated);
  if (Is("BETWEEN")) {
    RT_TRY(Step());
    ast::Between between;
    between.operand = left;
    between.negated = negated;
    RT_ASSIGN(between.symmetric, Accept("SYMMETRIC"));
    RT_TRY(Accept("ASYMMETRIC").status());
    RT_ASSIGN(between.low, Concatenation());
    RT_TRY(Expect("AND"));
    RT_ASSIGN(between.high, Concatenation());
    const SourcePosition position = Span(left->position, between.high->position);
    return MakeExpr(std::move(between), position);
  }
  if (Is("OVERLAPS") || Is("CONTAINS") || Is("MEMBER") || Is("SUBMULTISET") || Is("EQUALS") ||
      Is("PRECEDES") || Is("SUCCEEDS") || Is("FORMAT")) {
    ast::Call call;
    call.function = Here().upper;
    call.infix = true;
    RT_TRY(Step());
    if (call.function == "MEMBER" || call.function == "SUBMULTISET") RT_TRY(Accept("OF").status());
    RT_ASSIGN(ExprPointer right, Concatenation());
    return Infix(call.function, std::move(left), std::move(right));
  }
  *more = false;
  return left;
}

Result<ExprPointer> Grammar::Comparison(ExprPointer left) {
  std::string comparison = Here().text;
  if (comparison == "!=") {
    return Status::Parse(Here().position, "'!=' is no comparison of SQL")
        .WithHint("Write <> for not equal.");
  }
  RT_TRY(Step());
  if ((Is("ALL") || Is("ANY") || Is("SOME")) && IsAhead(1, "(")) {
    ast::QuantifiedComparison quantified;
    quantified.operand = left;
    quantified.comparison = comparison;
    quantified.quantifier = Here().upper;
    RT_TRY(Step());
    RT_TRY(Expect("("));
    if (StartsQuery()) {
      RT_ASSIGN(quantified.query, QueryExpression(true));
    } else {
      RT_ASSIGN(quantified.list, ExpressionList());
    }
    RT_TRY(Expect(")"));
    return MakeExpr(std::move(quantified), Span(left->position, LastPosition()));
  }
  RT_ASSIGN(ExprPointer right, Concatenation());
  return Infix(std::move(comparison), std::move(left), std::move(right));
}

Result<ExprPointer> Grammar::IsTail(ExprPointer left) {
  RT_TRY(Step());
  RT_ASSIGN(const bool negated, Accept("NOT"));
  const std::string prefix = negated ? "IS NOT " : "IS ";
  if (Is("DISTINCT")) {
    RT_TRY(Step());
    RT_TRY(Expect("FROM"));
    RT_ASSIGN(ExprPointer right, Concatenation());
    return Infix(prefix + "DISTINCT FROM", std::move(left), std::move(right));
  }
  for (const char* word : {"NULL", "TRUE", "FALSE", "UNKNOWN"}) {
    if (!Is(word)) continue;
    RT_TRY(Step());
    const SourcePosition position = Span(left->position, LastPosition());
    return Applied(prefix + word, std::move(left), position);
  }
  if (Is("JSON")) {
    RT_TRY(Step());
    std::string kind = "VALUE";
    for (const char* word : {"VALUE", "OBJECT", "ARRAY", "SCALAR"}) {
      if (!Is(word)) continue;
      kind = word;
      RT_TRY(Step());
      break;
    }
    const SourcePosition position = Span(left->position, LastPosition());
    return Applied(prefix + "JSON " + kind, std::move(left), position);
  }
  if (Is("A") || Is("EMPTY")) {
    RT_ASSIGN(const bool a_set, AcceptSequence({"A", "SET"}));
    if (!a_set) RT_TRY(Step());
    const SourcePosition position = Span(left->position, LastPosition());
    return Applied(prefix + (a_set ? "A SET" : "EMPTY"), std::move(left), position);
  }
  return Unexpected("NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON");
}

Result<ExprPointer> Grammar::InTail(ExprPointer left, bool negated) {
  RT_TRY(Step());
  ast::In in;
  in.operand = left;
  in.negated = negated;
  RT_TRY(Expect("("));
  if (StartsQuery()) {
    RT_ASSIGN(in.query, QueryExpression(true));
  } else {
    RT_ASSIGN(in.list, ExpressionList());
    const auto* inner = in.list.size() == 1 ? in.list[0]->as<ast::Subquery>() : nullptr;
    if (inner && inner->kind == ast::Subquery::Kind::kScalar) {  // IN ((SELECT …))
      RT_ASSIGN(in.query, QueryTail(inner->query));
      in.list.clear();
    }
  }
  RT_TRY(Expect(")"));
  return MakeExpr(std::move(in), Span(left->position, LastPosition()));
}

Result<ExprPointer> Grammar::LikeTail(ExprPointer left, bool negated) {
  ast::Call call;
  call.infix = true;
  call.function = Here().upper;
  RT_TRY(Step());
  if (call.function == "SIMILAR") {
    RT_TRY(Expect("TO"));
    call.function = "SIMILAR TO";
  }
  RT_ASSIGN(ExprPointer pattern, Concatenation());
  call.operands = {left, std::move(pattern)};
  RT_ASSIGN(const bool escape, Accept("ESCAPE"));
  if (escape) {
    RT_ASSIGN(ExprPointer character, Concatenation());
    call.operands.push_back(std::move(character));
  }
  ExprPointer made = MakeExpr(std::move(call), Span(left->position, LastPosition()));
  return negated ? Negated(std::move(made)) : made;
}

Result<ExprPointer> Grammar::Concatenation() {
  RT_ASSIGN(ExprPointer left, Sum());
  for (int links = 0; Is("||"); ++links) {
    RT_TRY(CheckChain(links));
    RT_TRY(Step());
    RT_ASSIGN(ExprPointer right, Sum());
    left = Infix("||", std::move(left), std::move(right));
  }
  return left;
}

Result<ExprPointer> Grammar::Sum() {
  RT_ASSIGN(ExprPointer left, Product());
  for (int links = 0; Is("+") || Is("-"); ++links) {
    RT_TRY(CheckChain(links));
    const std::string sign = Here().text;
    RT_TRY(Step());
    RT_ASSIGN(ExprPointer right, Product());
    left = Infix(sign, std::move(left), std::move(right));
  }
  return left;
}

Result<ExprPointer> Grammar::Product() {
  RT_ASSIGN(ExprPointer left, Unary());
  for (int links = 0; Is("*") || Is("/") || Is("%"); ++links) {
    RT_TRY(CheckChain(links));
    const std::string sign = Here().text;
    RT_TRY(Step());
    RT_ASSIGN(ExprPointer right, Unary());
    left = Infix(sign == "%" ? "MOD" : sign, std::move(left), std::move(right));
  }
  return left;
}

Result<ExprPointer> Grammar::Unary() {
  if (!Is("-") && !Is("+")) return Postfix();
  const std::string sign = Here().text;
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  RT_TRY(Enter());
  RT_ASSIGN(ExprPointer operand, Unary());
  Leave();
  const SourcePosition position = Span(start, operand->position);
  return Applied(sign == "-" ? "NEGATE" : "PLUS", std::move(operand), position);
}

Result<ExprPointer> Grammar::Postfix() {
  RT_ASSIGN(ExprPointer left, Primary());
  for (int links = 0; Is("[") || Is("."); ++links) {
    RT_TRY(CheckChain(links));
    const bool item = Is("[");
    RT_TRY(Step());
    if (item) {
      RT_ASSIGN(ExprPointer index, Or());
      RT_TRY(Expect("]"));
      left = Infix("ITEM", std::move(left), std::move(index));
    } else {
      RT_ASSIGN(ast::Name field, SimpleName());
      const SourcePosition at = field.position;
      left = Infix("DOT", std::move(left), MakeExpr(ast::NameRef{std::move(field)}, at));
    }
  }
  return left;
}

Result<ExprPointer> Grammar::Primary() {
  const Token token = Here();
  switch (token.kind) {
    case Token::Kind::kEnd: return Unexpected("an expression");
    case Token::Kind::kInteger:
    case Token::Kind::kDecimal:
    case Token::Kind::kApproximate: return NumberLiteral();
    case Token::Kind::kUnicodeString: return UnicodeLiteral();
    case Token::Kind::kString:
    case Token::Kind::kBinary: {
      ast::Literal literal;
      literal.kind = token.kind == Token::Kind::kString ? ast::Literal::Kind::kString
                                                        : ast::Literal::Kind::kBinary;
      literal.text = token.text;
      RT_TRY(Step());
      // 'a' 'b' on several lines is one string.
      while (Here().kind == Token::Kind::kString && token.kind == Token::Kind::kString &&
             Here().position.line > last_.end_line) {
        literal.text += Here().text;
        RT_TRY(Step());
      }
      return MakeExpr(std::move(literal), Span(token.position, LastPosition()));
    }
    case Token::Kind::kQuoted: return NameOrCall();
    case Token::Kind::kSymbol:
      if (token.text == "(") return Parenthesised();
      return Unexpected("an expression");
    case Token::Kind::kWord: break;
  }
  const std::string& word = token.upper;
  if (word == "NULL" || word == "TRUE" || word == "FALSE" || word == "UNKNOWN") {
    ast::Literal literal;
    using K = ast::Literal::Kind;
    literal.kind = word == "NULL"    ? K::kNull
                   : word == "TRUE"  ? K::kTrue
                   : word == "FALSE" ? K::kFalse
                                     : K::kUnknown;
    RT_TRY(Step());
    return MakeExpr(std::move(literal), token.position);
  }
  const bool string_follows = Ahead(1).kind == Token::Kind::kString;
  if (word == "DATE" && string_follows) return DateTimeLiteral(ast::Literal::Kind::kDate);
  if (word == "TIME" && string_follows) return DateTimeLiteral(ast::Literal::Kind::kTime);
  if (word == "TIMESTAMP" && string_follows) return DateTimeLiteral(ast::Literal::Kind::kTimestamp);
  if (word == "INTERVAL") return IntervalLiteral();
  if (word == "CASE") return CaseExpression();
  if (word == "CAST" || word == "TRY_CAST") return CastExpression(word == "TRY_CAST");
  if (word == "EXISTS" && IsAhead(1, "(")) {
    RT_TRY(Step());
    RT_TRY(Step());
    if (!StartsQuery()) return Unexpected("a query");
    ast::Subquery subquery;
    subquery.kind = ast::Subquery::Kind::kExists;
    RT_ASSIGN(subquery.query, QueryExpression(true));
    RT_TRY(Expect(")"));
    return MakeExpr(std::move(subquery), Span(token.position, LastPosition()));
  }
  if (word == "ROW" && IsAhead(1, "(")) {
    RT_TRY(Step());
    RT_TRY(Step());
    ast::Call row;
    row.function = "ROW";
    RT_ASSIGN(row.operands, ExpressionList());
    RT_TRY(Expect(")"));
    return MakeExpr(std::move(row), Span(token.position, LastPosition()));
  }
  if ((word == "ARRAY" || word == "MAP" || word == "MULTISET") && IsAhead(1, "[")) {
    RT_TRY(Step());
    RT_TRY(Step());
    ast::Call constructor;
    constructor.function = word;
    if (!Is("]")) {
      RT_ASSIGN(constructor.operands, ExpressionList());
    }
    RT_TRY(Expect("]"));
    return MakeExpr(std::move(constructor), Span(token.position, LastPosition()));
  }
  if (word == "DEFAULT") {
    RT_TRY(Step());
    ast::Call call;
    call.function = "DEFAULT";
    call.parentheses = false;
    return MakeExpr(std::move(call), token.position);
  }
  if (IsBareFunction(word) && !IsAhead(1, "(")) {
    RT_TRY(Step());
    ast::Call call;
    call.function = word;
    call.parentheses = false;
    return MakeExpr(std::move(call), token.position);
  }
  if (IsAhead(1, "(")) {
    bool special = false;
    RT_ASSIGN(ExprPointer made, SpecialFunction(word, token.position, &special));
    if (special) return made;
  }
  return NameOrCall();
}

namespace {

// (a - b) DAY: what may stand in front of the unit, and the units.
bool IsDifference(const ast::Expr& expr) {
  const auto* call = expr.as<ast::Call>();
  return call && call->infix && call->function == "-" && call->operands.size() == 2;
}
bool IsIntervalWord(const Token& token) {
  if (token.kind != Token::Kind::kWord) return false;
  for (const char* unit : {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"}) {
    if (token.upper == unit) return true;
  }
  return false;
}

}  // namespace

Result<ExprPointer> Grammar::Parenthesised() {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  if (StartsQuery()) {
    ast::Subquery subquery;
    RT_ASSIGN(subquery.query, QueryExpression(true));
    RT_TRY(Expect(")"));
    return MakeExpr(std::move(subquery), Span(start, LastPosition()));
  }
  RT_ASSIGN(std::vector<ExprPointer> items, ExpressionList());
  const auto* inner = items.size() == 1 ? items[0]->as<ast::Subquery>() : nullptr;
  if (inner && inner->kind == ast::Subquery::Kind::kScalar &&
      ContinuesQuery()) {  // ((SELECT …) UNION …)
    ast::Subquery subquery;
    RT_ASSIGN(subquery.query, QueryTail(inner->query));
    RT_TRY(Expect(")"));
    return MakeExpr(std::move(subquery), Span(start, LastPosition()));
  }
  RT_TRY(Expect(")"));
  if (items.size() == 1 && IsDifference(*items[0]) && IsIntervalWord(Here())) {
    ast::Call difference = *items[0]->as<ast::Call>();
    difference.function = "MINUS_DATE";
    difference.infix = false;
    RT_ASSIGN(std::string unit, IntervalUnit(nullptr));
    difference.operands.push_back(Symbol(std::move(unit), LastPosition()));
    return MakeExpr(std::move(difference), Span(start, LastPosition()));
  }
  if (items.size() == 1) return items[0];
  ast::Call row;
  row.function = "ROW";
  row.operands = std::move(items);
  return MakeExpr(std::move(row), Span(start, LastPosition()));
}

Result<ExprPointer> Grammar::NumberLiteral() {
  const Token token = Here();
  ast::Literal literal;
  literal.kind = token.kind == Token::Kind::kApproximate ? ast::Literal::Kind::kApproximate
                                                         : ast::Literal::Kind::kExact;
  literal.text = token.text;
  RT_TRY(Step());
  return MakeExpr(std::move(literal), token.position);
}

// U&'\263A' [UESCAPE '#'].
Result<ExprPointer> Grammar::UnicodeLiteral() {
  const Token token = Here();
  RT_TRY(Step());
  char escape = '\\';
  RT_ASSIGN(const bool has_escape, Accept("UESCAPE"));
  if (has_escape) {
    const SourcePosition at = Here().position;
    RT_ASSIGN(const std::string text, StringLiteral());
    if (text.size() != 1) return Status::Parse(at, "UESCAPE takes one character");
    escape = text[0];
  }
  // Rewritten to the escapes of e'…', whose reader knows code points.
  std::string escaped = "e'";
  for (size_t i = 0; i < token.text.size(); ++i) {
    const char c = token.text[i];
    if (c != escape) {
      if (c == '\'' || c == '\\') escaped += '\\';
      escaped += c;
      continue;
    }
    if (i + 1 < token.text.size() && token.text[i + 1] == escape) {
      escaped += escape == '\\' ? "\\\\" : std::string(1, escape);
      ++i;
      continue;
    }
    if (i + 4 >= token.text.size()) {
      return Status::Parse(token.position, "{} needs four hexadecimal digits", escape);
    }
    escaped += "\\u" + token.text.substr(i + 1, 4);
    i += 4;
  }
  escaped += "'";
  Lexer reader(escaped);
  Result<Token> read = reader.Next();
  if (!read.ok()) return Status::Parse(token.position, "{}", read.status().message());
  ast::Literal literal;
  literal.kind = ast::Literal::Kind::kString;
  literal.text = read->text;
  return MakeExpr(std::move(literal), Span(token.position, LastPosition()));
}

Result<ExprPointer> Grammar::DateTimeLiteral(ast::Literal::Kind kind) {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  ast::Literal literal;
  literal.kind = kind;
  RT_ASSIGN(literal.text, StringLiteral());
  return MakeExpr(std::move(literal), Span(start, LastPosition()));
}

Result<ExprPointer> Grammar::IntervalLiteral() {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  ast::Literal literal;
  literal.kind = ast::Literal::Kind::kInterval;
  if (Is("-") || Is("+")) {
    literal.negative = Is("-");
    RT_TRY(Step());
  }
  if (Here().kind != Token::Kind::kString) {  // INTERVAL v DAY
    RT_ASSIGN(ExprPointer amount, Postfix());
    ast::Call call;
    call.function = "INTERVAL";
    RT_ASSIGN(std::string unit, IntervalUnit(nullptr));
    call.operands = {std::move(amount), Symbol(std::move(unit), LastPosition())};
    return MakeExpr(std::move(call), Span(start, LastPosition()));
  }
  RT_ASSIGN(literal.text, StringLiteral());
  RT_ASSIGN(literal.unit, IntervalUnit(&literal.precision));
  return MakeExpr(std::move(literal), Span(start, LastPosition()));
}

// A unit in the singular: DAYS is DAY.
Result<std::string> Grammar::TimeUnit() {
  static const std::vector<std::string> kUnits = {"YEAR",
                                                  "QUARTER",
                                                  "MONTH",
                                                  "WEEK",
                                                  "DAY",
                                                  "HOUR",
                                                  "MINUTE",
                                                  "SECOND",
                                                  "MILLISECOND",
                                                  "MICROSECOND",
                                                  "NANOSECOND",
                                                  "EPOCH",
                                                  "DOW",
                                                  "ISODOW",
                                                  "DOY",
                                                  "ISOYEAR",
                                                  "DECADE",
                                                  "CENTURY",
                                                  "MILLENNIUM",
                                                  "SQL_TSI_YEAR",
                                                  "SQL_TSI_QUARTER",
                                                  "SQL_TSI_MONTH",
                                                  "SQL_TSI_WEEK",
                                                  "SQL_TSI_DAY",
                                                  "SQL_TSI_HOUR",
                                                  "SQL_TSI_MINUTE",
                                                  "SQL_TSI_SECOND",
                                                  "SQL_TSI_MICROSECOND",
                                                  "FRAC_SECOND"};
  const Token token = Here();
  if (token.kind != Token::Kind::kWord) return Unexpected("a unit of time, such as DAY");
  for (const std::string& unit : kUnits) {
    if (token.upper != unit && token.upper != unit + "S") continue;
    RT_TRY(Step());
    return unit.starts_with("SQL_TSI_") ? unit.substr(8) : unit;
  }
  const std::string nearest = Nearest(token.upper, kUnits);
  Status status =
      IsReservedWord(token.upper)
          ? Unexpected("a unit of time, such as DAY")
          : Status::Validate(token.position, "there is no unit of time {}", Quote(token.text))
                .WithErrorCode("RT2024");
  return nearest.empty() ? status : std::move(status).WithHint("Did you mean " + nearest + "?");
}

Result<std::string> Grammar::IntervalUnit(int* precision) {
  Result<std::string> first = TimeUnit();
  if (!first.ok()) return Status(first.status()).WithKind(ErrorKind::kParse);
  std::string unit = std::move(*first);
  const auto digits = [this](int* number) -> Status {
    if (!Is("(")) return Status::Ok();
    RT_TRY(Step());
    if (Here().kind != Token::Kind::kInteger || Here().text.size() > 2)
      return Unexpected("a number of digits");
    if (number) *number = std::stoi(Here().text);
    RT_TRY(Step());
    if (Is(",")) {
      RT_TRY(Step());
      if (Here().kind != Token::Kind::kInteger) return Unexpected("a number");
      RT_TRY(Step());
    }
    return Expect(")");
  };
  RT_TRY(digits(precision));
  // TO of FLOOR(ts + INTERVAL '1' SECOND TO YEAR) is not the interval's.
  const bool months = unit == "YEAR" && IsAhead(1, "MONTH");
  const bool below_day = (unit == "DAY" && (IsAhead(1, "HOUR") || IsAhead(1, "MINUTE"))) ||
                         (unit == "HOUR" && IsAhead(1, "MINUTE"));
  const bool to_second =
      (unit == "DAY" || unit == "HOUR" || unit == "MINUTE") && IsAhead(1, "SECOND");
  if (Is("TO") && (months || below_day || to_second)) {
    RT_TRY(Step());
    RT_ASSIGN(const std::string end, TimeUnit());
    RT_TRY(digits(nullptr));
    unit += " TO " + end;
  }
  return unit;
}

Result<ExprPointer> Grammar::CaseExpression() {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  ast::Case made;
  if (!Is("WHEN")) {
    RT_ASSIGN(made.operand, Or());
  }
  while (Is("WHEN")) {
    RT_TRY(Step());
    RT_ASSIGN(ExprPointer condition, Or());
    RT_TRY(Expect("THEN"));
    RT_ASSIGN(ExprPointer value, Or());
    made.whens.emplace_back(std::move(condition), std::move(value));
  }
  if (made.whens.empty()) return Unexpected("WHEN");
  RT_ASSIGN(const bool has_else, Accept("ELSE"));
  if (has_else) {
    RT_ASSIGN(made.otherwise, Or());
  }
  RT_TRY(Expect("END"));
  return MakeExpr(std::move(made), Span(start, LastPosition()));
}

Result<ExprPointer> Grammar::CastExpression(bool tries) {
  const SourcePosition start = Here().position;
  RT_TRY(Step());
  RT_TRY(Expect("("));
  ast::Cast cast;
  cast.tries = tries;
  RT_ASSIGN(cast.operand, Or());
  RT_TRY(Expect("AS"));
  RT_ASSIGN(cast.type, DataType());
  RT_TRY(Expect(")"));
  return MakeExpr(std::move(cast), Span(start, LastPosition()));
}

Result<ExprPointer> Grammar::NameOrCall() {
  const Token first = Here();
  const SourcePosition start = first.position;
  ast::Name name;
  const bool call_of_reserved =
      first.kind == Token::Kind::kWord && IsReservedFunction(first.upper) && IsAhead(1, "(");
  if (!call_of_reserved && !IsName()) return Unexpected("an expression");
  name.parts.push_back(first.text);
  name.quoted.push_back(first.kind == Token::Kind::kQuoted);
  name.position = first.position;
  RT_TRY(Step());
  while (Is(".")) {
    if (IsAhead(1, "*")) {
      RT_TRY(Step());
      RT_TRY(Step());
      const SourcePosition position = Span(start, LastPosition());
      return MakeExpr(ast::Star{std::move(name)}, position);
    }
    RT_TRY(Step());
    RT_ASSIGN(const ast::Name part, SimpleName());
    name.parts.push_back(part.parts[0]);
    name.quoted.push_back(part.quoted[0]);
    name.position = Span(name.position, part.position);
  }
  if (Is("(")) return FunctionCall(name, start);
  const SourcePosition position = name.position;
  return MakeExpr(ast::NameRef{std::move(name)}, position);
}

Result<ExprPointer> Grammar::FunctionCall(const ast::Name& name, SourcePosition start) {
  RT_TRY(Enter());
  ast::Call call;
  call.function = UpperCase(name.ToString());
  RT_TRY(Step());
  if (!Is(")")) {
    RT_ASSIGN(call.distinct, Accept("DISTINCT"));
    if (!call.distinct) RT_TRY(Accept("ALL").status());
    while (true) {
      RT_ASSIGN(ExprPointer argument, Argument());
      call.operands.push_back(std::move(argument));
      RT_ASSIGN(const bool more, Accept(","));
      if (!more) break;
    }
    if (Is("IGNORE") || Is("RESPECT")) {
      call.nulls = Here().upper + " NULLS";
      RT_TRY(Step());
      RT_TRY(Expect("NULLS"));
    }
    if (Is("ORDER")) {
      RT_TRY(ExpectSequence({"ORDER", "BY"}));
      RT_ASSIGN(call.within_group, OrderItems());
    }
  }
  RT_TRY(Expect(")"));
  Leave();
  return CallTail(std::move(call), start);
}

// An argument: an expression, `TABLE t`, `DESCRIPTOR(a, b)`, `name => value`, or a query.
Result<ExprPointer> Grammar::Argument() {
  const SourcePosition start = Here().position;
  if (IsName() && IsAhead(1, "=>")) {
    ast::NamedArgument argument;
    RT_ASSIGN(argument.name, SimpleName());
    RT_TRY(Step());
    RT_ASSIGN(argument.value, Argument());
    return MakeExpr(std::move(argument), Span(start, LastPosition()));
  }
  if (Is("TABLE")) {
    RT_TRY(Step());
    ast::TableArgument argument;
    if (Is("(")) {
      RT_TRY(Step());
      RT_ASSIGN(argument.query, QueryExpression(true));
      RT_TRY(Expect(")"));
    } else {
      RT_ASSIGN(argument.table, CompoundName());
    }
    RT_ASSIGN(const bool partitioned, AcceptSequence({"PARTITION", "BY"}));
    if (partitioned) {
      if (Is("(")) {
        RT_TRY(Step());
        RT_ASSIGN(argument.partition, ExpressionList());
        RT_TRY(Expect(")"));
      } else {
        RT_ASSIGN(ExprPointer key, Or());
        argument.partition.push_back(std::move(key));
      }
    }
    return MakeExpr(std::move(argument), Span(start, LastPosition()));
  }
  if (Is("DESCRIPTOR") && IsAhead(1, "(")) {
    RT_TRY(Step());
    ast::Descriptor descriptor;
    RT_ASSIGN(descriptor.columns, NameList());
    return MakeExpr(std::move(descriptor), Span(start, LastPosition()));
  }
  if (StartsQuery()) {
    ast::Subquery subquery;
    RT_ASSIGN(subquery.query, QueryExpression(true));
    return MakeExpr(std::move(subquery), Span(start, LastPosition()));
  }
  if (Is("*") && IsAhead(1, ")")) {
    RT_TRY(Step());
    return MakeExpr(ast::Star{}, start);
  }
  return Or();
}

// WITHIN GROUP, FILTER, IGNORE NULLS and OVER behind the parenthesis.
Result<ExprPointer> Grammar::CallTail(ast::Call call, SourcePosition start) {
  if (IsSequence({"WITHIN", "GROUP"})) {
    RT_TRY(ExpectSequence({"WITHIN", "GROUP", "(", "ORDER", "BY"}));
    RT_ASSIGN(call.within_group, OrderItems());
    RT_TRY(Expect(")"));
  }
  if (Is("FILTER") && IsAhead(1, "(")) {
    RT_TRY(ExpectSequence({"FILTER", "(", "WHERE"}));
    RT_ASSIGN(call.filter, Or());
    RT_TRY(Expect(")"));
  }
  if ((Is("IGNORE") || Is("RESPECT")) && IsAhead(1, "NULLS")) {
    call.nulls = Here().upper + " NULLS";
    RT_TRY(Step());
    RT_TRY(Step());
  }
  if (Is("OVER")) {
    RT_TRY(Step());
    const SourcePosition at = Here().position;
    if (Is("(")) {
      RT_ASSIGN(call.over, WindowDefinition());
    } else {
      RT_ASSIGN(const ast::Name name, SimpleName());
      ast::WindowSpec window;
      window.base = name.parts[0];
      window.name_only = true;
      window.position = at;
      call.over = std::move(window);
    }
  }
  return MakeExpr(std::move(call), Span(start, LastPosition()));
}

Result<ast::WindowSpec> Grammar::WindowDefinition() {
  ast::WindowSpec window;
  const SourcePosition start = Here().position;
  RT_TRY(Expect("("));
  if (IsName()) {
    RT_ASSIGN(const ast::Name base, SimpleName());
    window.base = base.parts[0];
  }
  if (Is("PARTITION")) {
    RT_TRY(ExpectSequence({"PARTITION", "BY"}));
    RT_ASSIGN(window.partition, ExpressionList());
  }
  if (Is("ORDER")) {
    RT_TRY(ExpectSequence({"ORDER", "BY"}));
    RT_ASSIGN(window.order, OrderItems());
  }
  if (Is("ROWS") || Is("RANGE")) {
    window.has_frame = true;
    window.rows = Is("ROWS");
    RT_TRY(Step());
    RT_ASSIGN(const bool between, Accept("BETWEEN"));
    RT_ASSIGN(window.lower, FrameBound());
    if (between) {
      RT_TRY(Expect("AND"));
      RT_ASSIGN(window.upper, FrameBound());
    }
  }
  RT_TRY(Expect(")"));
  window.position = Span(start, LastPosition());
  return window;
}

Result<ast::WindowBound> Grammar::FrameBound() {
  using K = ast::WindowBound::Kind;
  ast::WindowBound bound;
  if (Is("UNBOUNDED")) {
    RT_TRY(Step());
    if (!Is("PRECEDING") && !Is("FOLLOWING")) return Unexpected("PRECEDING or FOLLOWING");
    bound.kind = Is("PRECEDING") ? K::kUnboundedPreceding : K::kUnboundedFollowing;
    RT_TRY(Step());
    return bound;
  }
  if (Is("CURRENT")) {
    RT_TRY(ExpectSequence({"CURRENT", "ROW"}));
    return bound;
  }
  RT_ASSIGN(bound.offset, Concatenation());
  if (!Is("PRECEDING") && !Is("FOLLOWING")) return Unexpected("PRECEDING or FOLLOWING");
  bound.kind = Is("PRECEDING") ? K::kPreceding : K::kFollowing;
  RT_TRY(Step());
  return bound;
}

Result<std::vector<ast::OrderItem>> Grammar::OrderItems() {
  std::vector<ast::OrderItem> items;
  while (true) {
    ast::OrderItem item;
    RT_ASSIGN(item.key, Or());
    if (Is("ASC") || Is("DESC")) {
      item.descending = Is("DESC");
      RT_TRY(Step());
    }
    if (Is("NULLS")) {
      RT_TRY(Step());
      if (!Is("FIRST") && !Is("LAST")) return Unexpected("FIRST or LAST");
      item.nulls_first = Is("FIRST");
      RT_TRY(Step());
    }
    items.push_back(std::move(item));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) return items;
  }
}

Result<std::vector<ExprPointer>> Grammar::ExpressionList() {
  std::vector<ExprPointer> items;
  while (true) {
    RT_ASSIGN(ExprPointer item, Or());
    items.push_back(std::move(item));
    if (items.size() > kMaxInList)
      return Status::Parse(Here().position, "more than {} entries in one list", kMaxInList);
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) return items;
  }
}

}  // namespace rowtide

#include "planner/sql/grammar.h"

#include "engine/schema.h"
#include "engine/value_text.h"
#include "planner/sql/parser.h"
#include "planner/sql/reserved_words.h"
#include "planner/sql/suggestions.h"

namespace rowtide {

namespace {
constexpr std::string_view kString = "a string in single quotes";
}  // namespace

Grammar::Grammar(std::string_view text, size_t offset, int line, int column)
    : text_(text), lexer_(text), begin_(offset) {
  lexer_.MoveTo(offset, line, column);
}

// --- tokens ----------------------------------------------------------------------------------

Result<Token> Grammar::ReadToken() {
  RT_ASSIGN(Token token, lexer_.Next());
  if (token.end > begin_ + kMaxStatementBytes) {
    too_long_ = true;
    return Status::Parse(token.position, "the statement is longer than {} bytes",
                         kMaxStatementBytes);
  }
  return token;
}

Status Grammar::Fill(size_t count) {
  while (tokens_.size() <= at_ + count) {
    if (lex_failed_) return lex_error_;
    Result<Token> token = ReadToken();
    if (!token.ok()) {
      lex_failed_ = true;
      lex_error_ = token.status();
      return lex_error_;
    }
    tokens_.push_back(std::move(*token));
  }
  return Status::Ok();
}

const Token& Grammar::Ahead(size_t count) {
  static const Token kEnd;
  return Fill(count).ok() ? tokens_[at_ + count] : kEnd;
}

Status Grammar::Step() {
  last_ = Here().position;
  last_end_ = Here().end;
  RT_TRY(Fill(1));
  ++at_;
  return Status::Ok();
}

bool Grammar::Is(std::string_view word) const {
  const Token& token = Here();
  return (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kSymbol) &&
         token.upper == word;
}

bool Grammar::IsAhead(size_t count, std::string_view word) {
  const Token& token = Ahead(count);
  return (token.kind == Token::Kind::kWord || token.kind == Token::Kind::kSymbol) &&
         token.upper == word;
}

bool Grammar::IsSequence(std::initializer_list<std::string_view> words) {
  size_t ahead = 0;
  for (const std::string_view word : words) {
    if (!IsAhead(ahead++, word)) return false;
  }
  return true;
}

Result<bool> Grammar::Accept(std::string_view word) {
  if (!Is(word)) return false;
  RT_TRY(Step());
  return true;
}

Result<bool> Grammar::AcceptSequence(std::initializer_list<std::string_view> words) {
  if (!IsSequence(words)) return false;
  for (size_t i = 0; i < words.size(); ++i) RT_TRY(Step());
  return true;
}

Status Grammar::Expect(std::string_view word) {
  if (!Is(word)) return Unexpected(word);
  return Step();
}

Status Grammar::ExpectSequence(std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) RT_TRY(Expect(word));
  return Status::Ok();
}

Status Grammar::Unexpected(std::string_view expected) const {
  const Token& token = Here();
  if (token.kind == Token::Kind::kEnd) {
    return Status::Parse(token.position, "the statement ends where {} was expected", expected);
  }
  const std::string found(text_.substr(token.begin, std::min<size_t>(token.end - token.begin, 60)));
  const bool reserved = token.kind == Token::Kind::kWord && IsReservedWord(token.upper);
  Status status = Status::Parse(token.position, "{}{} where {} was expected",
                                reserved ? "the reserved word " : "", Quote(found), expected);
  const bool second = expected == kEndOfStatement && token.kind == Token::Kind::kWord &&
                      (StartsStatement(token.upper) || StartsStatement(Before().upper));
  if (second) status = std::move(status).WithErrorCode("RT1001");
  std::string hint = second ? "Put ; between two statements." : Advice(expected, found, reserved);
  return hint.empty() ? status : std::move(status).WithHint(std::move(hint));
}

const Token& Grammar::Before() const {
  static const Token kNone;
  return at_ > first_ ? tokens_[at_ - 1] : kNone;
}

// What may have been meant by the token that does not fit, and by the one before it.
std::string Grammar::Advice(std::string_view expected, std::string_view found,
                            bool reserved) const {
  const Token& token = Here();
  const Token& before = Before();
  const bool word = token.kind == Token::Kind::kWord;
  if (found.starts_with('"')) return "Text stands in single quotes, a name in back-ticks.";
  if (expected == kString && word) {
    return tokens_[first_].upper == "SET" || tokens_[first_].upper == "RESET"
               ? "Both sides stand in single quotes: SET 'key' = 'value'."
               : fmt::format("Put it in single quotes: '{}'.", found);
  }
  const bool wants_item = expected == "a name" || expected == "an expression";
  if (wants_item && before.kind == Token::Kind::kSymbol && before.upper == "," &&
      (token.upper == ")" || token.upper == "FROM"))
    return "Take away the comma before it.";
  if (reserved && wants_item) {
    return token.upper.starts_with("CURRENT_") || token.upper.starts_with("LOCALTIME")
               ? fmt::format("Write {} without parentheses.", token.upper)
               : fmt::format("Put it in back-ticks to use it as a name: `{}`.", found);
  }
  if (token.upper == "::") return "Write CAST(value AS type).";
  if (token.upper == "=" && before.upper == "=") return "Write one =.";
  if (token.upper == "&") return "Write AND.";
  if (token.upper == "UNSIGNED")
    return "Types have a sign; the next larger one holds all values: BIGINT for INT UNSIGNED.";
  if (token.upper == "(" && (before.upper == "STRING" || before.upper == "BYTES"))
    return fmt::format("{} has no length; {}(n) has.", before.upper,
                       before.upper == "STRING" ? "VARCHAR" : "VARBINARY");
  std::string meant;
  if (word && !reserved) {
    meant = Nearest(token.upper, {std::string(expected)});
    if (meant.empty() || meant == token.upper) meant = MeantKeyword(token.upper);
    if (!meant.empty()) return fmt::format("Did you mean {}?", meant);
  }
  if (before.kind == Token::Kind::kWord && !IsReservedWord(before.upper))
    meant = MeantKeyword(before.upper);
  return meant.empty() ? "" : fmt::format("Did you mean {} in place of {}?", meant, before.text);
}

Status Grammar::Enter() {
  if (++depth_ <= kMaxNesting) return Status::Ok();
  return Status::Parse(Here().position, "more than {} expressions or queries inside each other",
                       kMaxNesting);
}

Status Grammar::CheckChain(int links) const {
  if (links <= kMaxChain) return Status::Ok();
  return Status::Parse(Here().position, "more than {} operators in a row", kMaxChain);
}

// --- names and literals ----------------------------------------------------------------------

bool Grammar::IsName() const {
  const Token& token = Here();
  if (token.kind == Token::Kind::kQuoted) return true;
  return token.kind == Token::Kind::kWord && !IsReservedWord(token.upper);
}

Result<ast::Name> Grammar::SimpleName() {
  if (!IsName()) return Unexpected("a name");
  ast::Name name;
  name.parts.push_back(Here().text);
  name.quoted.push_back(Here().kind == Token::Kind::kQuoted);
  name.position = Here().position;
  RT_TRY(Step());
  return name;
}

Result<ast::Name> Grammar::CompoundName() {
  RT_ASSIGN(ast::Name name, SimpleName());
  while (Is(".")) {
    RT_TRY(Step());
    RT_ASSIGN(const ast::Name part, SimpleName());
    name.parts.push_back(part.parts[0]);
    name.quoted.push_back(part.quoted[0]);
    name.position = ast::Span(name.position, part.position);
  }
  return name;
}

Result<std::vector<ast::Name>> Grammar::NameList() {
  std::vector<ast::Name> names;
  RT_TRY(Expect("("));
  while (true) {
    RT_ASSIGN(ast::Name name, SimpleName());
    names.push_back(std::move(name));
    RT_ASSIGN(const bool more, Accept(","));
    if (!more) break;
  }
  RT_TRY(Expect(")"));
  return names;
}

Result<std::string> Grammar::StringLiteral() {
  if (Here().kind != Token::Kind::kString) return Unexpected(kString);
  std::string text = Here().text;
  RT_TRY(Step());
  return text;
}

// --- types -----------------------------------------------------------------------------------

Result<int> Grammar::TypeParameter(int fallback, int low, int high, const char* what) {
  if (!Is("(")) return fallback;
  RT_TRY(Step());
  if (Here().kind != Token::Kind::kInteger) return Unexpected("a number");
  const Token token = Here();
  int64_t value = 0;
  if (!ParseInt64(token.text, &value)) value = -1;
  RT_TRY(Step());
  RT_TRY(Expect(")"));
  if (value < low || value > high) {
    return Status::Validate(token.position, "{} must lie between {} and {}, and is {}", what, low,
                            high, token.text)
        .WithErrorCode("RT2021");
  }
  return static_cast<int>(value);
}

Result<ast::DataType> Grammar::DataType() {
  RT_TRY(Enter());
  ast::DataType made;
  const Token first = Here();
  const SourcePosition start = first.position;
  if (first.kind != Token::Kind::kWord) return Unexpected("a data type");
  RT_TRY(Step());
  const std::string& word = first.upper;
  using K = TypeKind;
  Type type;
  bool known = true;
  if (word == "BOOLEAN") {
    type = Type::Boolean();
  } else if (word == "TINYINT") {
    type = Type::Of(K::kTinyInt);
  } else if (word == "SMALLINT") {
    type = Type::Of(K::kSmallInt);
  } else if (word == "INT" || word == "INTEGER") {
    type = Type::Int();
  } else if (word == "BIGINT") {
    type = Type::BigInt();
  } else if (word == "FLOAT" || word == "REAL") {
    type = Type::Of(K::kFloat);
  } else if (word == "DOUBLE") {
    RT_TRY(Accept("PRECISION").status());
    type = Type::Double();
  } else if (word == "DECIMAL" || word == "DEC" || word == "NUMERIC") {
    int64_t precision = 10, scale = 0;
    if (Is("(")) {
      const SourcePosition at = Here().position;
      RT_TRY(Step());
      if (Here().kind != Token::Kind::kInteger) return Unexpected("a number");
      if (!ParseInt64(Here().text, &precision)) precision = -1;
      RT_TRY(Step());
      RT_ASSIGN(const bool has_scale, Accept(","));
      if (has_scale) {
        if (Here().kind != Token::Kind::kInteger) return Unexpected("a number");
        if (!ParseInt64(Here().text, &scale)) scale = -1;
        RT_TRY(Step());
      }
      RT_TRY(Expect(")"));
      if (precision < 1 || precision > kMaxDecimalPrecision) {
        return Status::Validate(at, "the precision of a DECIMAL must lie between 1 and {}",
                                kMaxDecimalPrecision)
            .WithErrorCode("RT2021");
      }
      if (scale < 0 || scale > precision) {
        return Status::Validate(
                   at, "the scale of a DECIMAL must lie between 0 and its precision, {}", precision)
            .WithErrorCode("RT2021");
      }
    }
    type = Type::Decimal(static_cast<int>(precision), static_cast<int>(scale));
  } else if (word == "CHAR" || word == "CHARACTER" || word == "VARCHAR") {
    // CHAR is CHAR(1); VARCHAR has no bound, as in Flink.
    RT_ASSIGN(const bool says_varying, Accept("VARYING"));
    const bool varying = says_varying || word == "VARCHAR";
    RT_ASSIGN(const int length, TypeParameter(varying ? kMaxLength : 1, 1, kMaxLength,
                                              "the length of a string type"));
    type = varying ? Type::VarChar(length) : Type::Char(length);
  } else if (word == "STRING") {
    type = Type::String();
  } else if (word == "BINARY" || word == "VARBINARY") {
    RT_ASSIGN(const bool says_varying, Accept("VARYING"));
    const bool varying = says_varying || word == "VARBINARY";
    RT_ASSIGN(const int length, TypeParameter(varying ? kMaxLength : 1, 1, kMaxLength,
                                              "the length of a binary type"));
    type = Type::Of(varying ? K::kVarBinary : K::kBinary, length);
  } else if (word == "BYTES") {
    type = Type::Bytes();
  } else if (word == "DATE") {
    type = Type::Date();
  } else if (word == "TIME") {
    RT_ASSIGN(const int precision, TypeParameter(0, 0, 9, "the precision of a TIME"));
    RT_TRY(AcceptSequence({"WITHOUT", "TIME", "ZONE"}).status());
    type = Type::Of(K::kTime, std::min(precision, 3));  // as Calcite, whose TIME is milliseconds
  } else if (word == "TIMESTAMP" || word == "TIMESTAMP_LTZ") {
    RT_ASSIGN(const int precision, TypeParameter(6, 0, 9, "the precision of a TIMESTAMP"));
    type = word == "TIMESTAMP" ? Type::Timestamp(precision) : Type::TimestampLtz(precision);
    if (word == "TIMESTAMP") {
      RT_ASSIGN(const bool local, AcceptSequence({"WITH", "LOCAL", "TIME", "ZONE"}));
      if (local) type = Type::TimestampLtz(precision);
      if (IsSequence({"WITH", "TIME", "ZONE"})) {
        RT_TRY(AcceptSequence({"WITH", "TIME", "ZONE"}).status());
        known = false;
        made.unsupported = "TIMESTAMP WITH TIME ZONE";
      }
      RT_TRY(AcceptSequence({"WITHOUT", "TIME", "ZONE"}).status());
    }
  } else if (word == "INTERVAL") {
    RT_ASSIGN(const std::string unit, IntervalUnit(nullptr));
    const bool months =
        unit.starts_with("YEAR") || unit.starts_with("MONTH") || unit.starts_with("QUARTER");
    type = Type::Of(months ? K::kIntervalMonths : K::kIntervalMillis);
    if (unit.find(" TO ") != std::string::npos) {
      type = months ? Type::Interval(rowtide::IntervalUnit::kYear, rowtide::IntervalUnit::kMonth)
                    : Type::Interval(rowtide::IntervalUnit::kDay, rowtide::IntervalUnit::kSecond);
    }
  } else if (word == "ARRAY" || word == "MULTISET" || word == "MAP" || word == "ROW" ||
             word == "RAW" || word == "STRUCTURED") {
    known = false;
    made.unsupported = word;
    if (Is("<") || Is("(")) {  // skipped as a whole; `<>` is one symbol (ROW<>)
      int open = 0;
      do {
        if (Is("<") || Is("(")) ++open;
        if (Is(">") || Is(")")) --open;
        if (Here().kind == Token::Kind::kEnd) return Unexpected(">");
        RT_TRY(Step());
      } while (open > 0);
    } else if (Is("<>")) {
      RT_TRY(Step());
    }
  } else if (word == "VARIANT" || word == "BITMAP" || word == "DESCRIPTOR") {
    known = false;
    made.unsupported = word;
  } else if (const std::string_view meant = MeantType(word);
             !meant.empty() || !IsReservedWord(word)) {
    static const std::vector<std::string> kTypes = {
        "BOOLEAN",   "TINYINT", "SMALLINT", "INT",     "BIGINT",    "FLOAT",
        "DOUBLE",    "DECIMAL", "CHAR",     "VARCHAR", "STRING",    "BINARY",
        "VARBINARY", "BYTES",   "DATE",     "TIME",    "TIMESTAMP", "TIMESTAMP_LTZ"};
    const std::string nearest = meant.empty() ? Nearest(word, kTypes) : std::string(meant);
    Status status = Status::Validate(start, "there is no data type {}", Quote(first.text))
                        .WithErrorCode("RT2004");
    if (IsReservedWord(word)) status = std::move(status).WithKind(ErrorKind::kParse);
    return nearest.empty() ? status : std::move(status).WithHint("The nearest is " + nearest + ".");
  } else {
    at_ -= 1;
    return Unexpected("a data type");
  }
  if (Is("ARRAY") || Is("MULTISET")) {  // INT ARRAY
    known = false;
    made.unsupported = Here().upper;
    RT_TRY(Step());
  }
  if (known) made.type = type;
  RT_ASSIGN(const bool not_null, AcceptSequence({"NOT", "NULL"}));
  if (not_null) {
    made.type = made.type.NotNull();
  } else if (!IsAhead(1, "ON")) {  // RETURNING INT NULL ON EMPTY
    RT_TRY(Accept("NULL").status());
  }
  made.position = ast::Span(start, LastPosition());
  made.text = TextBetween(first.begin, last_end_);
  Leave();
  return made;
}

}  // namespace rowtide

namespace rowtide::ast {

std::string Name::ToString() const {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

SourcePosition Span(const SourcePosition& a, const SourcePosition& b) {
  return {a.line, a.column, b.end_line, b.end_column};
}

}  // namespace rowtide::ast

// The recursive-descent grammar behind parser.h: one object per statement, methods by rule.
//
// Split over four files: grammar.cc (tokens, names, types), grammar_expression.cc,
// grammar_query.cc, grammar_statement.cc. Every rule returns a Result; `Here()` is the token it
// stands on.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "planner/sql/ast.h"
#include "planner/sql/lexer.h"

namespace rowtide {

inline constexpr std::string_view kEndOfStatement = "the end of the statement";

class Grammar {
 public:
  // Starts at a place of the text; tokens are read as needed, `;` ends a statement.
  Grammar(std::string_view text, size_t offset, int line, int column);

  // True and past it if the text is at its end; passes over empty statements.
  Result<bool> AtEnd();
  Result<ast::Statement> ParseStatement();  // without its `;`
  Result<ast::QueryPointer> ParseQuery();
  Result<ast::ExprPointer> ParseExpression();
  // `;` or the end of the text.
  Status ExpectEnd();

  const Lexer& lexer() const { return lexer_; }
  // Where to go on: just after the `;` passed, or at its start.
  const Token& current() const { return tokens_[at_]; }
  bool too_long() const { return too_long_; }  // the statement; its end was not looked for
  // Of the statement being parsed.
  const Token& first() const { return tokens_[first_]; }

 private:
  // --- tokens (grammar.cc)
  Result<Token> ReadToken();
  Status Fill(size_t count);
  const Token& Here() const { return tokens_[at_]; }
  const Token& Ahead(size_t count);  // kEnd when the text has a bad token there
  Status Step();
  const SourcePosition& LastPosition() const { return last_; }
  bool Is(std::string_view word) const;  // a keyword or symbol, here
  bool IsAhead(size_t count, std::string_view word);
  bool IsSequence(std::initializer_list<std::string_view> words);
  Result<bool> Accept(std::string_view word);
  Result<bool> AcceptSequence(std::initializer_list<std::string_view> words);
  Status Expect(std::string_view word);
  Status ExpectSequence(std::initializer_list<std::string_view> words);
  Status Unexpected(std::string_view expected) const;
  std::string Advice(std::string_view expected, std::string_view found, bool reserved) const;
  const Token& Before() const;  // of this statement; no kind when there is none
  static bool StartsStatement(const std::string& upper);
  Status Enter();  // one level deeper
  void Leave() { --depth_; }
  Status CheckChain(int links) const;  // a + b + c + …
  bool IsName() const;
  Result<ast::Name> SimpleName();             // one identifier
  Result<ast::Name> CompoundName();           // a.b.c
  Result<std::vector<ast::Name>> NameList();  // (a, b)
  Result<std::string> StringLiteral();
  Result<ast::DataType> DataType();
  Result<int> TypeParameter(int fallback, int low, int high, const char* what);
  std::string TextBetween(size_t begin, size_t end) const {
    return std::string(text_.substr(begin, end - begin));
  }

  // --- expressions (grammar_expression.cc)
  Result<ast::ExprPointer> Or();
  Result<ast::ExprPointer> And();
  Result<ast::ExprPointer> Not();
  Result<ast::ExprPointer> Predicate();
  Result<ast::ExprPointer> PredicateTail(ast::ExprPointer left, bool* more);
  Result<ast::ExprPointer> InTail(ast::ExprPointer left, bool negated);
  Result<ast::ExprPointer> IsTail(ast::ExprPointer left);
  Result<ast::ExprPointer> LikeTail(ast::ExprPointer left, bool negated);
  Result<ast::ExprPointer> Comparison(ast::ExprPointer left);
  Result<ast::ExprPointer> Concatenation();
  Result<ast::ExprPointer> Sum();
  Result<ast::ExprPointer> Product();
  Result<ast::ExprPointer> Unary();
  Result<ast::ExprPointer> Postfix();
  Result<ast::ExprPointer> Primary();
  Result<ast::ExprPointer> Parenthesised();
  Result<ast::ExprPointer> NumberLiteral();
  Result<ast::ExprPointer> UnicodeLiteral();
  Result<ast::ExprPointer> DateTimeLiteral(ast::Literal::Kind kind);
  Result<ast::ExprPointer> IntervalLiteral();
  // `precision`: what stands in DAY(3), else as it was.
  Result<std::string> IntervalUnit(int* precision);
  Result<std::string> TimeUnit();
  Result<ast::ExprPointer> CaseExpression();
  Result<ast::ExprPointer> CastExpression(bool tries);
  Result<ast::ExprPointer> NameOrCall();
  Result<ast::ExprPointer> FunctionCall(const ast::Name& name, SourcePosition start);
  Result<ast::ExprPointer> CallTail(ast::Call call, SourcePosition start);
  Result<ast::ExprPointer> Argument();
  Result<ast::ExprPointer> SpecialFunction(const std::string& function, SourcePosition start,
                                           bool* special);
  Result<ast::ExprPointer> JsonFunction(const std::string& function, SourcePosition start);
  Result<ast::ExprPointer> JsonConstructor(const std::string& function, SourcePosition start);
  Status JsonBehaviours(ast::Call* call, const std::string& function);
  Result<ast::WindowSpec> WindowDefinition();
  Result<ast::WindowBound> FrameBound();
  Result<std::vector<ast::OrderItem>> OrderItems();
  Result<std::vector<ast::ExprPointer>> ExpressionList();
  ast::ExprPointer Symbol(std::string text, SourcePosition position);

  // --- queries (grammar_query.cc)
  bool StartsQuery() const;
  bool ContinuesQuery() const;  // UNION, ORDER BY, … behind a query in parentheses
  Result<ast::QueryPointer> QueryExpression(bool with_order);
  Result<ast::QueryPointer> QueryTail(ast::QueryPointer first);
  Result<ast::QueryPointer> SetExpression(ast::QueryPointer first);
  Result<ast::QueryPointer> SetTerm(ast::QueryPointer first);
  Result<ast::QueryPointer> QueryPrimary();
  Result<ast::QueryPointer> SelectBlock();
  Result<ast::QueryPointer> ValuesBlock();
  Status OrderAndLimit(ast::Query* query);
  Result<std::vector<ast::Hint>> Hints();
  Result<ast::SelectItem> SelectItem();
  Result<std::vector<ast::GroupItem>> GroupItems();
  Result<ast::GroupItem> GroupItem();
  Result<ast::TablePointer> FromClause();
  Result<ast::TablePointer> JoinTree();
  Result<ast::TablePointer> TablePrimary();
  Status TableAlias(ast::TableRef* table);

  // --- statements (grammar_statement.cc)
  Result<ast::Statement> StatementBody();
  Result<ast::Statement> Create();
  Result<ast::Statement> CreateTable(bool temporary);
  Result<ast::Statement> CreateDatabase();
  Result<ast::Statement> CreateView(bool temporary);
  Status TableElements(ast::CreateTable* table);
  Status TableElement(ast::CreateTable* table);
  Status ColumnRest(ast::Column* column, ast::CreateTable* table);
  Status LikeClause(ast::CreateTable* table);
  Result<ast::Constraint> ConstraintRest(std::string name);
  Result<std::vector<ast::OptionEntry>> Options();
  Result<ast::Statement> Drop();
  Result<ast::Insert> InsertStatement();
  Result<ast::StatementSet> StatementSetBody();
  Result<ast::Statement> ExplainStatement();
  Result<ast::Statement> ShowStatement();
  Result<ast::Statement> SetStatement();
  Result<ast::Statement> ResetStatement();
  Result<ast::Statement> RefusedStatement(std::string construct);
  ast::Statement Made(decltype(ast::Statement::node) node) const;

  std::string_view text_;
  Lexer lexer_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool too_long_ = false;
  size_t begin_ = 0;  // of the statement: in the text, and its first token
  size_t first_ = 0;
  int depth_ = 0;
  SourcePosition last_;
  size_t last_end_ = 0;
  bool lex_failed_ = false;
  Status lex_error_;
};

}  // namespace rowtide

#include "planner/sql/parser.h"

#include "planner/sql/grammar.h"

namespace rowtide {

ScriptParser::ScriptParser(std::string_view text) : text_(text) {}
ScriptParser::~ScriptParser() = default;

Result<std::optional<ast::Statement>> ScriptParser::NextStatement() {
  Grammar grammar(text_, offset_, line_, column_);
  Lexer skipping(text_);
  skipping.MoveTo(offset_, line_, column_);
  const Result<bool> end = grammar.AtEnd();
  if (end.ok() && *end) return std::optional<ast::Statement>();
  Result<ast::Statement> statement =
      end.ok() ? grammar.ParseStatement() : Result<ast::Statement>(end.status());
  if (statement.ok()) {
    const Token& last = grammar.current();
    offset_ = last.begin;
    line_ = last.position.line;
    column_ = last.position.column;
    return std::optional<ast::Statement>(std::move(*statement));
  }
  if (grammar.too_long()) {
    offset_ = text_.size();
    return statement.status();
  }
  // Behind the broken statement; `;` before it are not its end.
  if (end.ok()) {
    const Token& first = grammar.first();
    skipping.MoveTo(first.begin, first.position.line, first.position.column);
  }
  skipping.SkipStatement();
  offset_ = skipping.offset();
  line_ = skipping.line();
  column_ = skipping.column();
  return statement.status();
}

Result<std::vector<ast::Statement>> ParseScript(std::string_view text) {
  std::vector<ast::Statement> statements;
  ScriptParser parser(text);
  while (true) {
    RT_ASSIGN(std::optional<ast::Statement> statement, parser.NextStatement());
    if (!statement) return statements;
    statements.push_back(std::move(*statement));
  }
}

Result<ast::QueryPointer> ParseQuery(std::string_view text) {
  Grammar grammar(text, 0, 1, 1);
  RT_ASSIGN(ast::QueryPointer query, grammar.ParseQuery());
  RT_TRY(grammar.ExpectEnd());
  return query;
}

Result<ast::ExprPointer> ParseExpression(std::string_view text) {
  Grammar grammar(text, 0, 1, 1);
  RT_ASSIGN(ast::ExprPointer expression, grammar.ParseExpression());
  RT_TRY(grammar.ExpectEnd());
  return expression;
}

}  // namespace rowtide

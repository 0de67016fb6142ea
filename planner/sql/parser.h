// SQL text to statements: recursive descent over lexer.h's tokens, Calcite's precedence, Flink's
// dialect.
//
// A script is read statement by statement, so an error in the third does not hide the first two:
//
//   ScriptParser parser(text);
//   while (true) {
//     RT_ASSIGN(std::optional<ast::Statement> statement, parser.NextStatement());
//     if (!statement) break;
//   }
//
// After an error the next call goes on behind the `;` of the broken statement. Errors are of kind
// parse and carry the place of the token that does not fit, what was expected, and the nearest
// keyword if it looks like a misspelling.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "engine/status.h"
#include "planner/sql/ast.h"

namespace rowtide {

inline constexpr size_t kMaxStatementBytes = 1 << 20;
inline constexpr int kMaxNesting = 256;  // of expressions and queries inside each other
inline constexpr int kMaxChain =
    1024;  // operators in a row: a + b + c …; AND and OR are not bounded
inline constexpr size_t kMaxInList = 65536;  // entries of IN (…)

class ScriptParser {
 public:
  // `text` must outlive the parser.
  explicit ScriptParser(std::string_view text);
  ~ScriptParser();
  // The next statement, or none at the end of the text. Empty statements (`;;`) are passed over.
  Result<std::optional<ast::Statement>> NextStatement();

 private:
  std::string_view text_;
  size_t offset_ = 0;
  int line_ = 1;
  int column_ = 1;
};

// All statements; stops at the first error.
Result<std::vector<ast::Statement>> ParseScript(std::string_view text);
// Exactly one query: for views. A final `;` is allowed.
Result<ast::QueryPointer> ParseQuery(std::string_view text);
// Exactly one expression: for stored computed columns.
Result<ast::ExprPointer> ParseExpression(std::string_view text);

}  // namespace rowtide

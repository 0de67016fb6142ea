// SQL text to tokens, one by one, each with its place.
//
//   SELECT `a b`, 'it''s' -- why     ->   word SELECT | quoted a b | , | string it's | end
//
// Untrusted text: never reads past the end; a bad token is a parse error with its place. Comments
// are skipped, hints (`/*+`) are symbols. Keywords are plain words here; what is reserved is the
// parser's business (reserved_words.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace rowtide {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,
    kQuoted,
    kString,
    kUnicodeString,
    kBinary,
    kInteger,
    kDecimal,
    kApproximate,
    kSymbol
  };
  Kind kind = Kind::kEnd;
  std::string text;   // unquoted
  std::string upper;  // kWord: in upper case; kSymbol: the symbol
  size_t begin = 0;   // bytes in the text
  size_t end = 0;
  SourcePosition position;
};

// All tokens of one statement: up to its `;` (not included) or the end of the text.
// BEGIN … END of statement sets holds `;` inside and is cut by the parser, so tokens come lazily.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  // The next token; kEnd at the end, again and again.
  Result<Token> Next();
  // Goes to just after the next `;` outside quotes and comments, or to the end.
  void SkipStatement();
  size_t offset() const { return at_; }
  void MoveTo(size_t offset, int line, int column) { at_ = offset, line_ = line, column_ = column; }
  int line() const { return line_; }
  int column() const { return column_; }

 private:
  Status SkipBlanks();
  Result<Token> Quoted(char quote, Token::Kind kind);
  Result<Token> EscapedString();
  Result<Token> Number();
  Token Word();
  Result<Token> Symbol();
  void Advance(size_t bytes);
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  Token Start(Token::Kind kind) const;
  void Finish(Token* token) const;

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

std::string UpperCase(std::string_view text);  // ASCII letters only

}  // namespace rowtide

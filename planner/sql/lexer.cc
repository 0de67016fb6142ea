#include "planner/sql/lexer.h"

#include "engine/schema.h"

namespace rowtide {
namespace {

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         (static_cast<unsigned char>(c) & 0x80);
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }

// Two- and three-character symbols, longest first.
constexpr std::string_view kLongSymbols[] = {"/*+", "<>", "<=", ">=", "!=", "||",
                                             "=>",  "*/", "->", "::", "{-", "-}"};
constexpr std::string_view kShortSymbols = "()[]{},;.+-*/%=<>|^?:&!~@$#\"";

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

}  // namespace

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

void Lexer::Advance(size_t bytes) {
  for (size_t i = 0; i < bytes && at_ < text_.size(); ++i, ++at_) {
    if (text_[at_] == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(text_[at_]) & 0xC0) != 0x80) {
      ++column_;
    }
  }
}

Token Lexer::Start(Token::Kind kind) const {
  Token token;
  token.kind = kind;
  token.begin = at_;
  token.position = {line_, column_, line_, column_};
  return token;
}

void Lexer::Finish(Token* token) const {
  token->end = at_;
  token->position.end_line = line_;
  token->position.end_column = column_ > 1 ? column_ - 1 : 1;
}

Status Lexer::SkipBlanks() {
  while (at_ < text_.size()) {
    if (IsBlank(Peek())) {
      Advance(1);
    } else if ((Peek() == '-' && Peek(1) == '-') || (Peek() == '/' && Peek(1) == '/')) {
      while (at_ < text_.size() && Peek() != '\n') Advance(1);
    } else if (Peek() == '/' && Peek(1) == '*' && Peek(2) != '+') {
      const Token start = Start(Token::Kind::kSymbol);
      const size_t close = text_.find("*/", at_ + 2);
      if (close == std::string_view::npos) {
        Advance(text_.size() - at_);
        return Status::Parse(start.position, "the comment has no end; expected '*/'");
      }
      Advance(close + 2 - at_);
    } else {
      break;
    }
  }
  return Status::Ok();
}

Result<Token> Lexer::Quoted(char quote, Token::Kind kind) {
  Token token = Start(kind);
  Advance(1);
  while (true) {
    if (at_ >= text_.size()) {
      return Status::Parse(token.position, "{} has no end; expected {}",
                           kind == Token::Kind::kQuoted ? "the quoted name" : "the string", quote);
    }
    if (Peek() == quote) {
      if (Peek(1) != quote) break;
      Advance(1);
    }
    token.text += Peek();
    Advance(1);
  }
  Advance(1);
  Finish(&token);
  if (kind == Token::Kind::kQuoted && token.text.empty())
    return Status::Parse(token.position, "the quoted name is empty");
  return token;
}

// e'…' with the escapes of C: \n \t \r \b \f \\ \' \uXXXX \UXXXXXXXX \xHH \ooo.
Result<Token> Lexer::EscapedString() {
  Token token = Start(Token::Kind::kString);
  Advance(2);
  while (true) {
    if (at_ >= text_.size())
      return Status::Parse(token.position, "the string has no end; expected '");
    const char c = Peek();
    if (c == '\'') {
      if (Peek(1) != '\'') break;
      token.text += '\'';
      Advance(2);
      continue;
    }
    if (c != '\\') {
      token.text += c;
      Advance(1);
      continue;
    }
    const char escape = Peek(1);
    const SourcePosition at = Start(Token::Kind::kString).position;
    size_t digits = escape == 'u' ? 4 : escape == 'U' ? 8 : escape == 'x' ? 2 : 0;
    if (digits > 0) {
      uint32_t code = 0;
      for (size_t i = 0; i < digits; ++i) {
        if (!IsHex(Peek(2 + i)))
          return Status::Parse(at, "\\{} needs {} hexadecimal digits", escape, digits);
        code =
            code * 16 + static_cast<uint32_t>(std::stoi(std::string(1, Peek(2 + i)), nullptr, 16));
      }
      if (code > 0x10FFFF) return Status::Parse(at, "no such character");
      AppendUtf8(code, &token.text);
      Advance(2 + digits);
      continue;
    }
    if (escape >= '0' && escape <= '7') {
      uint32_t code = 0;
      size_t count = 0;
      while (count < 3 && Peek(1 + count) >= '0' && Peek(1 + count) <= '7') {
        code = code * 8 + static_cast<uint32_t>(Peek(1 + count) - '0');
        ++count;
      }
      AppendUtf8(code, &token.text);
      Advance(1 + count);
      continue;
    }
    switch (escape) {
      case 'n': token.text += '\n'; break;
      case 't': token.text += '\t'; break;
      case 'r': token.text += '\r'; break;
      case 'b': token.text += '\b'; break;
      case 'f': token.text += '\f'; break;
      case '\0': return Status::Parse(at, "the string has no end; expected '");
      default: token.text += escape;
    }
    Advance(2);
  }
  Advance(1);
  Finish(&token);
  return token;
}

Result<Token> Lexer::Number() {
  Token token = Start(Token::Kind::kInteger);
  const size_t begin = at_;
  while (IsDigit(Peek())) Advance(1);
  if (Peek() == '.') {
    token.kind = Token::Kind::kDecimal;
    Advance(1);
    while (IsDigit(Peek())) Advance(1);
  }
  if (Peek() == 'e' || Peek() == 'E') {
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
    if (IsDigit(Peek(1 + sign))) {
      token.kind = Token::Kind::kApproximate;
      Advance(1 + sign);
      while (IsDigit(Peek())) Advance(1);
    }
  }
  token.text = std::string(text_.substr(begin, at_ - begin));
  Finish(&token);
  if (IsLetter(Peek())) {
    Token word = Word();
    return Status::Parse(word.position, "{} follows a number; put a blank between them",
                         Quote(word.text));
  }
  return token;
}

Token Lexer::Word() {
  Token token = Start(Token::Kind::kWord);
  const size_t begin = at_;
  while (IsLetter(Peek()) || IsDigit(Peek()) || Peek() == '$' || Peek() == '@') Advance(1);
  token.text = std::string(text_.substr(begin, at_ - begin));
  token.upper = UpperCase(token.text);
  Finish(&token);
  return token;
}

Result<Token> Lexer::Symbol() {
  Token token = Start(Token::Kind::kSymbol);
  for (const std::string_view symbol : kLongSymbols) {
    if (text_.substr(at_, symbol.size()) != symbol) continue;
    token.text = token.upper = std::string(symbol);
    Advance(symbol.size());
    Finish(&token);
    return token;
  }
  if (kShortSymbols.find(Peek()) == std::string_view::npos) {
    Advance(1);
    Finish(&token);
    return Status::Parse(token.position, "a character that SQL does not use: {}",
                         Quote(text_.substr(token.begin, at_ - token.begin)));
  }
  token.text = token.upper = std::string(1, Peek());
  Advance(1);
  Finish(&token);
  return token;
}

Result<Token> Lexer::Next() {
  RT_TRY(SkipBlanks());
  if (at_ >= text_.size()) {
    Token end = Start(Token::Kind::kEnd);
    end.end = at_;
    return end;
  }
  const char c = Peek();
  if (c == '\'') return Quoted('\'', Token::Kind::kString);
  if (c == '`') return Quoted('`', Token::Kind::kQuoted);
  if ((c == 'u' || c == 'U') && Peek(1) == '&' && Peek(2) == '\'') {
    Advance(2);
    return Quoted('\'', Token::Kind::kUnicodeString);
  }
  if ((c == 'e' || c == 'E') && Peek(1) == '\'') return EscapedString();
  if ((c == 'n' || c == 'N') && Peek(1) == '\'') {
    Advance(1);
    return Quoted('\'', Token::Kind::kString);
  }
  if ((c == 'x' || c == 'X') && Peek(1) == '\'') {
    Advance(1);
    return Quoted('\'', Token::Kind::kBinary);
  }
  if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)))) return Number();
  if (IsLetter(c)) return Word();
  return Symbol();
}

void Lexer::SkipStatement() {
  while (at_ < text_.size()) {
    const size_t before = at_;
    Result<Token> token = Next();
    if (token.ok() && token->kind == Token::Kind::kEnd) return;
    if (token.ok() && token->kind == Token::Kind::kSymbol && token->text == ";") return;
    if (at_ == before) Advance(1);
  }
}

}  // namespace rowtide

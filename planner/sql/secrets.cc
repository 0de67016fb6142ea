#include "planner/sql/secrets.h"

#include <algorithm>

#include "planner/sql/lexer.h"

namespace rowtide {

bool IsSecretKey(std::string_view key) {
  static constexpr std::string_view kWords[] = {
      "PASSWORD",    "SECRET", "FS.AZURE.ACCOUNT.KEY", "APIKEY",      "API-KEY",     "AUTH-PARAMS",
      "SERVICE-KEY", "TOKEN",  "BASIC-AUTH",           "JAAS.CONFIG", "HTTP-HEADERS"};
  const std::string upper = UpperCase(key);
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

std::string WithoutSecrets(std::string_view statement) {
  Lexer lexer(statement);
  std::string text;
  size_t copied = 0;
  bool key_is_secret = false;  // the last string is a secret key
  bool is_given = false;       // … and `=` follows it
  while (true) {
    const Result<Token> token = lexer.Next();
    if (!token.ok()) return "";
    if (token->kind == Token::Kind::kEnd) break;
    const bool is_text =
        token->kind == Token::Kind::kString || token->kind == Token::Kind::kUnicodeString;
    if (is_text && is_given) {
      text.append(statement.substr(copied, token->begin - copied)).append("'******'");
      copied = token->end;
      key_is_secret = is_given = false;
    } else if (is_text) {
      key_is_secret = IsSecretKey(token->text);
    } else {
      is_given = key_is_secret && token->upper == "=";
      key_is_secret = is_given;
    }
  }
  return text.append(statement.substr(copied));
}

}  // namespace rowtide

#include "planner/sql/secrets.h"

#include <algorithm>
#include <vector>

#include "engine/secrets.h"
#include "planner/sql/lexer.h"

namespace rowtide {
namespace {

// Where a literal is the value of a secret key, bytes from and to.
struct Place {
  size_t begin;
  size_t end;
};

struct Places {
  std::vector<Place> all;
  bool is_sql = true;
  size_t read = 0;          // up to here it was; what is unfinished behind it
  bool is_awaited = false;  // … a secret's value
};

Places FindSecrets(std::string_view text) {
  Lexer lexer(text);
  Places places;
  bool key_is_secret = false;  // the last string is a secret key
  while (true) {
    const Result<Token> token = lexer.Next();
    places.is_sql = token.ok();
    if (!token.ok() || token->kind == Token::Kind::kEnd) return places;
    const bool is_text =
        token->kind == Token::Kind::kString || token->kind == Token::Kind::kUnicodeString;
    if (is_text && places.is_awaited) {
      places.all.push_back({token->begin, token->end});
      key_is_secret = places.is_awaited = false;
    } else if (is_text) {
      key_is_secret = IsSecretKey(token->text);
    } else {
      places.is_awaited = key_is_secret && token->upper == "=";
      key_is_secret = places.is_awaited;
    }
    places.read = token->end;
  }
}

// Characters of UTF-8 count once, ends of lines stay.
void Cover(std::string_view secret, std::string* text) {
  for (const char c : secret) {
    if (c == '\n' || c == '\r') {
      text->push_back(c);
    } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
      text->push_back('*');
    }
  }
}

}  // namespace

std::string WithoutSecretValues(std::string_view statement) {
  const Places places = FindSecrets(statement);
  if (!places.is_sql) return "";
  std::string text;
  size_t copied = 0;
  for (const Place& place : places.all) {
    text.append(statement.substr(copied, place.begin - copied)).append("'");
    text.append(kHidden).append("'");
    copied = place.end;
  }
  return text.append(statement.substr(copied));
}

// Behind what is no SQL it is tried again, a byte further on.
std::string WithSecretsCovered(std::string_view text) {
  constexpr int kTriesMax = 100;
  std::string covered;
  for (int tries = 0; tries < kTriesMax; ++tries) {
    const Places places = FindSecrets(text);
    size_t copied = 0;
    for (const Place& place : places.all) {
      covered.append(text.substr(copied, place.begin + 1 - copied));
      Cover(text.substr(place.begin + 1, place.end - place.begin - 2), &covered);
      copied = place.end - 1;
    }
    if (places.is_sql) return covered.append(text.substr(copied));
    covered.append(text.substr(copied, places.read - copied));
    text.remove_prefix(places.read);
    if (places.is_awaited || text.empty()) break;
    covered.push_back(text[0]);
    text.remove_prefix(1);
  }
  Cover(text, &covered);
  return covered;
}

}  // namespace rowtide

// Characters (code points) of UTF-8 text. Text in columns is valid UTF-8; on other bytes these
// functions stay inside the text and count every byte that starts a character.
#pragma once

#include <string_view>

namespace rowtide {

inline bool StartsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Where character number `count` (from 0) starts; the text's size when it has fewer.
inline size_t Utf8Offset(std::string_view text, int64_t count) {
  if (count >= static_cast<int64_t>(text.size()))
    return text.size();  // a character has at least one byte
  size_t at = 0;
  for (int64_t i = 0; i < count && at < text.size(); ++i) {
    ++at;
    while (at < text.size() && !StartsCharacter(text[at])) ++at;
  }
  return at;
}

// The bytes of the first character.
inline std::string_view FirstCharacter(std::string_view text) {
  size_t at = 1;
  while (at < text.size() && !StartsCharacter(text[at])) ++at;
  return text.substr(0, at);
}

}  // namespace rowtide

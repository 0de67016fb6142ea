// UTF-8, character by character: for messages and places, where speed does not matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowtide {

// How many bytes the character at the front of `text` has; 0 when there is none: cut off, overlong,
// a surrogate, beyond U+10FFFF. Requires: not empty.
size_t Utf8CharacterBytes(std::string_view text);
// How many bytes of `text` are UTF-8 up to the first that is not.
size_t Utf8PrefixBytes(std::string_view text);
// The character of a code point.
void AppendUtf8Character(uint32_t code, std::string* out);

}  // namespace rowtide

#include "engine/base64.h"

#include <algorithm>
#include <cstdint>

namespace rowtide {

void AppendBase64(std::string_view bytes, std::string* out) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j) *out += j <= count ? kLetters[bits >> (18 - 6 * j) & 63] : '=';
  }
}

bool ParseBase64(std::string_view text, std::string* bytes) {
  bytes->clear();
  uint32_t bits = 0;
  int count = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] != '='; ++i) {
    const char c = text[i];
    int value;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else
      return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count == 4) {
      bytes->append(
          {static_cast<char>(bits >> 16), static_cast<char>(bits >> 8), static_cast<char>(bits)});
      bits = 0;
      count = 0;
    }
  }
  const size_t padding = text.size() - i;
  for (size_t j = i; j < text.size(); ++j) {
    if (text[j] != '=') return false;
  }
  if (count == 0) return padding == 0;
  if (count == 1 || padding != 4 - static_cast<size_t>(count)) return false;
  bits <<= 6 * (4 - count);
  bytes->push_back(static_cast<char>(bits >> 16));
  if (count == 3) bytes->push_back(static_cast<char>(bits >> 8));
  return true;
}

}  // namespace rowtide

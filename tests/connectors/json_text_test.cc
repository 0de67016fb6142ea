// Strings as JSON, sixteen bytes at a time, against one byte after the other.
#include <gtest/gtest.h>

#include <random>

#include "connectors/formats/json_nested.h"

namespace rowtide {
namespace {

std::string ByteByByte(std::string_view text, bool escapes_pairs) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    constexpr std::string_view kPlain = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
    const size_t place = byte < 0x80 ? kPlain.find(c) : std::string_view::npos;
    if (place != std::string_view::npos) {
      out += '\\';
      out += kNames[place];
    } else if (byte < ' ') {
      out += fmt::format("\\u{:04X}", byte);
    } else if (byte >= 0xf0 && escapes_pairs && i + 3 < text.size()) {
      const auto bits = [&](size_t at) {
        return static_cast<uint32_t>(static_cast<unsigned char>(text[i + at]) & 0x3f);
      };
      const uint32_t code =
          (static_cast<uint32_t>(byte & 7) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3)) -
          0x10000;
      out += fmt::format("\\u{:04X}\\u{:04X}", 0xd800 | code >> 10, 0xdc00 | (code & 0x3ff));
      i += 3;
    } else {
      out += c;
    }
  }
  return out + '"';
}

void ExpectSame(const std::string& text) {
  for (const bool escapes_pairs : {false, true}) {
    std::string out = "before";
    AppendJacksonString(text, escapes_pairs, &out);
    ASSERT_EQ(out, "before" + ByteByByte(text, escapes_pairs));
  }
}

TEST(JsonText, EveryByteAtEveryPlace) {
  for (int byte = 0; byte < 256; ++byte) {
    for (size_t place = 0; place < 40; ++place) {
      std::string text(40, 'x');
      text[place] = static_cast<char>(byte);
      ExpectSame(text);
      ExpectSame(text.substr(0, place + 1));
    }
  }
}

TEST(JsonText, AnyBytes) {
  std::mt19937 random(7);
  const std::string_view pieces[] = {"\"", "\\",   "\n",   "plain text",      "Straße",
                                     "😀", "\x01", "\x7f", "0123456789abcdef"};
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t count = random() % 8; count > 0; --count) {
      if (random() % 4 == 0) {
        text += static_cast<char>(random());
      } else {
        text += pieces[random() % std::size(pieces)];
      }
    }
    ExpectSame(text);
  }
}

}  // namespace
}  // namespace rowtide

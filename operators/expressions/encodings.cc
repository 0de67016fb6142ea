// Hashes, Base64, hexadecimal, character sets and URL text.
#include <algorithm>
#include <cctype>

#include "engine/base64.h"
#include "engine/value_text.h"
#include "operators/expressions/hashes.h"
#include "operators/expressions/kernels.h"
#include "operators/expressions/utf8.h"

namespace rowtide {
namespace {

// f(call, text, &out) with its result in call.text.
template <typename F>
NodePointer TextResult(CallSite& site, F f) {
  return PerRow<StringView, StringView>(
      site, [f](RowCall& call, const StringView& value, StringView* out) {
        call.text.clear();
        const Outcome outcome = f(value.view(), &call.text);
        if (outcome == Outcome::kValue) *out = call.Keep(call.text);
        return outcome;
      });
}

constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool AppendFromBase64(std::string_view text, std::string* out) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const char* found = c == '\0' ? nullptr : std::strchr(kBase64, c);
    if (!found) return false;
    bits = bits << 6 | static_cast<uint32_t>(found - kBase64);
    count += 6;
    if (count >= 8) {
      count -= 8;
      *out += static_cast<char>(bits >> count);
    }
  }
  return count < 6;  // not one digit alone
}

void AppendUpperHex(std::string_view bytes, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : bytes) {
    *out += kHex[static_cast<unsigned char>(c) >> 4];
    *out += kHex[static_cast<unsigned char>(c) & 15];
  }
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

enum class Charset : uint8_t { kUtf8, kAscii, kLatin1, kUtf16, kUtf16Big, kUtf16Little };

bool FindCharset(std::string_view name, Charset* charset) {
  std::string upper;
  for (const char c : name) upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static constexpr std::pair<const char*, Charset> kNames[] = {
      {"UTF-8", Charset::kUtf8},           {"UTF8", Charset::kUtf8},
      {"US-ASCII", Charset::kAscii},       {"ASCII", Charset::kAscii},
      {"ISO-8859-1", Charset::kLatin1},    {"LATIN1", Charset::kLatin1},
      {"UTF-16", Charset::kUtf16},         {"UTF-16BE", Charset::kUtf16Big},
      {"UTF-16LE", Charset::kUtf16Little},
  };
  for (const auto& [known, value] : kNames) {
    if (upper != known) continue;
    *charset = value;
    return true;
  }
  return false;
}

uint32_t DecodeCharacter(std::string_view one) {
  const auto at = [&one](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(one[i]));
  };
  switch (one.size()) {
    case 1: return at(0);
    case 2: return (at(0) & 0x1F) << 6 | (at(1) & 0x3F);
    case 3: return (at(0) & 0x0F) << 12 | (at(1) & 0x3F) << 6 | (at(2) & 0x3F);
    default:
      return (at(0) & 0x07) << 18 | (at(1) & 0x3F) << 12 | (at(2) & 0x3F) << 6 | (at(3) & 0x3F);
  }
}

void AppendCharacter(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | code >> 6);
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | code >> 12);
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | code >> 18);
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

void AppendUnit(uint32_t unit, bool little, std::string* out) {
  *out += static_cast<char>(little ? unit & 0xFF : unit >> 8);
  *out += static_cast<char>(little ? unit >> 8 : unit & 0xFF);
}

void AppendEncoded(std::string_view text, Charset charset, std::string* out) {
  if (charset == Charset::kUtf8) {
    out->append(text);
    return;
  }
  if (charset == Charset::kUtf16 && !text.empty()) out->append("\xFE\xFF");
  const bool little = charset == Charset::kUtf16Little;
  while (!text.empty()) {
    const std::string_view one = FirstCharacter(text);
    text.remove_prefix(one.size());
    const uint32_t code = DecodeCharacter(one);
    if (charset == Charset::kAscii || charset == Charset::kLatin1) {
      *out += code < (charset == Charset::kAscii ? 0x80u : 0x100u) ? static_cast<char>(code) : '?';
    } else if (code >= 0x10000) {
      AppendUnit(0xD800 + ((code - 0x10000) >> 10), little, out);
      AppendUnit(0xDC00 + ((code - 0x10000) & 0x3FF), little, out);
    } else {
      AppendUnit(code, little, out);
    }
  }
}

void AppendDecoded(std::string_view bytes, Charset charset, std::string* out) {
  if (charset == Charset::kUtf8) return AppendUtf8(bytes, out);
  if (charset == Charset::kAscii || charset == Charset::kLatin1) {
    for (const char c : bytes) {
      const uint32_t code = static_cast<unsigned char>(c);
      AppendCharacter(charset == Charset::kAscii && code >= 0x80 ? 0xFFFD : code, out);
    }
    return;
  }
  bool little = charset == Charset::kUtf16Little;
  if (charset == Charset::kUtf16 && bytes.size() >= 2 &&
      (bytes.starts_with("\xFE\xFF") || bytes.starts_with("\xFF\xFE"))) {
    little = bytes[0] == '\xFF';
    bytes.remove_prefix(2);
  }
  const auto unit = [&](size_t i) {
    const uint32_t a = static_cast<unsigned char>(bytes[i]),
                   b = static_cast<unsigned char>(bytes[i + 1]);
    return little ? b << 8 | a : a << 8 | b;
  };
  for (size_t i = 0; i + 1 < bytes.size(); i += 2) {
    uint32_t code = unit(i);
    if (code >= 0xD800 && code < 0xDC00 && i + 3 < bytes.size() && unit(i + 2) >= 0xDC00 &&
        unit(i + 2) < 0xE000) {
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(i + 2) - 0xDC00);
      i += 2;
    } else if (code >= 0xD800 && code < 0xE000) {
      code = 0xFFFD;
    }
    AppendCharacter(code, out);
  }
}

template <typename F>
Result<NodePointer> WithCharset(CallSite& site, F f) {
  return PerRow<StringView, StringView, StringView>(
      site, [f](RowCall& call, const StringView& value, const StringView& name, StringView* out) {
        Charset charset;
        if (!FindCharset(name.view(), &charset))
          return call.Fail(fmt::format("unknown character set '{}'", name.view()));
        call.text.clear();
        f(value.view(), charset, &call.text);
        *out = call.Keep(call.text);
        return Outcome::kValue;
      });
}

bool StaysInUrl(unsigned char c) {
  return c < 0x80 && (std::isalnum(c) || c == '.' || c == '-' || c == '*' || c == '_');
}

}  // namespace

Result<NodePointer> BuildHash(CallSite& site) {
  const std::string& name = site.call.function;
  if (name == "SHA2") {
    RT_TRY(CastArgument(&site, 1, Type::BigInt()));
    return PerRow<StringView, StringView, int64_t>(
        site, [](RowCall& call, const StringView& text, int64_t bits, StringView* out) {
          call.text = Sha2Hex(text.view(), static_cast<int>(bits));
          if (call.text.empty()) return call.Fail(fmt::format("there is no SHA2 of {} bits", bits));
          *out = call.Keep(call.text);
          return Outcome::kValue;
        });
  }
  const int bits = name.starts_with("SHA") && name.size() == 6 ? std::stoi(name.substr(3)) : 0;
  const bool md5 = name == "MD5";
  return TextResult(site, [bits, md5](std::string_view text, std::string* out) {
    *out = md5 ? Md5Hex(text) : bits == 0 ? Sha1Hex(text) : Sha2Hex(text, bits);
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildToBase64(CallSite& site) {
  return TextResult(site, [](std::string_view text, std::string* out) {
    AppendBase64(text, out);
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildFromBase64(CallSite& site) {
  return PerRow<StringView, StringView>(site,
                                        [](RowCall& call, const StringView& text, StringView* out) {
                                          std::string bytes;
                                          if (!AppendFromBase64(text.view(), &bytes))
                                            return call.Fail("this is no Base64 text");
                                          call.text.clear();
                                          AppendUtf8(bytes, &call.text);
                                          *out = call.Keep(call.text);
                                          return Outcome::kValue;
                                        });
}

Result<NodePointer> BuildEncode(CallSite& site) { return WithCharset(site, AppendEncoded); }
Result<NodePointer> BuildDecode(CallSite& site) { return WithCharset(site, AppendDecoded); }

// HEX of a string: its bytes; of an integer: its two's complement without leading zeros.
Result<NodePointer> BuildHex(CallSite& site) {
  const Type type = site.argument_type(0);
  if (IsCharacter(type)) {
    return TextResult(site, [](std::string_view text, std::string* out) {
      AppendUpperHex(text, out);
      return Outcome::kValue;
    });
  }
  RT_TRY(CastArgument(&site, 0, Type::BigInt()));
  return PerRow<StringView, int64_t>(site, [](RowCall& call, int64_t number, StringView* out) {
    call.text = fmt::format("{:X}", static_cast<uint64_t>(number));
    *out = call.Keep(call.text);
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildUnhex(CallSite& site) {
  return TextResult(site, [](std::string_view text, std::string* out) {
    if (text.size() % 2 != 0) {
      // Flink checks an odd first digit and takes 0 for it.
      if (HexDigit(text[0]) < 0) return Outcome::kNull;
      *out += '\0';
      text.remove_prefix(1);
    }
    for (size_t i = 0; i < text.size(); i += 2) {
      const int high = HexDigit(text[i]), low = HexDigit(text[i + 1]);
      if (high < 0 || low < 0) return Outcome::kNull;
      *out += static_cast<char>(high * 16 + low);
    }
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildBin(CallSite& site) {
  RT_TRY(CastArgument(&site, 0, Type::BigInt()));
  return PerRow<StringView, int64_t>(site, [](RowCall& call, int64_t number, StringView* out) {
    call.text = fmt::format("{:b}", static_cast<uint64_t>(number));
    *out = call.Keep(call.text);
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildUrlEncode(CallSite& site) {
  return TextResult(site, [](std::string_view text, std::string* out) {
    for (const char c : text) {
      if (StaysInUrl(static_cast<unsigned char>(c))) {
        *out += c;
      } else if (c == ' ') {
        *out += '+';
      } else {
        *out += '%';
        AppendUpperHex({&c, 1}, out);
      }
    }
    return Outcome::kValue;
  });
}

Result<NodePointer> BuildUrlDecode(CallSite& site) {
  return TextResult(site, [](std::string_view text, std::string* out) {
    std::string bytes;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '%') {
        bytes += text[i] == '+' ? ' ' : text[i];
        continue;
      }
      const bool whole = i + 2 < text.size();
      const int high = whole ? HexDigit(text[i + 1]) : -1;
      const int low = whole ? HexDigit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return Outcome::kNull;
      bytes += static_cast<char>(high * 16 + low);
      i += 2;
    }
    AppendUtf8(bytes, out);
    return Outcome::kValue;
  });
}

}  // namespace rowtide

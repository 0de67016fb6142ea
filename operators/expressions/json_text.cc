#include "operators/expressions/json_text.h"

#include <algorithm>
#include <cctype>

#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr int kDepthMax = 500;

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool ReadAll(Json* json, bool whole) {
    if (!Read(json, 0) || !EndsAsJackson(*json)) return false;
    SkipBlanks();
    return !whole || at_ == text_.size();
  }

 private:
  // What comes right behind a root: a number wants a blank, a word no more letters of a name.
  bool EndsAsJackson(const Json& root) const {
    if (at_ >= text_.size()) return true;
    const char c = text_[at_];
    if (root.kind == Json::Kind::kNumber) return c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (root.kind == Json::Kind::kString || !root.is_scalar()) return true;
    const auto byte = static_cast<unsigned char>(c);
    return !(std::isalnum(byte) || c == '_' || c == '$' || byte >= 0x80);
  }
  void SkipBlanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool Take(char c) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool TakeWord(std::string_view word, Json::Kind kind, Json* json) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    json->kind = kind;
    return true;
  }

  bool Read(Json* json, int depth) {
    SkipBlanks();
    if (at_ >= text_.size() || depth > kDepthMax) return false;
    switch (text_[at_]) {
      case '{': return ReadObject(json, depth);
      case '[': return ReadArray(json, depth);
      case '"': json->kind = Json::Kind::kString; return ReadString(&json->text);
      case 't': return TakeWord("true", Json::Kind::kTrue, json);
      case 'f': return TakeWord("false", Json::Kind::kFalse, json);
      case 'n': return TakeWord("null", Json::Kind::kNull, json);
      default: return ReadNumber(json);
    }
  }

  bool ReadObject(Json* json, int depth) {
    json->kind = Json::Kind::kObject;
    ++at_;
    if (Take('}')) return true;
    do {
      SkipBlanks();
      json->names.emplace_back();
      json->items.emplace_back();
      if (at_ >= text_.size() || text_[at_] != '"' || !ReadString(&json->names.back()))
        return false;
      if (!Take(':') || !Read(&json->items.back(), depth + 1)) return false;
    } while (Take(','));
    return Take('}');
  }

  bool ReadArray(Json* json, int depth) {
    json->kind = Json::Kind::kArray;
    ++at_;
    if (Take(']')) return true;
    do {
      json->items.emplace_back();
      if (!Read(&json->items.back(), depth + 1)) return false;
    } while (Take(','));
    return Take(']');
  }

  bool Digits() {
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') ++at_;
    return at_ > begin;
  }

  bool ReadNumber(Json* json) {
    const size_t begin = at_;
    if (text_[at_] == '-') ++at_;
    const size_t whole = at_;
    if (!Digits() || (text_[whole] == '0' && at_ - whole > 1)) return false;
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!Digits()) return false;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!Digits()) return false;
    }
    json->kind = Json::Kind::kNumber;
    json->text = BigDecimalText(text_.substr(begin, at_ - begin));
    return true;
  }

  bool Hex4(uint32_t* code) {
    if (text_.size() - at_ < 4) return false;
    *code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = text_[at_++];
      if (!std::isxdigit(static_cast<unsigned char>(c))) return false;
      *code = *code * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return true;
  }

  static void AppendCode(uint32_t code, std::string* out) {
    if (code < 0x80) {
      *out += static_cast<char>(code);
      return;
    }
    if (code < 0x800) {
      *out += static_cast<char>(0xC0 | code >> 6);
    } else {
      if (code < 0x10000) {
        *out += static_cast<char>(0xE0 | code >> 12);
      } else {
        *out += static_cast<char>(0xF0 | code >> 18);
        *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
      }
      *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    }
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }

  bool ReadUnicode(std::string* out) {
    uint32_t code;
    if (!Hex4(&code)) return false;
    if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_).starts_with("\\u")) {
      const size_t before = at_;
      uint32_t low;
      at_ += 2;
      if (!Hex4(&low)) return false;
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      } else {
        at_ = before;
      }
    }
    if (code >= 0xD800 && code < 0xE000) {
      *out += '?';
    } else {
      AppendCode(code, out);
    }
    return true;
  }

  bool ReadString(std::string* out) {
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        *out += c;
        continue;
      }
      if (at_ >= text_.size()) return false;
      switch (text_[at_++]) {
        case '"': *out += '"'; break;
        case '\\': *out += '\\'; break;
        case '/': *out += '/'; break;
        case 'b': *out += '\b'; break;
        case 'f': *out += '\f'; break;
        case 'n': *out += '\n'; break;
        case 'r': *out += '\r'; break;
        case 't': *out += '\t'; break;
        case 'u':
          if (!ReadUnicode(out)) return false;
          break;
        default: return false;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const Json* Json::Find(std::string_view name) const {
  for (size_t i = names.size(); i > 0; --i) {
    if (names[i - 1] == name) return &items[i - 1];
  }
  return nullptr;
}

std::string BigDecimalText(std::string_view number) {
  const size_t e = number.find_first_of("eE");
  const bool negative = number.starts_with('-');
  if (e == std::string_view::npos) {
    // There is no -0.
    const bool zero = number.find_first_of("123456789") == std::string_view::npos;
    return std::string(negative && zero ? number.substr(1) : number);
  }
  std::string digits;
  int64_t scale = 0;
  bool behind_point = false;
  for (const char c : number.substr(negative ? 1 : 0, e - (negative ? 1 : 0))) {
    if (c == '.') {
      behind_point = true;
    } else {
      digits += c;
      scale += behind_point ? 1 : 0;
    }
  }
  int64_t exponent = 0;
  ParseInt64(number.substr(e + 1), &exponent);
  if (exponent > 1'000'000 || exponent < -1'000'000) return std::string(number);
  scale -= exponent;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  const int64_t adjusted = static_cast<int64_t>(digits.size()) - 1 - scale;
  std::string text = negative && digits != "0" ? "-" : "";
  if (scale >= 0 && adjusted >= -6) {
    const int64_t whole = static_cast<int64_t>(digits.size()) - scale;
    if (whole <= 0) digits.insert(0, static_cast<size_t>(1 - whole), '0');
    text += digits.substr(0, digits.size() - static_cast<size_t>(scale));
    if (scale > 0) text += "." + digits.substr(digits.size() - static_cast<size_t>(scale));
    return text;
  }
  text += digits.substr(0, 1);
  if (digits.size() > 1) text += "." + digits.substr(1);
  text += adjusted < 0 ? "E-" : "E+";
  return text + std::to_string(adjusted < 0 ? -adjusted : adjusted);
}

bool ParseJson(std::string_view text, Json* json, bool whole) {
  return Reader(text).ReadAll(json, whole);
}

void AppendJson(const Json& json, std::string* out) {
  switch (json.kind) {
    case Json::Kind::kNull: out->append("null"); return;
    case Json::Kind::kFalse: out->append("false"); return;
    case Json::Kind::kTrue: out->append("true"); return;
    case Json::Kind::kNumber: out->append(json.text); return;
    case Json::Kind::kString: AppendJsonString(json.text, out); return;
    case Json::Kind::kArray:
    case Json::Kind::kObject: break;
  }
  const bool object = json.kind == Json::Kind::kObject;
  std::vector<size_t> order;
  for (size_t i = 0; i < json.items.size(); ++i) {
    if (!object || json.Find(json.names[i]) == &json.items[i]) order.push_back(i);
  }
  if (object) {
    std::sort(order.begin(), order.end(),
              [&json](size_t a, size_t b) { return json.names[a] < json.names[b]; });
  }
  *out += object ? '{' : '[';
  bool first = true;
  for (const size_t i : order) {
    if (!first) *out += ',';
    first = false;
    if (object) {
      AppendJsonString(json.names[i], out);
      *out += ':';
    }
    AppendJson(json.items[i], out);
  }
  *out += object ? '}' : ']';
}

}  // namespace rowtide

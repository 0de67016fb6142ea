#include "connectors/formats/json_syntax.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <charconv>
#include <vector>

#include "connectors/utf8.h"

namespace rowtide {
namespace {

// The four digits behind `\u`.
bool ReadUnit(std::string_view text, size_t at, uint32_t* unit) {
  if (at + 4 > text.size()) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, *unit, 16);
  return error == std::errc() && end == text.data() + at + 4;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Walks one value, keeping open braces and brackets on a stack of its own.
class Checker {
 public:
  Checker(std::string_view text, int64_t depth_max) : text_(text), depth_max_(depth_max) {}

  JsonVerdict Check() {
    SkipBlanks();
    if (Value() && verdict_.kind == JsonVerdict::Kind::kOk) {
      verdict_.end = at_;
      SkipBlanks();
      verdict_.has_more = at_ < text_.size();
      verdict_.at = at_;
    }
    return std::move(verdict_);
  }

 private:
  bool Value() {
    while (true) {
      // One value begins here; a container is entered, all else is over at once.
      if (!Begin()) return false;
      while (!entered_) {
        if (open_.empty()) return true;
        SkipBlanks();
        const char c = Peek();
        if (c == ',') {
          ++at_;
          SkipBlanks();
          if (open_.back() == '{' && !Key()) return false;
          break;
        }
        if (c != (open_.back() == '{' ? '}' : ']'))
          return Fail(open_.back() == '{' ? "a comma or } is expected"
                                          : "a comma or ] is expected");
        ++at_;
        open_.pop_back();
      }
    }
  }

  // A scalar, an empty container, or the head of a container up to its first value.
  bool Begin() {
    entered_ = false;
    SkipBlanks();
    const char c = Peek();
    if (c == '"') return String();
    if (c == '{' || c == '[') return Enter(c);
    if (c == '-' || IsDigit(c)) return Number();
    for (const std::string_view word : {"true", "false", "null"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return true;
      }
    }
    return Fail("a value is expected");
  }

  bool Enter(char c) {
    if (static_cast<int64_t>(open_.size()) >= depth_max_) {
      Fail(fmt::format("nested deeper than {} ('rowtide.limits.json-depth')", depth_max_));
      verdict_.kind = JsonVerdict::Kind::kTooDeep;
      return false;
    }
    ++at_;
    SkipBlanks();
    if (Peek() == (c == '{' ? '}' : ']')) {
      ++at_;
      return true;
    }
    open_.push_back(c);
    entered_ = true;
    return c == '[' || Key();
  }

  bool Key() {
    if (Peek() != '"') return Fail("a name in double quotes is expected");
    if (!String()) return false;
    SkipBlanks();
    if (Peek() != ':') return Fail("a colon is expected");
    ++at_;
    return true;
  }

  bool String() {
    const size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (static_cast<unsigned char>(text_[at_]) < ' ') verdict_.has_controls = true;
      if (text_[at_] == '\\' && !Escape()) return false;
      ++at_;
    }
    if (at_ >= text_.size()) {
      at_ = begin;
      return Fail("a string is not closed");
    }
    ++at_;
    return true;
  }

  bool Escape() {
    uint32_t unit;
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (c == 'u' ? !ReadUnit(text_, at_ + 2, &unit)
                 : std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) {
      return Fail("an escape that JSON does not have");
    }
    at_ += c == 'u' ? 5 : 1;
    return true;
  }

  bool Number() {
    size_t end = at_;
    while (end < text_.size() && (IsDigit(text_[end]) || std::string_view("+-.eE").find(
                                                             text_[end]) != std::string_view::npos))
      ++end;
    if (!IsJsonNumber(text_.substr(at_, end - at_))) return Fail("no number of JSON");
    at_ = end;
    return true;
  }

  bool Fail(std::string reason) {
    verdict_.kind = JsonVerdict::Kind::kSyntax;
    verdict_.at = at_;
    verdict_.reason = std::move(reason);
    return false;
  }

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }

  std::string_view text_;
  int64_t depth_max_;
  size_t at_ = 0;
  bool entered_ = false;
  std::vector<char> open_;
  JsonVerdict verdict_;
};

}  // namespace

bool UnescapeJson(std::string_view raw, std::string* out) {
  out->clear();
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      *out += raw[i];
      continue;
    }
    if (++i >= raw.size()) return false;
    constexpr std::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
    if (raw[i] != 'u') {
      const size_t place = kNames.find(raw[i]);
      if (place == std::string_view::npos) return false;
      *out += kValues[place];
      continue;
    }
    uint32_t code, low;
    if (!ReadUnit(raw, i + 1, &code)) return false;
    i += 4;
    if (code >= 0xd800 && code < 0xdc00 && raw.substr(i + 1).starts_with("\\u") &&
        ReadUnit(raw, i + 3, &low) && low >= 0xdc00 && low < 0xe000) {
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      i += 6;
    }
    if (code >= 0xd800 && code < 0xe000) code = '?';
    AppendUtf8Character(code, out);
  }
  return true;
}

bool IsJsonNumber(std::string_view text) {
  size_t at = 0;
  const auto digits = [&] {
    const size_t before = at;
    while (at < text.size() && IsDigit(text[at])) ++at;
    return at > before;
  };
  if (at < text.size() && text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return false;
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

JsonVerdict CheckJson(std::string_view text, int64_t depth_max) {
  if (simdjson::validate_utf8(text.data(), text.size())) return Checker(text, depth_max).Check();
  JsonVerdict verdict;
  verdict.kind = JsonVerdict::Kind::kEncoding;
  verdict.reason = "bytes that are no UTF-8";
  verdict.at = Utf8PrefixBytes(text);
  return verdict;
}

std::string EscapeControls(std::string_view text) {
  std::string out;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') inside = !inside;
    if (inside && static_cast<unsigned char>(c) < ' ') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
      continue;
    }
    out += c;
    if (inside && c == '\\' && i + 1 < text.size()) out += text[++i];
  }
  return out;
}

}  // namespace rowtide

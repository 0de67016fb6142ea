#include "connectors/formats/json_nested.h"

#include <emmintrin.h>
#include <fmt/format.h>

#include <map>
#include <vector>

#include "connectors/formats/json_syntax.h"
#include "engine/java_numbers.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr auto kGood = simdjson::SUCCESS;

// The name of a field, without escapes. False: an escape that is none.
bool NameOf(ondemand::field& field, std::string* name) {
  const char* const raw = field.key().raw();
  size_t size = 0;
  while (raw[size] != '"') size += raw[size] == '\\' ? 2 : 1;
  return UnescapeJson({raw, size}, name);
}

bool IsScalar(std::string_view token, ondemand::json_type type) {
  switch (type) {
    case ondemand::json_type::number: return IsJsonNumber(token);
    case ondemand::json_type::boolean: return token == "true" || token == "false";
    case ondemand::json_type::null: return token == "null";
    case ondemand::json_type::string: {
      std::string text;
      return token.find('\\') == std::string_view::npos ||
             UnescapeJson(token.substr(1, token.size() - 2), &text);
    }
    case ondemand::json_type::object:
    case ondemand::json_type::array: break;
  }
  return false;
}

void AppendScalar(std::string_view token, ondemand::json_type type, std::string* out) {
  if (type == ondemand::json_type::string) {
    std::string text;
    UnescapeJson(token.substr(1, token.size() - 2), &text);
    AppendJacksonString(text, false, out);
  } else if (type != ondemand::json_type::number) {
    *out += token;
  } else if (token.find_first_of(".eE") == std::string_view::npos) {
    *out += token == "-0" ? "0" : token;
  } else {
    double number = 0;
    ParseJavaDouble(token, &number);
    AppendJavaDouble(number, out);
  }
}

bool AppendObject(ondemand::object object, int64_t depth, int64_t depth_max, std::string* out) {
  std::map<std::string, size_t> places;
  std::vector<std::pair<std::string, std::string>> fields;
  for (auto result : object) {
    ondemand::field field;
    std::string name, text;
    if (std::move(result).get(field) != kGood || !NameOf(field, &name) ||
        !AppendJsonText(field.value(), depth + 1, depth_max, &text)) {
      return false;
    }
    const auto [found, is_new] = places.emplace(name, fields.size());
    if (is_new) fields.emplace_back(name, "");
    fields[found->second].second = std::move(text);
  }
  *out += '{';
  for (const auto& [name, text] : fields) {
    if (out->back() != '{' || &text != &fields.front().second) *out += ',';
    AppendJacksonString(name, false, out);
    *out += ':';
    *out += text;
  }
  *out += '}';
  return true;
}

bool AppendArray(ondemand::array array, int64_t depth, int64_t depth_max, std::string* out) {
  *out += '[';
  bool is_first = true;
  for (auto element : array) {
    ondemand::value value;
    if (!is_first) *out += ',';
    is_first = false;
    if (std::move(element).get(value) != kGood || !AppendJsonText(value, depth + 1, depth_max, out))
      return false;
  }
  *out += ']';
  return true;
}

}  // namespace

std::string_view TokenOf(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && (token.back() == ' ' || token.back() == '\t' || token.back() == '\r' ||
                            token.back() == '\n')) {
    token.remove_suffix(1);
  }
  return token;
}

bool RawText(ondemand::value value, std::string_view* text) {
  ondemand::json_type type;
  if (value.type().get(type) != kGood) return false;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    return value.get_object().get(object) == kGood && object.raw_json().get(*text) == kGood;
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    return value.get_array().get(array) == kGood && array.raw_json().get(*text) == kGood;
  }
  *text = TokenOf(value);
  return IsScalar(*text, type);
}

bool SkipJson(ondemand::value value, int64_t depth, int64_t depth_max) {
  ondemand::json_type type;
  if (value.type().get(type) != kGood) return false;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (depth > depth_max || value.get_object().get(object) != kGood) return false;
    for (auto result : object) {
      ondemand::field field;
      std::string name;
      if (std::move(result).get(field) != kGood || !NameOf(field, &name) ||
          !SkipJson(field.value(), depth + 1, depth_max)) {
        return false;
      }
    }
    return true;
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (depth > depth_max || value.get_array().get(array) != kGood) return false;
    for (auto element : array) {
      ondemand::value inner;
      if (std::move(element).get(inner) != kGood || !SkipJson(inner, depth + 1, depth_max))
        return false;
    }
    return true;
  }
  return IsScalar(TokenOf(value), type);
}

bool AppendJsonText(ondemand::value value, int64_t depth, int64_t depth_max, std::string* out) {
  ondemand::json_type type;
  if (value.type().get(type) != kGood) return false;
  if (type == ondemand::json_type::object) {
    ondemand::object object;
    return depth <= depth_max && value.get_object().get(object) == kGood &&
           AppendObject(object, depth, depth_max, out);
  }
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    return depth <= depth_max && value.get_array().get(array) == kGood &&
           AppendArray(array, depth, depth_max, out);
  }
  const std::string_view token = TokenOf(value);
  if (!IsScalar(token, type)) return false;
  AppendScalar(token, type, out);
  return true;
}

namespace {

// How many bytes are written as they are: up to a control character, a quote, a backslash, or the
// first byte of what becomes a pair.
size_t PlainBytes(std::string_view text, bool escapes_pairs) {
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
  const __m128i last_control = _mm_set1_epi8(0x1f), pair = _mm_set1_epi8(static_cast<char>(0xf0));
  size_t at = 0;
  for (; at + sizeof(__m128i) <= text.size(); at += sizeof(__m128i)) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    __m128i special = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash));
    special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_min_epu8(bytes, last_control), bytes));
    if (escapes_pairs)
      special = _mm_or_si128(special, _mm_cmpeq_epi8(_mm_max_epu8(bytes, pair), bytes));
    const int mask = _mm_movemask_epi8(special);
    if (mask != 0) return at + static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
  for (; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < ' ' || byte == '"' || byte == '\\' || (escapes_pairs && byte >= 0xf0)) break;
  }
  return at;
}

// Two escapes for a character of four bytes.
void AppendPair(std::string_view text, std::string* out) {
  const auto bits = [&](size_t at) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[at]) & 0x3f);
  };
  const uint32_t code =
      (static_cast<uint32_t>(text[0] & 7) << 18 | bits(1) << 12 | bits(2) << 6 | bits(3)) - 0x10000;
  fmt::format_to(std::back_inserter(*out), "\\u{:04X}\\u{:04X}", 0xd800 | code >> 10,
                 0xdc00 | (code & 0x3ff));
}

}  // namespace

void AppendJacksonString(std::string_view text, bool escapes_pairs, std::string* out) {
  *out += '"';
  while (true) {
    const size_t plain = PlainBytes(text, escapes_pairs);
    out->append(text.data(), plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text[0];
    const auto byte = static_cast<unsigned char>(c);
    size_t taken = 1;
    constexpr std::string_view kNamed = "\"\\\b\f\n\r\t", kNames = "\"\\bfnrt";
    if (byte >= 0xf0 && text.size() > 3) {
      AppendPair(text, out);
      taken = 4;
    } else if (byte >= 0xf0) {
      *out += c;
    } else if (const size_t place = kNamed.find(c); place != std::string_view::npos) {
      *out += '\\';
      *out += kNames[place];
    } else {
      fmt::format_to(std::back_inserter(*out), "\\u{:04X}", byte);
    }
    text.remove_prefix(taken);
  }
  *out += '"';
}

}  // namespace rowtide

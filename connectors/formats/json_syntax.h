// What JSON text is, as far as it is not simdjson's business: escapes, numbers, and the place and
// the reason of an error.
//
// The quick way through a record never comes here but for escapes and numbers. A record that
// simdjson refuses is looked at once more, to say where and why, and to take what Flink takes and
// simdjson does not: control characters inside strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rowtide {

// The text between the quotes of a JSON string as UTF-8; half a surrogate pair becomes `?`. False:
// an escape that is none.
bool UnescapeJson(std::string_view raw, std::string* out);
// -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?
bool IsJsonNumber(std::string_view text);

struct JsonVerdict {
  enum class Kind : uint8_t { kOk, kSyntax, kEncoding, kTooDeep };
  Kind kind = Kind::kOk;
  size_t end = 0;             // of the first value in the text
  size_t at = 0;              // of the error
  std::string reason;         // of the error
  bool has_controls = false;  // control characters inside strings
  bool has_more = false;      // something but blanks stands behind the value
};

JsonVerdict CheckJson(std::string_view text, int64_t depth_max);
// The text with control characters inside strings escaped. Requires: CheckJson found it well.
std::string EscapeControls(std::string_view text);

}  // namespace rowtide

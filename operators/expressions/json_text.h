// A small JSON reader and writer for the SQL/JSON functions.
//
// Numbers keep their text (`1.50` stays `1.50`), which the SQL functions show. Untrusted text:
// nesting is limited, and what is no JSON value is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowtide {

struct Json {
  enum class Kind : uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };
  Kind kind = Kind::kNull;
  std::string text;                // of numbers (as written) and strings (unescaped)
  std::vector<std::string> names;  // of an object's items; a name said twice counts last
  std::vector<Json> items;

  bool is_scalar() const { return kind != Kind::kArray && kind != Kind::kObject; }
  const Json* Find(std::string_view name) const;
};

// One value and nothing behind it, or with `whole` false anything.
bool ParseJson(std::string_view text, Json* json, bool whole = true);
// A number's text as Java's BigDecimal writes it: `1e3` is 1E+3, `1.0E-4` is 0.00010; what has no
// exponent stays.
std::string BigDecimalText(std::string_view number);
// Without blanks, the names of an object in order: `{"a":[1,2],"b":3}`.
void AppendJson(const Json& json, std::string* out);

}  // namespace rowtide

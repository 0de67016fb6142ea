// JSON values that hold others: passed over, or as text in a STRING column. Recursive, so the depth
// is bounded.
//
//   {"b":1, "a":[1,2.50,"x"], "b":2}   ->   {"b":2,"a":[1,2.5,"x"]}     as Jackson writes its nodes
//
// Included by those who read JSON and nobody else: simdjson's types are no part of other headers.
#pragma once

#include <simdjson.h>

#include <string>
#include <string_view>

namespace rowtide {

// A scalar as it stands in the text, without blanks behind it.
std::string_view TokenOf(simdjson::ondemand::value& value);
// The value as it stands in the text, not looked into. False: no JSON.
bool RawText(simdjson::ondemand::value value, std::string_view* text);
// Whether all of the value is JSON, and not nested deeper than `depth_max` when it stands at
// `depth`.
bool SkipJson(simdjson::ondemand::value value, int64_t depth, int64_t depth_max);
// The same, and its text: no blanks, the last of equal names, numbers as Java prints them.
bool AppendJsonText(simdjson::ondemand::value value, int64_t depth, int64_t depth_max,
                    std::string* out);
// A string in quotes, as Jackson escapes it. `escapes_pairs`: beyond U+FFFF as \uD83D\uDE00.
void AppendJacksonString(std::string_view text, bool escapes_pairs, std::string* out);

}  // namespace rowtide

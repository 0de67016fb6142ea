// What somebody may have meant whose text is no Flink SQL: keywords mistyped, and the words of
// other engines for types and functions.
//
//   PARTITON -> PARTITION      FORM -> FROM      TEXT -> STRING      NVL(…) -> COALESCE(a, b)
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

// The keyword that `word` is nearly, two letters exchanged included; "" = none, or it is one.
// Requires: upper case.
std::string MeantKeyword(std::string_view word);
// The data type of Flink SQL for another engine's, as `STRING`; "" = unknown.
std::string_view MeantType(std::string_view upper);
// What to write in place of another engine's function, as a sentence; "" = unknown.
std::string_view MeantFunction(std::string_view upper);

}  // namespace rowtide

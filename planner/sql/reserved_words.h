// The words that are no names unless in back-ticks, as in Flink 2.3, and the words of the grammar
// for "nearest" hints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rowtide {

// `upper` in upper case.
bool IsReservedWord(std::string_view upper);
const std::vector<std::string>& ReservedWords();  // sorted

}  // namespace rowtide

// Functions of Flink SQL that Rowtide knows by name only, to refuse them as what they are.
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

// "the group window TUMBLE", "function SPLIT"; "" = no function of Flink SQL, or one that runs.
std::string RefusedFunction(std::string_view name);

}  // namespace rowtide

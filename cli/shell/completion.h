// What Tab offers: tables after FROM, columns of the tables that the statement names, keywords,
// functions, keys after SET, words of the shell's own commands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/session.h"

namespace rowtide {

struct Completion {
  size_t length = 0;                    // bytes before the cursor that a candidate replaces
  std::vector<std::string> candidates;  // sorted; each begins with what it replaces, but for case
};

// `before`: the statement up to the cursor, all lines; `after`: what follows it, since a SELECT's
// tables come behind its columns.
Completion Complete(std::string_view before, std::string_view after, Session& session);

}  // namespace rowtide

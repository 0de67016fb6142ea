// One value of any type, for the slow paths: literals, defaults, script input, messages, folding of
// constants.
//
// The alternative follows the type's layout: BOOLEAN bool; integers, DATE, TIME, intervals, and
// times of precision <= 6 int64 in the unit of engine/types.h; FLOAT and DOUBLE double; DECIMAL
// int128 (unscaled, whatever the precision); strings and bytes std::string; wider times WideTime.
// monostate is NULL. Rows in bulk live in engine/row_batch.h.
#pragma once

#include <string>
#include <variant>

#include "engine/types.h"

namespace rowtide {

using Value = std::variant<std::monostate, bool, int64_t, double, int128, std::string, WideTime>;

inline bool IsNull(const Value& value) { return std::holds_alternative<std::monostate>(value); }

}  // namespace rowtide

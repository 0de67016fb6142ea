// One value as the bytes of its layout, packed, as rows and group keys hold it. Slow path.
//
//   INT 7          | 07 00 00 00 |            STRING ab      | a b |
//   TIMESTAMP(9)   | millis: i64 | nanos: i32 |   12 bytes, where a column has 16
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/types.h"
#include "engine/value.h"

namespace rowtide {

// 0 for strings.
uint32_t PackedWidth(Layout layout);
// Requires: `bytes` are as long as the layout says.
Value ValueOfBytes(std::string_view bytes, const Type& type);

}  // namespace rowtide

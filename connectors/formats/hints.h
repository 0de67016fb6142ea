// What whoever declared the table most likely meant, for a record that does not decode: the times
// of ISO 8601, a number beyond its type, another delimiter, an array where lines are wanted, packed
// bytes. For the message of a job that fails; "" where there is nothing to say.
#pragma once

#include <string>
#include <string_view>

#include "engine/types.h"

namespace rowtide {

enum class TextFormat : uint8_t { kCsv, kJson };

// A field's text that is no value of its type.
std::string CastHint(std::string_view value, const std::string& column, const Type& type,
                     TextFormat format);
// A csv record of too few or too many fields.
std::string DelimiterHint(std::string_view record, std::string_view delimiter, int fields,
                          int expected);
// Text that is no JSON object.
std::string JsonHint(std::string_view record);
// The first bytes of a file that is packed, or text of another kind: for any format.
std::string PackedHint(std::string_view bytes);

}  // namespace rowtide

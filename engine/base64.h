// Bytes as base64 text (RFC 4648, with padding): BYTES in csv and json, TO_BASE64.
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

void AppendBase64(std::string_view bytes, std::string* out);
// False when it is no base64: other letters, blanks, or padding that is not there.
bool ParseBase64(std::string_view text, std::string* bytes);

}  // namespace rowtide

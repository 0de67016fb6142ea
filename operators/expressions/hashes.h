// MD5, SHA-1 and SHA-2 of bytes, as lower-case hexadecimal text. For SQL functions, not for
// security.
#pragma once

#include <string>
#include <string_view>

namespace rowtide {

std::string Md5Hex(std::string_view bytes);
std::string Sha1Hex(std::string_view bytes);
// bits: 224, 256, 384 or 512; "" for others.
std::string Sha2Hex(std::string_view bytes, int bits);

}  // namespace rowtide

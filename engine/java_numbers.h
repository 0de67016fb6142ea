// Texts that Java's own methods take for numbers, for CAST and for the fields of files alike.
//
//   ParseJavaDouble    Double.parseDouble: blanks around, 1e2, 1f, 0x1p3, NaN, -Infinity
//   ParseJavaInteger   Long.parseLong: a sign and digits, also those of other scripts
//   ParseJavaDecimal   new BigDecimal: a number with an exponent, digits of other scripts too
//
// What is no number gives false; nothing is read past the text.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/types.h"

namespace rowtide {

// String.trim: all up to the blank goes.
std::string_view JavaTrimmed(std::string_view text);

bool ParseJavaDouble(std::string_view text, double* value);
bool ParseJavaFloat(std::string_view text, float* value);  // at once, so it is rounded once
bool ParseJavaInteger(std::string_view text, int64_t lowest, int64_t highest, int64_t* value);
// *fits as of ParseDecimal.
bool ParseJavaDecimal(std::string_view text, int precision, int scale, int128* unscaled,
                      bool* fits);

}  // namespace rowtide

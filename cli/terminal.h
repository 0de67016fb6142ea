// What the terminal can do: whether there is one, how wide it is, whether it may be coloured.
//
// Colour follows --color; without it a terminal gets colour unless NO_COLOR is set (to anything but
// "") or TERM is `dumb`. A pipe or a file never does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/changelog_mode.h"

namespace rowtide {

enum class ColorWhen : uint8_t { kAuto, kAlways, kNever };
std::optional<ColorWhen> ColorWhenByName(std::string_view name);

bool IsTerminal(int file);
bool UsesColor(ColorWhen when, int file);
// Columns of the terminal; 0 when it is none or does not say.
int TerminalColumns(int file);

// Text that somebody else has written, for a terminal: control characters but newline and tab
// become their pictures (ESC is ␛), one column each, so that they command nothing.
std::string Printable(std::string_view text);

// The start of a colour, to be ended by kPlain.
inline constexpr const char* kPlain = "\x1b[0m";
inline constexpr const char* kFaint = "\x1b[2m";
inline constexpr const char* kErrorColor = "\x1b[1;31m";
inline constexpr const char* kHintColor = "\x1b[36m";
const char* ColorOf(RowKind kind);

}  // namespace rowtide

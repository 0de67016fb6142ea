#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace rowtide {

std::optional<ColorWhen> ColorWhenByName(std::string_view name) {
  if (name == "auto") return ColorWhen::kAuto;
  if (name == "always") return ColorWhen::kAlways;
  if (name == "never") return ColorWhen::kNever;
  return std::nullopt;
}

bool IsTerminal(int file) { return isatty(file) == 1; }

bool UsesColor(ColorWhen when, int file) {
  if (when != ColorWhen::kAuto) return when == ColorWhen::kAlways;
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && *no_color != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return IsTerminal(file);
}

int TerminalColumns(int file) {
  winsize size = {};
  return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

const char* ColorOf(RowKind kind) {
  switch (kind) {
    case RowKind::kInsert: return "\x1b[32m";
    case RowKind::kUpdateBefore: return "\x1b[33m";
    case RowKind::kUpdateAfter: return "\x1b[36m";
    case RowKind::kDelete: return "\x1b[31m";
  }
  return kPlain;
}

std::string Printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte >= 0x20 && byte != 0x7f) || c == '\n' || c == '\t') {
      out.push_back(c);
    } else {
      out += "\xe2\x90";  // U+2400 on
      out.push_back(static_cast<char>(byte == 0x7f ? 0xa1 : 0x80 + byte));
    }
  }
  return out;
}

}  // namespace rowtide

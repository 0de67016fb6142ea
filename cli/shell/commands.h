// The shell's own commands: `\d`, `\output json`, `\i job.sql`, and `quit`, `exit`, `help` without
// a backslash. They work on the settings and the session that statements run with.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/statements.h"

namespace rowtide {

struct ShellContext {
  PrintSettings* settings;
  std::function<int(const SqlText&)> run;  // all statements of a text
};

// Whether the line is a command rather than the beginning of a statement.
bool IsShellCommand(std::string_view line);
// Prints what it has to say; false: the shell is to end.
bool RunShellCommand(const std::string& line, ShellContext& context);

}  // namespace rowtide

// `rowtide` on a terminal: statements are typed, run when their `;` has come, and their failures do
// not end the shell.
//
//   rowtide> SELECT id,
//         -> status FROM orders;
//
// Ctrl-C stops the statement that runs, or forgets the one being typed. Lines that begin with `\`
// are the shell's own commands (`\?` lists them; shell/commands).
#pragma once

#include "cli/statements.h"

namespace rowtide {

// Returns the exit code. Requires: standard input and output are a terminal.
int RunShell(const PrintSettings& settings);

}  // namespace rowtide

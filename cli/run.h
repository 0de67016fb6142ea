// `rowtide run`: the statements of a script, one by one (cli/statements.h).
//
// Stops at the first failure, and at a statement that a signal ended. Returns the exit code.
#pragma once

#include <string>

#include "cli/statements.h"

namespace rowtide {

// From a file, from standard input (`-`), or from the command line (-c).
Result<SqlText> ReadSql(const std::string& file, const std::string& command);

struct RunArguments {
  std::string file;
  std::string command;
  PrintSettings print = {};
  StateSettings state = {};
  std::string parallelism;  // lanes, unless the script says another number; "": as it says
  std::string metrics;      // where to serve the status page and metrics; "": nowhere
};

int Run(const RunArguments& arguments);

}  // namespace rowtide

// `rowtide run`: the statements of a script, one by one; jobs run one after another, in the
// foreground.
//
// Stops at the first failure. A SELECT prints its rows (cli/output.h); SHOW, DESCRIBE and EXPLAIN
// print text. Returns the exit code.
#pragma once

#include <optional>
#include <string>

#include "cli/output.h"

namespace rowtide {

struct SqlText {
  std::string origin;  // a file's name, `-c` or `-`
  std::string text;
};
// From a file, from standard input (`-`), or from the command line (-c).
Result<SqlText> ReadSql(const std::string& file, const std::string& command);

struct RunArguments {
  std::string file;
  std::string command;
  std::optional<OutputMode> output;  // none: by what standard output is
  std::optional<int64_t> limit;
  bool stats = false;
};

int Run(const RunArguments& arguments);

}  // namespace rowtide

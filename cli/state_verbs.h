// `rowtide state ls` and `rowtide state check`: what lies in a state folder, and whether a script
// could go on from it. `rowtide savepoint` and `rowtide stop`: asked of a job that runs.
//
// All of them name jobs by the state folder (--state of `rowtide run`), by the folder of one job in
// it, or, for `ls`, by one checkpoint.
#pragma once

#include <optional>
#include <string>

#include "cli/durable_job.h"
#include "cli/output.h"

namespace rowtide {

struct StateListArguments {
  std::string path;
};

struct StateCheckArguments {
  std::string file;
  StateSettings state;
};

struct AskArguments {
  std::string path;
  std::string savepoint;  // where to; empty: of `savepoint`, where the job says; of `stop`, none
};

int ListState(const StateListArguments& arguments, std::optional<OutputMode> mode);
int CheckState(const StateCheckArguments& arguments);
int Savepoint(const AskArguments& arguments);
int Stop(const AskArguments& arguments);

}  // namespace rowtide

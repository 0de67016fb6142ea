// `rowtide explain`: the plans of a script's queries, inserts and statement sets, with changelog
// modes.
//
// DDL and SET before them are executed; nothing is run. Returns the exit code.
#pragma once

#include <string>

namespace rowtide {

struct ExplainArguments {
  std::string file;
  std::string command;
};

int Explain(const ExplainArguments& arguments);

}  // namespace rowtide

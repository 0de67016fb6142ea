// `rowtide requeue`: the records in the dead letters of a table back into the topics that they came
// from (connectors/kafka/requeue.h), after what was wrong has been mended.
//
// The script is that of the job: it says how the topics are reached and where the letters are. Its
// statements are planned, and none is run.
#pragma once

#include <string>

namespace rowtide {

struct RequeueArguments {
  std::string file;   // the job's script
  std::string table;  // "": the only one that has letters
  bool dry_run = false;
};

int Requeue(const RequeueArguments& arguments);

}  // namespace rowtide

// `rowtide state get`: the rows that a checkpoint holds of a key, or of all keys. `rowtide state
// diff`: what became of each key between two checkpoints.
//
//   get    o1,paid,3                           diff   - o1 new   + o1 paid      changed
//                                                     + o2 new                  added
//
// Both make the job's operators again (cli/state_look.h), so they take checkpoints of any job, on
// any number of lanes, in memory or in RocksDB, also while the job runs. Rows come as they are
// read; a key has to fit into memory, a state need not.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"

namespace rowtide {

struct StateGetArguments {
  std::string path;
  std::vector<std::string> key;  // `column=value`, or JSON
  std::string node;              // --operator: a number or a name; empty: all
  std::optional<int64_t> limit;
};

struct StateDiffArguments {
  std::string before;
  std::string after;  // empty: `before` names a job, and its two newest checkpoints are compared
  std::string node;
};

int GetState(const StateGetArguments& arguments, std::optional<OutputMode> mode);
// 0: equal. 1: not. 2 and above: that could not be found out.
int DiffState(const StateDiffArguments& arguments, std::optional<OutputMode> mode);

}  // namespace rowtide

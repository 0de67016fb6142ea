// Which state of a checkpoint goes to which node of a job, decided before anything is touched.
//
//   the checkpoint              the job
//   Deduplicate(key=[id], …) -> Deduplicate(key=[id], …)      the same: restored
//   Rank(rankRange=[1, 3])      Rank(rankRange=[1, 5])        of one kind, but changed: refused
//   GroupAggregate(…)                                         gone: refused, unless that is allowed
//                               Calc(…), TopN(…)              new: starts empty
//
// Nodes are the same when kind, description and columns are; equal ones are told apart by their
// order. Sources and sinks are the same when their table is. A node that cannot lose anything that
// counts (a watermark assigner) starts anew where it has changed.
#pragma once

#include <string>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/status.h"

namespace rowtide {

struct RestorePlan {
  static constexpr int kStartsEmpty = -1;
  std::vector<int> from;           // of each node of the job: the checkpoint's node
  std::vector<std::string> notes;  // what the user should hear
};

// `allows_lost`: state that no node takes is dropped instead of refused
// (execution.state-recovery.ignore-unclaimed-state). kInvalidArgument: names the nodes and why.
Result<RestorePlan> PlanRestore(const std::vector<NodeIdentity>& job, const Checkpoint& checkpoint,
                                bool allows_lost);

}  // namespace rowtide

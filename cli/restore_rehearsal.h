// Whether a job's operators would take the state of a checkpoint: they are made, given what it has
// of each of them, and thrown away.
//
//   plan, node bytes of all lanes -> operators in memory, over a store that is empty -> Status
//
// What is refused, and with which words, is up to the operators, as in a run: a time-to-live that
// comes or goes with a STATE_TTL hint, for one, is nothing that the plan of the restore knows of.
// Sources, sinks and entries that lie in RocksDB are left alone.
#pragma once

#include "engine/runtime/restore_plan.h"
#include "planner/session.h"

namespace rowtide {

// Requires: the plan is of the job's identities and that checkpoint.
Status RehearseRestore(const PlannedJob& planned, const Checkpoint& checkpoint,
                       const RestorePlan& plan);

}  // namespace rowtide

// Which failures of a job with a state folder are worth another start, and how often: the options
// restart-strategy.* as Flink has them.
//
//   the disk, the network                          may pass
//   SQL, data under `fail`, damage, a newer format will be the same the next time
//   another instance that has taken over             ends this one
//
// A job that reads standard input is not started again: what it has taken from there is gone.
#pragma once

#include <optional>
#include <string>

#include "engine/runtime/restart_policy.h"
#include "planner/session.h"

namespace rowtide {

RestartSettings RestartSettingsOf(const Options& options);
bool MayPass(const Status& failure);
// The name of the table that is read from standard input; none: no table is.
std::optional<std::string> TableOnStandardInput(const PlannedJob& planned);

}  // namespace rowtide

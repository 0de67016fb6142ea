// What --stats prints: one line a node; for each source of records what became of them,
// `records read = rows emitted + rejected`; then the time that the job took, and its checkpoints.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/checkpoint_costs.h"
#include "engine/runtime/stats.h"

namespace rowtide {

// `seconds`: of the run, without start-up. `rows_read`: of all sources.
std::string StatsTable(const std::vector<NodeStats>& nodes, double seconds, int64_t rows_read,
                       int lanes = 1);

// A line about a job's checkpoints; none were tried: no text.
std::string CheckpointLine(const CheckpointCosts& costs);

}  // namespace rowtide

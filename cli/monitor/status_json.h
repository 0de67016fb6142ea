// What is known of the job as JSON, for the status page and for scripts: the graph with totals and
// rates of each node, checkpoints, waits. Rates are those of the last five seconds; null: not known
// yet.
#pragma once

#include <string>

#include "cli/monitor/job_watch.h"

namespace rowtide {

// `now_millis`: since 1970.
std::string StatusJson(const JobLook& look, int64_t now_millis);

}  // namespace rowtide

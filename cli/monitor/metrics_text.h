// What is known of the job in Prometheus' text format:
//
//   # HELP rowtide_records_in_total Records that a source has read
//   # TYPE rowtide_records_in_total counter
//   rowtide_records_in_total{job="…",node="0",operator="TableSourceScan",table="orders"} 1200
//
// Names follow Prometheus' conventions: base units, `_total` for what only grows. A node is known
// by its number, which is unique in a job. No value of a row, and no secret, is ever in a label.
#pragma once

#include <string>

#include "cli/monitor/job_watch.h"

namespace rowtide {

inline constexpr const char* kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

// `now_millis`: since 1970.
std::string MetricsText(const JobLook& look, int64_t now_millis);

}  // namespace rowtide

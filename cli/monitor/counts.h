// What the counters of a node mean, where they are shown: records of a source, why some of them
// were rejected, rows that an operator has set apart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/runtime/stats.h"

namespace rowtide {

struct ShownCounts {
  int64_t records = 0;                                    // of a source: read
  std::vector<std::pair<std::string, int64_t>> rejected;  // of a source, by reason
  std::vector<std::pair<std::string, int64_t>> others;    // `late`, `beyond_rank`, …
  int64_t offsets_skipped = 0;  // of topics: no rows, and perhaps no records
};

// `is_source`: of a source without records of its own, its rows are.
ShownCounts CountsOf(const NodeStats& node, bool is_source);

// A remark about how values were read, under a counter's name; no count of records.
bool IsRemark(const std::string& counter);
// Of a source: records were rejected for it.
bool IsRejectReason(const std::string& counter);

}  // namespace rowtide

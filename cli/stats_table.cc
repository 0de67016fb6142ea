#include "cli/stats_table.h"

#include <fmt/format.h>

#include "cli/text_table.h"

namespace rowtide {

namespace {

std::string CountersText(const NodeStats& node) {
  std::string text;
  for (const auto& [name, count] : node.counters) {
    if (count == 0 || name == "records_read" || name == "rejected") continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, count);
  }
  return text;
}

// Rows that the source of a job that failed in between has not emitted make it unequal: that is to
// be seen.
std::string RecordsText(const NodeStats& node) {
  int64_t read = -1, rejected = 0;
  for (const auto& [name, count] : node.counters) {
    if (name == "records_read") read = count;
    if (name == "rejected") rejected = count;
  }
  if (read < 0) return "";
  const char* sign = read == node.total_out() + rejected ? "=" : "!=";
  return fmt::format("{}: {} records read {} {} rows emitted + {} rejected\n", node.name, read,
                     sign, node.total_out(), rejected);
}

std::vector<std::string> RowOf(const NodeStats& node) {
  std::vector<std::string> row = {node.name, node.rows_in > 0 ? std::to_string(node.rows_in) : "-"};
  for (const int64_t rows : node.rows_out) row.push_back(std::to_string(rows));
  row.push_back(
      node.rows_in > 0 && node.total_out() > 0 ? fmt::format("{:.2f}", node.amplification()) : "-");
  row.push_back(std::to_string(node.state_entries));
  row.push_back(std::to_string(node.state_bytes));
  row.push_back(fmt::format("{:.1f}", static_cast<double>(node.sampled_nanos) / 1e6));
  row.push_back(CountersText(node));
  return row;
}

}  // namespace

std::string StatsTable(const std::vector<NodeStats>& nodes, double seconds, int64_t rows_read,
                       int lanes) {
  std::vector<std::vector<std::string>> rows;
  for (const NodeStats& node : nodes) rows.push_back(RowOf(node));
  const double per_second = seconds > 0 ? static_cast<double>(rows_read) / seconds : 0;
  std::string records;
  for (const NodeStats& node : nodes) records += RecordsText(node);
  return PlainTable({"node", "rows in", "+I", "-U", "+U", "-D", "amplification", "state entries",
                     "state bytes", "time ms", "counters"},
                    rows) +
         records +
         fmt::format("{} rows emitted by sources in {:.3f} s, {:.0f} rows/s{}\n", rows_read,
                     seconds, per_second, lanes > 1 ? fmt::format(", on {} lanes", lanes) : "");
}

std::string CheckpointLine(const CheckpointCosts& costs) {
  if (costs.completed + costs.failed == 0) return "";
  const auto millis = [](std::chrono::nanoseconds time) {
    return static_cast<double>(time.count()) / 1e6;
  };
  return fmt::format(
      "{} checkpoints completed, {} failed, longest stop {:.3f} ms, last one {:.3f} s\n",
      costs.completed, costs.failed, millis(costs.longest_stop), millis(costs.at_end) / 1e3);
}

}  // namespace rowtide

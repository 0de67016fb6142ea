#include "cli/stats_table.h"

#include <fmt/format.h>

#include "cli/text_table.h"

namespace rowtide {

namespace {

std::string CountersText(const NodeStats& node) {
  std::string text;
  for (const auto& [name, count] : node.counters) {
    if (count == 0) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, count);
  }
  return text;
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

std::string StatsTable(const std::vector<NodeStats>& nodes, double seconds, int64_t rows_read) {
  std::vector<std::vector<std::string>> rows;
  for (const NodeStats& node : nodes) rows.push_back(RowOf(node));
  const double per_second = seconds > 0 ? static_cast<double>(rows_read) / seconds : 0;
  return PlainTable({"node", "rows in", "+I", "-U", "+U", "-D", "amplification", "state entries",
                     "state bytes", "time ms", "counters"},
                    rows) +
         fmt::format("{} rows read in {:.3f} s, {:.0f} rows/s\n", rows_read, seconds, per_second);
}

}  // namespace rowtide

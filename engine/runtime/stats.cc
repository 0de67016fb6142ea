#include "engine/runtime/stats.h"

#include <algorithm>

namespace rowtide {

void NodeStats::CountOut(const RowKind* kinds, int rows) {
  ++batches_out;
  if (kinds == nullptr) {
    rows_out[0] += rows;
    return;
  }
  // A sum per kind, where a counter that depends on the row would wait for the row before.
  std::array<int32_t, 4> counts = {rows, 0, 0, 0};
  for (size_t kind = 1; kind < counts.size(); ++kind) {
    for (int row = 0; row < rows; ++row) counts[kind] += static_cast<size_t>(kinds[row]) == kind;
    counts[0] -= counts[kind];
  }
  for (size_t kind = 0; kind < counts.size(); ++kind) rows_out[kind] += counts[kind];
}

void NodeStats::Add(const NodeStats& other) {
  rows_in += other.rows_in;
  for (size_t kind = 0; kind < rows_out.size(); ++kind) rows_out[kind] += other.rows_out[kind];
  batches_out += other.batches_out;
  sampled_nanos += other.sampled_nanos;
  state_entries += other.state_entries;
  state_bytes += other.state_bytes;
  for (const auto& [counter, count] : other.counters) {
    const auto known = std::find_if(counters.begin(), counters.end(),
                                    [&](const auto& one) { return one.first == counter; });
    if (known == counters.end()) {
      counters.emplace_back(counter, count);
    } else {
      known->second += count;
    }
  }
}

}  // namespace rowtide

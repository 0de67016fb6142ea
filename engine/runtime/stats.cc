#include "engine/runtime/stats.h"

#include <algorithm>

namespace rowtide {

void NodeStats::CountOut(const RowKind* kinds, int rows) {
  ++batches_out;
  if (kinds == nullptr) {
    rows_out[0] += rows;
    return;
  }
  // Counted in bytes, so that 32 rows are looked at at once.
  constexpr int kRunRows = 255;
  std::array<int64_t, 4> counts = {rows, 0, 0, 0};
  for (int first = 0; first < rows; first += kRunRows) {
    const int end = std::min(first + kRunRows, rows);
    for (size_t kind = 1; kind < counts.size(); ++kind) {
      uint8_t count = 0;
      for (int row = first; row < end; ++row)
        count = static_cast<uint8_t>(count + (kinds[row] == static_cast<RowKind>(kind)));
      counts[kind] += count;
      counts[0] -= count;
    }
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

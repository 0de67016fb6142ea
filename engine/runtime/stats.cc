#include "engine/runtime/stats.h"

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

}  // namespace rowtide

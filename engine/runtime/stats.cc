#include "engine/runtime/stats.h"

namespace rowtide {

void NodeStats::CountOut(const RowBatch& batch) {
  ++batches_out;
  const RowKind* kinds = batch.kinds_or_null();
  if (kinds == nullptr) {
    rows_out[0] += batch.rows;
    return;
  }
  // A sum per kind, where a counter that depends on the row would wait for the row before.
  std::array<int32_t, 4> counts = {batch.rows, 0, 0, 0};
  for (size_t kind = 1; kind < counts.size(); ++kind) {
    for (int row = 0; row < batch.rows; ++row)
      counts[kind] += static_cast<size_t>(kinds[row]) == kind;
    counts[0] -= counts[kind];
  }
  for (size_t kind = 0; kind < counts.size(); ++kind) rows_out[kind] += counts[kind];
}

}  // namespace rowtide

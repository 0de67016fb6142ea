#include "engine/runtime/stats.h"

namespace rowtide {

void NodeStats::CountOut(const RowBatch& batch) {
  ++batches_out;
  const RowKind* kinds = batch.kinds_or_null();
  if (kinds == nullptr) {
    rows_out[0] += batch.rows;
    return;
  }
  std::array<int64_t, 4> counts = {};
  for (int row = 0; row < batch.rows; ++row) ++counts[static_cast<size_t>(kinds[row])];
  for (size_t kind = 0; kind < counts.size(); ++kind) rows_out[kind] += counts[kind];
}

}  // namespace rowtide

#include "operators/null_keys.h"

#include <algorithm>

namespace rowtide {

int64_t CountNullKeys(const RowBatch& batch, std::span<const int> keys) {
  const auto column = [&](int key) -> const Column& {
    return batch.columns[static_cast<size_t>(key)];
  };
  const bool any =
      std::any_of(keys.begin(), keys.end(), [&](int key) { return column(key).may_have_nulls(); });
  int64_t rows = 0;
  for (int row = 0; any && row < batch.rows; ++row) {
    rows += std::any_of(keys.begin(), keys.end(), [&](int key) { return column(key).IsNull(row); });
  }
  return rows;
}

}  // namespace rowtide

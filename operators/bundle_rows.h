// The rows of some keys of a bundle as one batch, key by key, in memory of its own.
//
//   bundle  a: a1 a2 | b: b1   ->   rows a1 a2 b1,  units 0 0 1,  last_rows 1 2
//
// The batch may be longer than kBatchRows; it stays inside the operator.
#pragma once

#include <vector>

#include "engine/row_batch.h"
#include "operators/mini_batch.h"
#include "state/row_codec.h"

namespace rowtide {

struct BundleRows {
  RowBatch batch;
  std::vector<int32_t> units;      // per row: which of the keys
  std::vector<int32_t> last_rows;  // per key: its last row
};

// Keys [first, first + keys). Requires: each has rows, all encoded by `codec`.
void GatherRows(const Bundle& bundle, const RowCodec& codec, int first, int keys, BundleRows* out);

}  // namespace rowtide

// The port by which a source that makes watermarks itself gets them from its rows: what the planner
// made of `WATERMARK FOR ts AS ts - INTERVAL '5' SECOND`, so that connectors need no expressions.
//
//   rows         ts 10, 7, 12
//   watermarks   5, 2, 7          Time::kNoWatermark where the expression is NULL
#pragma once

#include <cstdint>
#include <vector>

#include "engine/row_batch.h"
#include "engine/status.h"

namespace rowtide {

class RowWatermarks {
 public:
  virtual ~RowWatermarks() = default;
  // One a row, in milliseconds. Fails on a row whose row time is NULL.
  virtual Status Of(const RowBatch& batch, std::vector<int64_t>* watermarks) = 0;
};

}  // namespace rowtide

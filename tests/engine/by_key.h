// Rows by the number in their first column: key k goes to lane k mod lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/runtime/exchange.h"

namespace rowtide {

class ByKey final : public Partitioner {
 public:
  explicit ByKey(int64_t lanes) : lanes_(lanes) {}
  Status LanesOf(const RowBatch& batch, std::vector<uint8_t>* lanes) override {
    lanes->clear();
    for (int row = 0; row < batch.rows; ++row)
      lanes->push_back(static_cast<uint8_t>(batch.columns[0].values<int64_t>()[row] % lanes_));
    return Status::Ok();
  }

 private:
  int64_t lanes_;
};

}  // namespace rowtide

// Which lane owns a row: that which holds the key group of its key (engine/key_group.h).
//
// The key's bytes are the same as those of the operator behind the exchange, so the lane that gets
// the rows is the lane whose state holds the key, also after a restore with other lanes.
#pragma once

#include <array>

#include "engine/key_group.h"
#include "engine/runtime/exchange.h"
#include "state/key_codec.h"

namespace rowtide {

class KeyPartitioner final : public Partitioner {
 public:
  KeyPartitioner(const Schema& schema, std::vector<int> keys, bool separate_zeros, int lanes);
  Status LanesOf(const RowBatch& batch, std::vector<uint8_t>* lanes) override;

 private:
  KeyCodec codec_;
  KeyBatch keys_;
  std::array<uint8_t, kKeyGroups> lane_of_group_;
};

}  // namespace rowtide

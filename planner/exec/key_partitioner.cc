#include "planner/exec/key_partitioner.h"

#include <utility>

namespace rowtide {

KeyPartitioner::KeyPartitioner(const Schema& schema, std::vector<int> keys, bool separate_zeros,
                               int lanes)
    : codec_(schema, std::move(keys), separate_zeros) {
  for (int group = 0; group < kKeyGroups; ++group)
    lane_of_group_[static_cast<size_t>(group)] = static_cast<uint8_t>(LaneOfKeyGroup(group, lanes));
}

Status KeyPartitioner::LanesOf(const RowBatch& batch, std::vector<uint8_t>* lanes) {
  RT_TRY(codec_.Encode(batch, &keys_));
  lanes->resize(static_cast<size_t>(batch.rows));
  for (int row = 0; row < batch.rows; ++row) {
    const auto group = static_cast<size_t>(KeyGroupOf(keys_.key(row)));
    (*lanes)[static_cast<size_t>(row)] = lane_of_group_[group];
  }
  return Status::Ok();
}

}  // namespace rowtide

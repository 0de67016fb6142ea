// The rows of a batch by key: rows of equal keys form a group, numbered in order of first arrival.
//
//   keys        a b a c b      ->   group of each row  0 1 0 2 1
//                                   first rows         0 1 3
//
// Streams are skewed: a thousand bids hold 390 pairs of bidder and auction. An operator that asks
// state once a group, follows the group's rows through the batch, and writes back what is left at
// the end does a fraction of the accesses, and emits the same rows (performance.md 6, "fold a
// mini-batch"). Costs a few nanoseconds a row in a table that stays in the first-level cache.
// Reused between batches; one lane.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/row_batch.h"
#include "state/key_codec.h"

namespace rowtide {

class KeyGroups {
 public:
  // Requires: at most kBatchRows keys.
  void Fold(const KeyBatch& keys);

  int groups() const { return groups_; }
  int32_t of(int row) const { return group_of_[row]; }
  // One row of each group, ascending.
  std::span<const int32_t> first_rows() const {
    return {first_rows_, static_cast<size_t>(groups_)};
  }

 private:
  static constexpr uint32_t kSlots = 4096;  // two bytes each: 8 KiB
  static_assert(kSlots >= 2 * kBatchRows && kBatchRows < 0xffff);

  // Plain arrays: no index is checked for each row.
  std::unique_ptr<uint16_t[]> slots_ = std::make_unique<uint16_t[]>(kSlots);  // group + 1; 0: empty
  int groups_ = 0;
  uint16_t used_slots_[kBatchRows];  // one a group
  int32_t first_rows_[kBatchRows];   // likewise
  int32_t group_of_[kBatchRows];
};

}  // namespace rowtide

#include "state/key_groups.h"

#include "engine/status.h"

namespace rowtide {

void KeyGroups::Fold(const KeyBatch& keys) {
  RT_DCHECK(keys.rows() <= kBatchRows);
  uint16_t* const slots = slots_.data();
  for (const uint16_t used : used_slots_) slots[used] = 0;
  used_slots_.clear();
  first_rows_.clear();
  const uint64_t* const hashes = keys.hashes();
  for (int row = 0; row < keys.rows(); ++row) {
    const uint64_t hash = hashes[row];
    uint32_t at = static_cast<uint32_t>(hash) % kSlots;
    int32_t group = -1;
    for (; slots[at] != 0; at = (at + 1) % kSlots) {
      const int32_t other = slots[at] - 1;
      const int32_t first = first_rows_[static_cast<size_t>(other)];
      if (hashes[first] == hash && EqualKeys(keys.key(first), keys.key(row))) {
        group = other;
        break;
      }
    }
    if (group < 0) {
      group = static_cast<int32_t>(first_rows_.size());
      first_rows_.push_back(row);
      slots[at] = static_cast<uint16_t>(group + 1);
      used_slots_.push_back(static_cast<uint16_t>(at));
    }
    group_of_[row] = group;
  }
}

}  // namespace rowtide

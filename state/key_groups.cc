#include "state/key_groups.h"

#include "engine/status.h"

namespace rowtide {

void KeyGroups::Fold(const KeyBatch& keys) {
  RT_DCHECK(keys.rows() <= kBatchRows);
  uint16_t* const slots = slots_.get();
  for (int group = 0; group < groups_; ++group) slots[used_slots_[group]] = 0;
  int groups = 0;
  const uint64_t* const hashes = keys.hashes();
  for (int row = 0; row < keys.rows(); ++row) {
    const uint64_t hash = hashes[row];
    uint32_t at = static_cast<uint32_t>(hash) % kSlots;
    int group = -1;
    for (; slots[at] != 0; at = (at + 1) % kSlots) {
      const int other = slots[at] - 1;
      const int32_t first = first_rows_[other];
      if (hashes[first] == hash && EqualKeys(keys.key(first), keys.key(row))) {
        group = other;
        break;
      }
    }
    if (group < 0) {
      group = groups++;
      first_rows_[group] = row;
      slots[at] = static_cast<uint16_t>(group + 1);
      used_slots_[group] = static_cast<uint16_t>(at);
    }
    group_of_[row] = group;
  }
  groups_ = groups;
}

}  // namespace rowtide

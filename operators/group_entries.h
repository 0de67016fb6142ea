// The entries of a group aggregate: one per group, of fixed width, with the characters of text
// accumulators behind.
//
//   | row count: i64, if the input can retract | accumulators by call | length: u32 | text | ...
//
// A text accumulator is a `TextCell` in the fixed part. Without text, entries are changed where
// they lie; with it, a batch works on scratch copies, written back by Finish. An entry whose group
// is gone is erased by Finish, so a group may go and come back within a batch. One lane.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "operators/accumulators.h"
#include "state/value_state.h"

namespace rowtide {

class GroupEntries {
 public:
  // `text_offsets`: where TextCells lie.
  GroupEntries(const OperatorContext& context, int fixed_bytes, std::vector<int> text_offsets);

  StatePart* part() { return &state_; }
  const ValueState& keys() const { return state_; }
  // The entries of these keys; unit i is key i. Valid until Finish.
  Status Find(const KeyBatch& keys);
  // The fixed part, or null when the group does not exist.
  char* Data(int unit) {
    if (!text_offsets_.empty()) return ScratchOf(unit, false);
    const Entry entry = entries_[static_cast<size_t>(unit)];
    return state_.Has(entry) ? state_.Data(entry) : nullptr;
  }
  // A zeroed fixed part for a group that does not exist.
  char* Create(int unit);
  void Touch(int unit) { state_.Touch(entries_[static_cast<size_t>(unit)]); }
  // The group is gone unless a later unit of the batch revives it, which `is_gone` of Finish tells.
  void MayBeGone(int unit) { gone_.push_back(unit); }
  // Writes back and forgets groups for which `is_gone(fixed part)`.
  template <typename IsGone>
  void Finish(const IsGone& is_gone) {
    for (int unit : gone_) {
      const char* data = Data(unit);
      if (data && is_gone(data)) Erase(unit);
    }
    gone_.clear();
    if (!text_offsets_.empty()) WriteBack();
    state_.Settle();
  }

 private:
  struct Scratch {
    Entry entry;
    std::vector<char> fixed;
    std::vector<std::string> texts;
    bool exists = false;
  };
  Status Check(std::string_view value) const;
  char* ScratchOf(int unit, bool create);
  void Load(Scratch* scratch);
  void Erase(int unit);
  void WriteBack();

  ValueState state_;
  size_t fixed_bytes_;
  std::vector<int> text_offsets_;
  std::vector<Entry> entries_;
  std::vector<int> gone_;
  std::deque<Scratch> pool_;  // reused; the first `scratches_` are of this batch
  size_t scratches_ = 0;
  std::unordered_map<const void*, Scratch*> scratch_by_slot_;
};

}  // namespace rowtide

#include "state/key_walk.h"

#include <algorithm>

#include "engine/key_group.h"

namespace rowtide {

std::string WalkPlace(std::string_view key) {
  std::string place(1, static_cast<char>(KeyGroupOf(key)));
  return place.append(key);
}

void KeyList::Sort() { std::sort(places_.begin(), places_.end()); }

void KeyList::TakeFirst(KeyBatch* keys) {
  keys->Add(std::string_view(places_[at_]).substr(1));
  if (++at_ < places_.size()) return;
  places_.clear();
  at_ = 0;
}

// With a tier, memory has what was looked up, which is below too, and marked entries, which are
// not.
void KeyWalk::Begin() {
  has_begun_ = true;
  below_is_over_ = state_->tier() == nullptr;
  state_->ForEach([this](Entry entry) {
    if (state_->tier() == nullptr || state_->IsMarked(entry)) memory_.Add(state_->Key(entry));
  });
  memory_.Sort();
}

Status KeyWalk::ReadBelow(int keys_max) {
  const std::string from = last_below_.empty() ? TablePrefix(state_->table()) : last_below_ + '\0';
  int read = 0;
  const auto take = [&](std::string_view below, std::string_view) -> Result<bool> {
    if (below.size() < kBelowKeyHead || below.size() - kBelowKeyHead > kKeyBytesMax)
      return Status::Corruption("a key of the state has {} bytes", below.size());
    below_.Add(below.substr(kBelowKeyHead));
    last_below_ = below;
    return ++read < keys_max;
  };
  RT_TRY(state_->tier()->backend().Scan(from, TablePrefix(state_->table() + 1), take));
  below_is_over_ = read < keys_max;
  return Status::Ok();
}

Status KeyWalk::Next(int keys_max, KeyBatch* keys) {
  if (!has_begun_) Begin();
  keys->Clear();
  while (keys->rows() < keys_max) {
    if (below_.empty() && !below_is_over_) RT_TRY(ReadBelow(keys_max));
    if (below_.empty() && memory_.empty()) break;
    const bool from_memory =
        below_.empty() || (!memory_.empty() && memory_.first() < below_.first());
    (from_memory ? memory_ : below_).TakeFirst(keys);
  }
  return Status::Ok();
}

}  // namespace rowtide

// What ValueState does with a tier beneath it: which entries have changed, copying them out,
// reading what is below, and making room.
//
//   tracks   new: no list            -> changes -> changed list of its key group
//            Freeze: the lists change their roles, which costs nothing
//            frozen -> its turn comes, or it changes -> copied out; is below
//
// Lists are by key group, since that is the order of what is below: entries leave group by group,
// so that runs do not overlap, and no list is so long that its growth is felt. An entry is in one
// list at most, at the place that it keeps with it. An erased entry whose key is below stays,
// without a value, until the backend has been told.
#include <algorithm>

#include "state/value_state.h"

namespace rowtide {
namespace {

constexpr size_t kAhead = 8;  // entries that are fetched before their turn

}  // namespace

void ValueState::NoteFirstChange(Arena::Ref ref) {
  if (enters_) return;
  Tracks* tracks = TracksOf(At(ref));
  if (tracks->list != 0) {  // frozen: what it was at the barrier is kept
    ListOf(*tracks)[tracks->place] = 0;
    const int64_t before = early_[tracks->group].bytes();
    CopyOut(ref, &early_[tracks->group]);
    early_bytes_ += early_[tracks->group].bytes() - before;
  }
  tracks->list = changed_;
  tracks->place = static_cast<uint32_t>(ListOf(*tracks).size());
  ListOf(*tracks).push_back(ref);
  ++listed_;
}

// In the form of below: | clock, with a TTL | value |. What is marked lies elsewhere, so below
// there is nothing of it.
void ValueState::CopyOut(Arena::Ref ref, StateRun* run) {
  Header* const header = At(ref);
  Tracks* const tracks = TracksOf(header);
  tracks->list = 0;
  const std::string_view key{KeyOf(header), header->key_size};
  if (header->value_size >= kMarkBit) {  // a mark, or no value
    if (!tracks->is_below) return;
    run->Remove(number_, tracks->group, key);
    if (header->value_size == kNoValue) gone_.emplace_back(key);
    return;
  }
  tracks->is_below = true;
  if (!clocked_ && !form_.write) {
    run->Put(number_, tracks->group, key, {ValueOf(header), header->value_size});
    return;
  }
  below_value_.clear();
  if (clocked_) below_value_.append(reinterpret_cast<const char*>(header + 1), sizeof(int64_t));
  if (form_.write) {
    form_.write(ValueOf(header), &below_value_);
  } else {
    below_value_.append(ValueOf(header), header->value_size);
  }
  run->Put(number_, tracks->group, key, below_value_);
}

// --- checkpoints ---

void ValueState::Freeze() {
  Settle();
  changed_ = static_cast<uint8_t>(3 - changed_);
  RT_DCHECK(lists_[changed_ - 1][0].empty());
  copied_groups_ = copied_ = 0;
}

TieredState::Copied ValueState::CopyFrozen(int64_t bytes_max, StateRun* run, int64_t run_bytes) {
  const int64_t enough = run->bytes() + bytes_max;
  for (; copied_groups_ < kKeyGroups; ++copied_groups_, copied_ = 0) {
    std::vector<Arena::Ref>& frozen = lists_[2 - changed_][copied_groups_];
    for (; copied_ < frozen.size(); ++copied_) {
      if (run->bytes() >= enough) return Copied::kSome;
      if (copied_ + kAhead < frozen.size() && frozen[copied_ + kAhead] != 0) {
        const char* const next = reinterpret_cast<const char*>(At(frozen[copied_ + kAhead]));
        for (size_t line = 0; line < 4; ++line) __builtin_prefetch(next + 64 * line);
      }
      if (frozen[copied_] != 0) CopyOut(frozen[copied_], run);
    }
    listed_ -= static_cast<int64_t>(frozen.size());
    frozen = {};  // its memory too: lists of what changed would count twice
    early_bytes_ -= early_[copied_groups_].bytes();
    run->Take(&early_[copied_groups_]);
    if (copied_groups_ + 1 == kKeyGroups || run->bytes() < std::min(enough, run_bytes)) continue;
    ++copied_groups_;
    copied_ = 0;
    return run->bytes() >= run_bytes ? Copied::kRun : Copied::kSome;
  }
  return Copied::kAll;
}

void ValueState::FrozenIsBelow() {
  Settle();
  for (const std::string& key : gone_) {
    HotTable::Slot* const slot = Lookup(key, HashBytes(key));
    if (slot == nullptr || Has({slot}) || TracksOf(HeaderOf({slot}))->list != 0) continue;
    Release(slot);
  }
  gone_.clear();
}

void ValueState::CountExpiredBelow() {
  if (expired_below_ != nullptr) *expired_below_ += tier_->backend().TakeExpired(number_);
}

// --- memory ---

int64_t ValueState::bytes() const {
  return arena_.in_use() + static_cast<int64_t>(table_.bytes()) +
         listed_ * static_cast<int64_t>(sizeof(Arena::Ref)) + early_bytes_;
}

// The hand goes over the segments; who was used since it came by gets a second chance. Two rounds
// find everything that may leave. What an entry refers to counts with its share of the state.
void ValueState::ChooseVictims(int64_t bytes, StateRun* run) {
  Settle();
  victims_.clear();
  const int64_t each = this->bytes() / std::max<int64_t>(table_.entries(), 1) + 1;
  for (size_t seen = 0; bytes > 0 && seen < 2 * table_.segments(); ++seen) {
    if (++hand_ >= table_.segments()) hand_ = 0;
    table_.VisitSegment(hand_, [&](HotTable::Slot* slot) {
      const Entry entry{slot};
      Tracks* const tracks = TracksOf(HeaderOf(entry));
      if (bytes <= 0 || IsMarked(entry)) return;
      if (tracks->referenced) {
        tracks->referenced = false;
        return;
      }
      if (tracks->list != 0) {
        ListOf(*tracks)[tracks->place] = 0;
        CopyOut(HotTable::RefOf(*slot), run);
      }
      tracks->referenced = true;  // so that the second round passes it over
      victims_.push_back(slot);
      bytes -= each;
    });
  }
  // Few are left in the lists of what changed: those that stayed.
  for (std::vector<Arena::Ref>& changed : lists_[changed_ - 1]) {
    const size_t before = changed.size();
    std::erase(changed, Arena::Ref{0});
    listed_ -= static_cast<int64_t>(before - changed.size());
    for (size_t i = 0; i < changed.size(); ++i)
      TracksOf(At(changed[i]))->place = static_cast<uint32_t>(i);
  }
}

void ValueState::DropVictims() {
  if (!victims_.empty()) complete_ = false;
  for (HotTable::Slot* const slot : victims_) {
    const Entry entry{slot};
    if (Has(entry)) {
      if (forget_) forget_(ValueOf(HeaderOf(entry)));
      CountValues(-1);
    }
    Release(slot);
  }
  victims_.clear();
  gone_.clear();
}

// --- reading ---

// Makes an entry of what the backend holds for the key.
Status ValueState::Enter(std::string_view key, uint64_t hash, std::string_view below) {
  int64_t clock = 0;
  if (clocked_) {
    if (below.size() < sizeof(clock))
      return Status::Corruption("an entry of the state has {} bytes, too few for its clock",
                                below.size());
    std::memcpy(&clock, below.data(), sizeof(clock));
    below.remove_prefix(sizeof(clock));
  }
  if (check_ && !form_.read) RT_TRY(check_(below));
  const Entry entry = Create(key, hash, form_.read ? expected_bytes_ : below.size());
  unsettled_.pop_back();
  TracksOf(HeaderOf(entry))->is_below = true;
  enters_ = true;
  if (form_.read) {
    const Status read = form_.read(below, entry);
    enters_ = false;
    RT_TRY(read);
  } else {
    Assign(entry, below);
    enters_ = false;
  }
  if (clocked_) SetClock(HeaderOf(entry), clock);
  round_ = {};  // it may be older than those that were seen
  return Status::Ok();
}

// The keys of the rows in `missing_`, each once.
Status ValueState::ReadMissing(const KeyBatch& keys) {
  below_keys_.clear();
  std::vector<size_t> ends;
  for (const int32_t row : missing_) {
    AppendBelowKey(number_, keys.key(row), &below_keys_);
    ends.push_back(below_keys_.size());
  }
  std::vector<std::pair<std::string_view, int32_t>> asked;
  for (size_t i = 0, begin = 0; i < ends.size(); begin = ends[i++])
    asked.emplace_back(std::string_view(below_keys_).substr(begin, ends[i] - begin), missing_[i]);
  std::sort(asked.begin(), asked.end());
  const auto same_key = [](const auto& a, const auto& b) { return a.first == b.first; };
  asked.erase(std::unique(asked.begin(), asked.end(), same_key), asked.end());
  std::vector<std::string_view> sorted;
  for (const auto& [key, row] : asked) sorted.push_back(key);
  return tier_->backend().MultiGet(sorted, [&](size_t i, std::string_view value) {
    const int32_t row = asked[i].second;
    return Enter(keys.key(row), keys.hash(row), value);
  });
}

// The next entries below that are not in memory; true at the end.
Result<bool> ValueState::WarmUp(int entries_max) {
  if (complete_) return true;
  Settle();
  const std::string prefix = TablePrefix(number_);
  const std::string from = warmed_.empty() ? prefix : warmed_ + '\0';
  int left = entries_max;
  RT_TRY(tier_->backend().Scan(from, TablePrefix(number_ + 1),
                               [&](std::string_view below, std::string_view value) {
                                 return WarmEntry(below, value, &left);
                               }));
  if (left == 0) return false;
  complete_ = true;
  return true;
}

Result<bool> ValueState::WarmEntry(std::string_view below, std::string_view value, int* left) {
  if (below.size() < kBelowKeyHead || below.size() - kBelowKeyHead > kKeyBytesMax)
    return Status::Corruption("a key of the state has {} bytes", below.size());
  const std::string_view key = below.substr(kBelowKeyHead);
  const uint64_t hash = HashBytes(key);
  if (Lookup(key, hash) == nullptr) {
    RT_TRY(Enter(key, hash, value));
  }
  warmed_ = below;
  return --*left > 0;
}

}  // namespace rowtide

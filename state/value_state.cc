#include "state/value_state.h"

#include <algorithm>

namespace rowtide {
ValueState::ValueState(const OperatorContext& context, Ttl ttl)
    : size_(context.state_size),
      key_groups_(context.key_groups),
      expired_(ttl.enabled() ? context.counters->Find("expired") : nullptr),
      ttl_(ttl),
      clocked_(ttl.enabled()),
      tiered_(context.tier != nullptr),
      complete_(context.tier == nullptr || !context.tier->restored()),
      key_offset_(sizeof(Header) + (ttl.enabled() ? sizeof(int64_t) : 0) +
                  (context.tier != nullptr ? sizeof(Tracks) : 0)),
      arena_(context.state_size),
      tier_(context.tier) {
  if (clocked_ && context.expiring != nullptr) {
    expiring_ = context.expiring;
    expiring_->push_back(this);
  }
  if (!tiered_) return;
  number_ = tier_->Register(this, context.first_table);
  for (auto& groups : lists_) groups.resize(kKeyGroups);
  for (int group = 0; group < kKeyGroups; ++group) early_.emplace_back(tier_->small_block_bytes());
  arena_.LimitRegions(tier_->region_bytes());
  if (!clocked_) return;
  expired_below_ = context.counters->Find("expired_below");
  tier_->backend().SetExpiry(number_, [ttl] { return ttl.DeadlineMillis(); });
}

ValueState::~ValueState() {
  if (tiered_ && clocked_) tier_->backend().SetExpiry(number_, nullptr);
  if (tiered_) tier_->Unregister(this);
  if (expiring_ != nullptr) std::erase(*expiring_, static_cast<ExpiringState*>(this));
  Clear();
}

void ValueState::Clear() {
  size_->entries -= entries();
  size_->bytes -= kSlotBytes * table_.entries();
  unsettled_.clear();
  table_.Clear();
  arena_.Clear();
  swept_segment_ = 0;
  round_ = {};
  values_ = 0;
  marked_.clear();
  for (auto& groups : lists_) {
    for (std::vector<Arena::Ref>& list : groups) list.clear();
  }
  listed_ = 0;
}

// Three passes over the rows, a step behind each other: home lines are fetched, then the entries
// that they lead to, then a row is settled. So what is fetched stays in the first-level cache until
// it is looked at, and one pass's work covers the other's wait.
template <typename RowAt, typename SettleRow>
void ValueState::EachRow(const KeyBatch& keys, int count, const RowAt& row_at,
                         const SettleRow& settle) {
  constexpr int kStep = 32;
  struct Step {
    uint64_t splits;  // of the table, when the candidates were found
    HotTable::Slot* candidates[kStep];
  };
  Step steps[2];
  Settle();
  if (clocked_) now_ = ttl_.NowMillis();
  const uint64_t* const hashes = keys.hashes();
  const auto end_of = [count](int first) { return std::min(first + kStep, count); };
  for (int first = 0; first < count + 2 * kStep; first += kStep) {
    for (int i = first; i < end_of(first); ++i) table_.Prefetch(hashes[row_at(i)]);
    if (const int begin = first - kStep; begin >= 0 && begin < count) {
      Step& step = steps[begin / kStep % 2];
      step.splits = table_.splits();
      for (int i = begin; i < end_of(begin); ++i) {
        HotTable::Slot* const slot = table_.Candidate(hashes[row_at(i)]);
        step.candidates[i - begin] = slot;
        if (slot != nullptr) {
          const char* const block = arena_.At(HotTable::RefOf(*slot));
          __builtin_prefetch(block, 1);
          __builtin_prefetch(block + reach_);
        } else {
          table_.PrefetchMiss(hashes[row_at(i)]);
        }
      }
    }
    if (const int begin = first - 2 * kStep; begin >= 0) {
      const Step& step = steps[begin / kStep % 2];
      for (int i = begin; i < end_of(begin); ++i) {
        const bool is_good = table_.splits() == step.splits;  // a split moves slots
        settle(i, is_good ? step.candidates[i - begin] : nullptr);
      }
    }
  }
}

// What is not in memory of the rows' keys is read from below.
template <typename RowAt>
Status ValueState::ReadMisses(const KeyBatch& keys, int count, const RowAt& row_at) {
  missing_.clear();
  EachRow(keys, count, row_at, [&](int i, HotTable::Slot* slot) {
    const int row = row_at(i);
    if (slot != nullptr && Matches(HotTable::RefOf(*slot), keys.key(row))) return;
    if (Lookup(keys.key(row), keys.hash(row)) == nullptr) missing_.push_back(row);
  });
  return missing_.empty() ? Status::Ok() : ReadMissing(keys);
}

Status ValueState::Find(const KeyBatch& keys, std::vector<Entry>* entries) {
  const auto row_at = [](int i) { return i; };
  if (!complete_) RT_TRY(ReadMisses(keys, keys.rows(), row_at));
  entries->resize(static_cast<size_t>(keys.rows()));
  Entry* const found = entries->data();
  const auto settle = [&](int row, HotTable::Slot* slot) {
    const std::string_view key = keys.key(row);
    if (slot == nullptr || !Matches(HotTable::RefOf(*slot), key))
      slot = Lookup(key, keys.hash(row));
    Entry entry{slot};
    if (slot != nullptr) {
      if (tiered_) TracksOf(HeaderOf(entry))->referenced = true;
      if (clocked_) ExpireIfOld(entry);
      if (!Has(entry)) entry = {};
    }
    found[row] = entry;
  };
  EachRow(keys, keys.rows(), row_at, settle);
  if (clocked_) SweepExpired(keys.rows());
  return Status::Ok();
}

Status ValueState::FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries) {
  return FindOrCreateAt(
      keys, keys.rows(), [](int i) { return i; }, [this](int) { return expected_bytes_; }, entries,
      [](int, Entry) {});
}

Status ValueState::FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries,
                                std::vector<int32_t>* valueless) {
  valueless->clear();
  return FindOrCreateAt(
      keys, keys.rows(), [](int i) { return i; }, [this](int) { return expected_bytes_; }, entries,
      [this, valueless](int i, Entry entry) {
        if (!Has(entry)) valueless->push_back(i);
      });
}

Status ValueState::FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                                std::vector<Entry>* entries) {
  const int32_t* const listed = rows.data();
  return FindOrCreateAt(
      keys, static_cast<int>(rows.size()), [listed](int i) { return listed[i]; },
      [this](int) { return expected_bytes_; }, entries, [](int, Entry) {});
}

Status ValueState::FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                                std::span<const size_t> value_bytes, std::vector<Entry>* entries) {
  RT_DCHECK(rows.size() == value_bytes.size());
  const int32_t* const listed = rows.data();
  const size_t* const bytes = value_bytes.data();
  return FindOrCreateAt(
      keys, static_cast<int>(rows.size()), [listed](int i) { return listed[i]; },
      [bytes](int i) { return bytes[i]; }, entries, [](int, Entry) {});
}

template <typename RowAt, typename BytesAt, typename See>
Status ValueState::FindOrCreateAt(const KeyBatch& keys, int count, const RowAt& row_at,
                                  const BytesAt& value_bytes_at, std::vector<Entry>* entries,
                                  const See& see) {
  if (!complete_) RT_TRY(ReadMisses(keys, count, row_at));
  entries->resize(static_cast<size_t>(count));
  Entry* const found = entries->data();
  const uint64_t splits = table_.splits();
  EachRow(keys, count, row_at, [&](int i, HotTable::Slot* slot) {
    const std::string_view key = keys.key(row_at(i));
    if (slot == nullptr || !Matches(HotTable::RefOf(*slot), key))
      slot = Lookup(key, keys.hash(row_at(i)));
    found[i] = {slot};
    if (slot == nullptr) {
      found[i] = Create(key, keys.hash(row_at(i)), value_bytes_at(i));
    } else {
      if (tiered_) TracksOf(HeaderOf(found[i]))->referenced = true;
      if (clocked_) ExpireIfOld(found[i]);
    }
    see(i, found[i]);
  });
  if (table_.splits() != splits) {
    // A split moved slots: what was found before it is looked up again.
    unsettled_.clear();
    for (int i = 0; i < count; ++i) {
      found[i].slot = Lookup(keys.key(row_at(i)), keys.hash(row_at(i)));
      if (!Has(found[i])) unsettled_.push_back(found[i]);
    }
  }
  // By the rows of the whole batch: they are what the sweep keeps up with.
  if (clocked_) SweepExpired(keys.rows());
  return Status::Ok();
}

Entry ValueState::Create(std::string_view key, uint64_t hash, size_t value_bytes) {
  const size_t bytes = key_offset_ + ((key.size() + 7) & ~size_t{7}) + value_bytes;
  const uint8_t size_class = Arena::ClassOf(bytes);
  const Arena::Ref ref = arena_.AllocateClass(size_class);
  reach_ = std::min<size_t>(bytes - 1, 64);
  Header* header = At(ref);
  // What is written here and in a moment is not read before: memory that was never used is far.
  for (size_t at = 64; at < std::min<size_t>(bytes, 256); at += 64)
    __builtin_prefetch(reinterpret_cast<char*>(header) + at, 1);
  const Header fresh{static_cast<uint32_t>(key.size()) & kKeyBytesMax, size_class, kNoValue};
  std::memcpy(static_cast<void*>(header), &fresh, sizeof(fresh));
  if (clocked_) SetClock(header, now_);
  if (tiered_) *TracksOf(header) = {0, 0, false, true, static_cast<uint8_t>(KeyGroupOf(key))};
  char* const to = reinterpret_cast<char*>(header) + key_offset_;
  if (key.size() == 16) {
    std::memcpy(to, key.data(), 16);  // without a call
  } else if (!key.empty()) {
    std::memcpy(to, key.data(), key.size());
  }
  size_->bytes += kSlotBytes;
  Entry entry{table_.Insert(hash, ref)};
  unsettled_.push_back(entry);
  return entry;
}

ValueState::Header* ValueState::Move(Entry entry, size_t value_size, size_t kept) {
  const Arena::Ref old_ref = HotTable::RefOf(*entry.slot);
  const size_t offset = ValueOffset(At(old_ref));
  const uint8_t size_class = Arena::ClassOf(offset + value_size);
  const Arena::Ref ref = arena_.AllocateClass(size_class);
  reach_ = std::min<size_t>(offset + value_size - 1, 64);
  Header* old_header = At(old_ref);
  Header* header = At(ref);
  std::memcpy(static_cast<void*>(header), old_header, offset + kept);
  arena_.Free(old_ref, static_cast<uint8_t>(old_header->size_class));
  header->size_class = size_class;
  *entry.slot = HotTable::Moved(*entry.slot, ref);
  if (tiered_ && TracksOf(header)->list != 0) {
    const Tracks& tracks = *TracksOf(header);
    ListOf(tracks)[tracks.place] = ref;
  }
  return header;
}

char* ValueState::Resize(Entry entry, size_t size) {
  BeforeChange(entry);
  Header* header = HeaderOf(entry);
  if (header->value_size == kNoValue) return Assign(entry, size);
  if (!Fits(header, size)) header = Move(entry, size, std::min<size_t>(header->value_size, size));
  header->value_size = static_cast<uint32_t>(size);
  if (clocked_) SetClock(header, now_);
  return ValueOf(header);
}

void ValueState::ExpireIfOld(Entry entry) {
  Header* header = HeaderOf(entry);
  if (header->value_size == kNoValue || !ttl_.Expired(ClockOf(header), now_)) return;
  BeforeChange(entry);
  if (forget_) forget_(ValueOf(header));
  ++*expired_;
  Erase(entry);
}

void ValueState::SweepExpired(int rows) {
  sweep_credit_ += int64_t{rows} * kSweptSlotsPerRow;
  while (sweep_credit_ >= HotTable::kSegmentSlots) {
    sweep_credit_ -= HotTable::kSegmentSlots;
    if (swept_segment_ >= table_.segments()) swept_segment_ = 0;
    table_.VisitSegment(swept_segment_++, [&](HotTable::Slot* slot) { ExpireIfOld({slot}); });
  }
}

// When a round is through, nothing is too old before the oldest entry that it has seen is: until
// then the table is left alone. A clock that was set back begins it anew.
void ValueState::SweepSome() {
  now_ = ttl_.NowMillis();
  if (now_ < round_.now) round_ = {};
  round_.now = now_;
  if (now_ < round_.next) return;
  Settle();
  if (round_.segment == 0) round_ = {now_, 0, 0, table_.splits(), kForever};
  table_.VisitSegment(round_.segment, [&](HotTable::Slot* slot) {
    const Entry entry{slot};
    ExpireIfOld(entry);
    if (Has(entry)) round_.oldest = std::min(round_.oldest, ClockOf(HeaderOf(entry)));
  });
  Settle();
  if (++round_.segment >= table_.segments()) EndRound();
}

void ValueState::EndRound() {
  round_.segment = 0;
  if (table_.splits() != round_.splits) return;  // some may have been missed
  round_.next = ttl_.EndMillis(std::min(round_.oldest, now_));
  // What has gone altogether gives its memory back.
  if (arena_.in_use() > 0 || table_.entries() > 0 || table_.segments() == 1) return;
  table_.Clear();
  arena_.Clear();
}

void ValueState::Forget() {
  for (const Entry entry : unsettled_) {
    if (*entry.slot <= HotTable::kErased) continue;  // erased twice in one batch
    Header* header = HeaderOf(entry);
    if (header->value_size != kNoValue) continue;
    if (tiered_) {
      const Tracks& tracks = *TracksOf(header);
      if (tracks.is_below) continue;  // it stays until what is below is gone
      if (tracks.list != 0) ListOf(tracks)[tracks.place] = 0;
    }
    Release(entry.slot);
  }
  unsettled_.clear();
}

// Gives back an entry's memory and its place in the table.
void ValueState::Release(HotTable::Slot* slot) {
  const Header* header = HeaderOf({slot});
  const uint64_t hash = HashBytes(Key({slot}));
  arena_.Free(HotTable::RefOf(*slot), static_cast<uint8_t>(header->size_class));
  table_.Erase(slot, hash);
  size_->bytes -= kSlotBytes;
}

namespace {

// In the order of (hash, key).
template <typename KeyOf>
void SortByHash(std::vector<Entry>* entries, const KeyOf& key_of) {
  struct Found {
    uint64_t hash;
    std::string_view key;
    Entry entry;
  };
  std::vector<Found> found;
  found.reserve(entries->size());
  for (const Entry entry : *entries)
    found.push_back({HashBytes(key_of(entry)), key_of(entry), entry});
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.key < b.key;
  });
  for (size_t i = 0; i < found.size(); ++i) (*entries)[i] = found[i].entry;
}

}  // namespace

void ValueState::ForEach(const std::function<void(Entry)>& visit) const {
  std::vector<Entry> entries;
  for (size_t i = 0; i < table_.segments(); ++i) {
    entries.clear();
    table_.VisitSegment(i, [&](HotTable::Slot* slot) {
      if (Has({slot})) entries.push_back({slot});
    });
    SortByHash(&entries, [this](Entry entry) { return Key(entry); });
    for (const Entry entry : entries) visit(entry);
  }
}

void ValueState::Snapshot(SnapshotWriter& writer) const {
  SnapshotWith(writer, [this](Entry entry, SnapshotWriter& to) { to.PutBytes(Value(entry)); });
}

Status ValueState::Restore(SnapshotReader& reader) {
  Clear();
  return Merge(reader);
}

Status ValueState::Merge(SnapshotReader& reader) {
  return MergeWith(reader, [this](SnapshotReader& from, Entry entry) {
    RT_ASSIGN(const std::string_view value, from.Bytes("value"));
    if (check_) RT_TRY(check_(value));
    if (entry) Assign(entry, value);
    return Status::Ok();
  });
}

void ValueState::SnapshotWith(
    SnapshotWriter& writer,
    const std::function<void(Entry entry, SnapshotWriter& writer)>& write) const {
  const auto put = [&](Entry entry) {
    writer.PutBytes(Key(entry));
    if (clocked_) writer.PutI64(ClockOf(HeaderOf(entry)));
    write(entry, writer);
  };
  if (tiered_) {
    const std::vector<Entry> marked = Marked();
    writer.PutU64(marked.size());
    writer.PutU8(clocked_ ? 1 : 0);
    for (const Entry entry : marked) put(entry);
    return;
  }
  writer.PutU64(static_cast<uint64_t>(values_));
  writer.PutU8(clocked_ ? 1 : 0);
  ForEach(put);
}

// At a barrier: it must not depend on how many entries there are.
std::vector<Entry> ValueState::Marked() const {
  std::vector<Entry> entries;
  for (const Arena::Ref place : marked_) {
    if (place != 0) entries.push_back({Lookup(KeyAt(place), HashBytes(KeyAt(place)))});
  }
  SortByHash(&entries, [this](Entry entry) { return Key(entry); });
  return entries;
}

// Where one side has no TTL, clocks are left out, or begin now; below they cannot be.
Status ValueState::MergeWith(SnapshotReader& reader, const ReadValue& read) {
  if (clocked_) now_ = ttl_.NowMillis();
  RT_ASSIGN(const uint64_t entries, reader.U64("entries"));
  RT_ASSIGN(const uint8_t clocked, reader.U8("clocked"));
  if (tiered_ && tier_->restored() && (clocked != 0) != clocked_)
    return TimeToLiveDiffers(clocked != 0);
  for (uint64_t i = 0; i < entries; ++i) {
    RT_ASSIGN(const std::string_view key, reader.Bytes("key"));
    if (key.size() > kKeyBytesMax)
      return Status::Corruption("a key of the snapshot has {} bytes", key.size());
    if (clocked != 0) {
      RT_ASSIGN(const int64_t clock, reader.I64("clock"));
      if (clocked_) now_ = clock;
    }
    if (!key_groups_.HasKey(key)) {
      RT_TRY(read(reader, {}));
      continue;
    }
    const uint64_t hash = HashBytes(key);
    if (Lookup(key, hash) != nullptr)
      return Status::Corruption("a key of the snapshot is there twice");
    const Entry entry = Create(key, hash, expected_bytes_);
    RT_TRY(read(reader, entry));
    unsettled_.clear();
  }
  return Status::Ok();
}

}  // namespace rowtide

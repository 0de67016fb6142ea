#include "state/value_state.h"

#include <algorithm>

namespace rowtide {
namespace {
// an entry's share of the table, accounted as if it were half full
constexpr int64_t kSlotBytes = 16;
// With a TTL, each row of a batch pays for looking at so many slots for old entries, a segment at a
// time: a table that is in use is swept in full again and again, and keys that never come back do
// not stay for ever.
constexpr int kSweptSlotsPerRow = 4;
}  // namespace

ValueState::ValueState(const OperatorContext& context, Ttl ttl)
    : size_(context.state_size),
      key_groups_(context.key_groups),
      expired_(ttl.enabled() ? context.counters->Find("expired") : nullptr),
      ttl_(ttl),
      clocked_(ttl.enabled()),
      key_offset_(ttl.enabled() ? 16 : 8),
      arena_(context.state_size) {}

ValueState::~ValueState() { Clear(); }

void ValueState::Clear() {
  size_->entries -= entries();
  size_->bytes -= kSlotBytes * table_.entries();
  unsettled_.clear();
  table_.Clear();
  arena_.Clear();
  swept_segment_ = 0;
  values_ = 0;
}

template <typename RowAt>
void ValueState::Prepare(const KeyBatch& keys, int count, const RowAt& row_at) {
  Settle();
  if (clocked_) now_ = ttl_.NowMillis();
  candidates_.resize(static_cast<size_t>(count));
  const uint64_t* const hashes = keys.hashes();
  for (int i = 0; i < count; ++i) table_.Prefetch(hashes[row_at(i)]);
  for (int i = 0; i < count; ++i) {
    HotTable::Slot* slot = table_.Candidate(hashes[row_at(i)]);
    candidates_[static_cast<size_t>(i)] = slot;
    if (slot != nullptr) {
      const char* block = arena_.At(HotTable::RefOf(*slot));
      __builtin_prefetch(block, 1);
      __builtin_prefetch(block + 64);
    } else {
      table_.PrefetchMiss(hashes[row_at(i)]);
    }
  }
}

void ValueState::Find(const KeyBatch& keys, std::vector<Entry>* entries) {
  Prepare(keys, keys.rows(), [](int i) { return i; });
  entries->resize(static_cast<size_t>(keys.rows()));
  for (int row = 0; row < keys.rows(); ++row) {
    const std::string_view key = keys.key(row);
    HotTable::Slot* slot = candidates_[static_cast<size_t>(row)];
    if (slot == nullptr || !Matches(HotTable::RefOf(*slot), key))
      slot = Lookup(key, keys.hash(row));
    Entry entry{slot};
    if (slot != nullptr) {
      if (clocked_) ExpireIfOld(entry);
      if (!Has(entry)) entry = {};
    }
    (*entries)[static_cast<size_t>(row)] = entry;
  }
  if (clocked_) SweepExpired(keys.rows());
}

void ValueState::FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries) {
  FindOrCreateAt(
      keys, keys.rows(), [](int i) { return i; }, [this](int) { return expected_bytes_; }, entries);
}

void ValueState::FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                              std::vector<Entry>* entries) {
  const int32_t* const listed = rows.data();
  FindOrCreateAt(
      keys, static_cast<int>(rows.size()), [listed](int i) { return listed[i]; },
      [this](int) { return expected_bytes_; }, entries);
}

void ValueState::FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                              std::span<const size_t> value_bytes, std::vector<Entry>* entries) {
  RT_DCHECK(rows.size() == value_bytes.size());
  const int32_t* const listed = rows.data();
  const size_t* const bytes = value_bytes.data();
  FindOrCreateAt(
      keys, static_cast<int>(rows.size()), [listed](int i) { return listed[i]; },
      [bytes](int i) { return bytes[i]; }, entries);
}

template <typename RowAt, typename BytesAt>
void ValueState::FindOrCreateAt(const KeyBatch& keys, int count, const RowAt& row_at,
                                const BytesAt& value_bytes_at, std::vector<Entry>* entries) {
  Prepare(keys, count, row_at);
  entries->resize(static_cast<size_t>(count));
  const uint64_t splits = table_.splits();
  for (int i = 0; i < count; ++i) {
    const std::string_view key = keys.key(row_at(i));
    HotTable::Slot* slot =
        table_.splits() == splits ? candidates_[static_cast<size_t>(i)] : nullptr;
    if (slot == nullptr || !Matches(HotTable::RefOf(*slot), key))
      slot = Lookup(key, keys.hash(row_at(i)));
    Entry entry{slot};
    if (slot == nullptr) {
      entry = Create(key, keys.hash(row_at(i)), value_bytes_at(i));
    } else if (clocked_) {
      ExpireIfOld(entry);
    }
    (*entries)[static_cast<size_t>(i)] = entry;
  }
  if (table_.splits() != splits) {
    // A split moved slots: what was found before it is looked up again.
    unsettled_.clear();
    for (int i = 0; i < count; ++i) {
      Entry& entry = (*entries)[static_cast<size_t>(i)];
      entry.slot = Lookup(keys.key(row_at(i)), keys.hash(row_at(i)));
      if (!Has(entry)) unsettled_.push_back(entry);
    }
  }
  // By the rows of the whole batch: they are what the sweep keeps up with.
  if (clocked_) SweepExpired(keys.rows());
}

Entry ValueState::FindOne(std::string_view key) {
  Settle();
  if (clocked_) now_ = ttl_.NowMillis();
  Entry entry{Lookup(key, HashBytes(key))};
  if (entry && clocked_) ExpireIfOld(entry);
  return entry && Has(entry) ? entry : Entry{};
}

Entry ValueState::Create(std::string_view key, uint64_t hash, size_t value_bytes) {
  const size_t bytes = key_offset_ + ((key.size() + 7) & ~size_t{7}) + value_bytes;
  const uint8_t size_class = Arena::ClassOf(bytes);
  const Arena::Ref ref = arena_.AllocateClass(size_class);
  Header* header = At(ref);
  header->key_size = static_cast<uint32_t>(key.size()) & kKeyBytesMax;
  header->size_class = size_class;
  header->value_size = kNoValue;
  if (clocked_) SetClock(header, now_);
  if (!key.empty())
    std::memcpy(reinterpret_cast<char*>(header) + key_offset_, key.data(), key.size());
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
  Header* old_header = At(old_ref);
  Header* header = At(ref);
  std::memcpy(static_cast<void*>(header), old_header, offset + kept);
  arena_.Free(old_ref, static_cast<uint8_t>(old_header->size_class));
  header->size_class = size_class;
  *entry.slot = HotTable::Moved(*entry.slot, ref);
  return header;
}

char* ValueState::Resize(Entry entry, size_t size) {
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

void ValueState::Forget() {
  for (const Entry entry : unsettled_) {
    if (*entry.slot <= HotTable::kErased) continue;  // erased twice in one batch
    Header* header = HeaderOf(entry);
    if (header->value_size != kNoValue) continue;
    const uint64_t hash = HashBytes(Key(entry));
    arena_.Free(HotTable::RefOf(*entry.slot), static_cast<uint8_t>(header->size_class));
    table_.Erase(entry.slot, hash);
    size_->bytes -= kSlotBytes;
  }
  unsettled_.clear();
}

void ValueState::ForEach(const std::function<void(Entry)>& visit) const {
  struct Found {
    uint64_t hash;
    std::string_view key;
    HotTable::Slot* slot;
  };
  std::vector<Found> found;
  for (size_t i = 0; i < table_.segments(); ++i) {
    found.clear();
    table_.VisitSegment(i, [&](HotTable::Slot* slot) {
      if (Has({slot})) found.push_back({HashBytes(Key({slot})), Key({slot}), slot});
    });
    std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.key < b.key;
    });
    for (const Found& entry : found) visit({entry.slot});
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
    if (entry) Assign(entry, value);
    return Status::Ok();
  });
}

void ValueState::SnapshotWith(
    SnapshotWriter& writer,
    const std::function<void(Entry entry, SnapshotWriter& writer)>& write) const {
  uint64_t entries = 0;
  for (size_t i = 0; i < table_.segments(); ++i) {
    table_.VisitSegment(i, [&](HotTable::Slot* slot) { entries += Has({slot}); });
  }
  writer.PutU64(entries);
  writer.PutU8(clocked_ ? 1 : 0);
  ForEach([&](Entry entry) {
    writer.PutBytes(Key(entry));
    if (clocked_) writer.PutI64(ClockOf(HeaderOf(entry)));
    write(entry, writer);
  });
}

// Where one side has no TTL, clocks are left out, or begin now.
Status ValueState::MergeWith(SnapshotReader& reader, const ReadValue& read) {
  if (clocked_) now_ = ttl_.NowMillis();
  RT_ASSIGN(const uint64_t entries, reader.U64("entries"));
  RT_ASSIGN(const uint8_t clocked, reader.U8("clocked"));
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

// Value state: key -> one entry of bytes, asked for all keys of a batch at once.
//
//   FindOrCreate(keys, &entries)   entries[i] is the entry of row i; equal keys share one
//   Has, Value, Assign, Erase ...  per entry, inline, no virtual call, no lookup
//   Settle()                       forgets what was created or erased and has no value now
//
//   entry   | key size: 24, size class: 8 | value size: u32 | [clock: i64] | key | pad | value |
//
// Entries stay put until the next Find, FindOrCreate or Settle; a value stays put until its own
// Assign or Resize. Values are 8-aligned. A keep-first entry of a 16-byte key takes 24 bytes and
// its share of an 8-byte slot. Restored, swept and snapshotted without regard to arrival: snapshots
// are in the order of (hash, key), so equal content gives equal bytes. One lane; not thread-safe.
//
// With a tier (state/state_tier.h) entries may lie below instead: the misses of a lookup become one
// MultiGet, and an entry has 8 more bytes behind its clock, which say whether it has changed since
// it was last written down (state/value_tier.cc). Snapshots then hold marked entries alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/key_group.h"
#include "engine/operator.h"
#include "state/arena.h"
#include "state/hot_table.h"
#include "state/key_codec.h"
#include "state/state_part.h"
#include "state/state_tier.h"
#include "state/ttl.h"

namespace rowtide {

// A place in a ValueState; false when Find did not find the key.
struct Entry {
  HotTable::Slot* slot = nullptr;
  explicit operator bool() const { return slot != nullptr; }
  friend bool operator==(Entry, Entry) = default;
};

class ValueState final : public StatePart, private TieredState, private ExpiringState {
 public:
  static constexpr uint32_t kNoValue = 0xffffffff;
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  // Counts into context.state_size and, with a TTL, into the counters `expired` and, where files
  // are rewritten without what has expired in them, `expired_below`.
  explicit ValueState(const OperatorContext& context) : ValueState(context, Ttl(context)) {}
  ValueState(const OperatorContext& context, Ttl ttl);
  ~ValueState() override;

  // Lookups fail only when the backend does.
  Status Find(const KeyBatch& keys, std::vector<Entry>* entries);
  // A new entry has no value until one is assigned.
  Status FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries);
  // Likewise; `valueless`: the rows whose entry has no value, so that the others, which are in the
  // cache here, need not be looked at a second time.
  Status FindOrCreate(const KeyBatch& keys, std::vector<Entry>* entries,
                      std::vector<int32_t>* valueless);
  // Of the listed rows alone: the first rows of KeyGroups, an entry a group.
  Status FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                      std::vector<Entry>* entries);
  // Likewise; the i-th entry, if it is new, gets room for a value of `value_bytes[i]` at once.
  Status FindOrCreate(const KeyBatch& keys, std::span<const int32_t> rows,
                      std::span<const size_t> value_bytes, std::vector<Entry>* entries);
  // New entries get room for a value of that size at once; else the first Assign moves them.
  void ExpectValues(size_t bytes) { expected_bytes_ = bytes; }

  bool Has(Entry entry) const { return HeaderOf(entry)->value_size != kNoValue; }
  // Requires: Has, for all that follow but Assign.
  std::string_view Value(Entry entry) const {
    const Header* header = HeaderOf(entry);
    return {ValueOf(header), header->value_size};
  }
  // The value's bytes, to be changed in place before anything else happens to the state.
  char* Data(Entry entry) {
    BeforeChange(entry);
    return ValueOf(HeaderOf(entry));
  }
  template <typename T>
  T* DataAs(Entry entry) {
    return reinterpret_cast<T*>(Data(entry));
  }
  template <typename T>
  const T& ValueAs(Entry entry) const {
    return *reinterpret_cast<const T*>(Value(entry).data());
  }
  std::string_view Key(Entry entry) const {
    const Header* header = HeaderOf(entry);
    return {KeyOf(header), header->key_size};
  }
  // Room for a value of `size` bytes instead of the old one, which is gone; moves the clock.
  char* Assign(Entry entry, size_t size) {
    BeforeChange(entry);
    Header* header = HeaderOf(entry);
    const size_t offset = ValueOffset(header);  // read before Move writes part of the same word
    if (header->value_size == kNoValue) CountValues(1);
    if (!Fits(header, size)) header = Move(entry, size, 0);
    header->value_size = static_cast<uint32_t>(size);
    if (clocked_) SetClock(header, now_);
    return reinterpret_cast<char*>(header) + offset;
  }
  // Requires: `value` lies outside this state.
  void Assign(Entry entry, std::string_view value) {
    char* to = Assign(entry, value.size());
    if (!value.empty()) std::memcpy(to, value.data(), value.size());
  }
  // --- marks: what belongs to the key is kept elsewhere for a while ---
  // A number below kMarksMax in the place of the value: it takes no bytes and does not expire. The
  // entry has a value then, but not one to be read. Numbers are small and each is used once at a
  // time.
  static constexpr uint32_t kMarksMax = 0x7fffffff;
  void SetMark(Entry entry, uint32_t number) {
    BeforeChange(entry);
    Header* header = HeaderOf(entry);
    if (header->value_size == kNoValue) CountValues(1);
    header->value_size = kMarkBit | number;
    if (tiered_) KeepMark(number, PlaceOf(entry));
    if (clocked_) SetClock(header, kForever);
  }
  bool IsMarked(Entry entry) const { return IsMark(HeaderOf(entry)->value_size); }
  // Requires: IsMarked.
  uint32_t Mark(Entry entry) const { return HeaderOf(entry)->value_size & ~kMarkBit; }
  // Where the entry lies. It stays there while it is marked, whatever happens to the table.
  Arena::Ref PlaceOf(Entry entry) const { return HotTable::RefOf(*entry.slot); }
  void PrefetchPlace(Arena::Ref place) const { __builtin_prefetch(At(place), 1); }
  std::string_view KeyAt(Arena::Ref place) const {
    const Header* header = At(place);
    return {KeyOf(header), header->key_size};
  }
  // The marked entry has an empty value from now on; moves the clock as of the last ReadClock.
  void EndMarkAt(Arena::Ref place) {
    if (tiered_) NoteChange(place);
    Header* header = At(place);
    header->value_size = 0;
    if (clocked_) SetClock(header, now_);
  }
  void ReadClock() {
    if (clocked_) now_ = ttl_.NowMillis();
  }

  // As Assign, keeping the value's first bytes; new bytes are not zeroed.
  char* Resize(Entry entry, size_t size);
  void Erase(Entry entry) {
    BeforeChange(entry);
    Header* header = HeaderOf(entry);
    header->value_size = kNoValue;
    CountValues(-1);
    unsettled_.push_back(entry);
  }
  void Touch(Entry entry) {
    if (!clocked_) return;
    BeforeChange(entry);
    SetClock(HeaderOf(entry), now_);
  }
  void Prefetch(Entry entry) const { __builtin_prefetch(HeaderOf(entry)); }
  // Fetches what lies behind the first line of the entry: for values of some 200 bytes that are
  // read in full.
  void PrefetchValue(Entry entry) const {
    const char* block = reinterpret_cast<const char*>(HeaderOf(entry));
    __builtin_prefetch(block + 64);
    __builtin_prefetch(block + 128);
    __builtin_prefetch(block + 192);
  }

  void Settle() {
    if (!unsettled_.empty()) Forget();
  }
  // Hands over memory for what values refer to: ordered rows live beside their entries.
  Arena& arena() { return arena_; }
  // Called with the value of an entry that expires or leaves memory, before it is forgotten.
  void OnForget(std::function<void(char* value)> forget) { forget_ = std::move(forget); }

  // What values must be, asked of all that come out of a snapshot or from below: they may have been
  // made by anybody.
  using CheckValue = std::function<Status(std::string_view value)>;
  void CheckValues(CheckValue check) { check_ = std::move(check); }

  // --- with a tier ---
  // Has to be called before what a value refers to changes, and is by all calls that change one.
  void BeforeChange(Entry entry) {
    if (tiered_) NoteChange(HotTable::RefOf(*entry.slot));
  }
  bool tiered() const { return tiered_; }
  // How values lie below that refer to more than their own bytes: `write` appends, `read` assigns.
  struct BelowForm {
    std::function<void(const char* value, std::string* to)> write;
    std::function<Status(std::string_view bytes, Entry entry)> read;
  };
  void SetBelowForm(BelowForm form) { form_ = std::move(form); }

  // Those in memory, in the order of (hash, key); `visit` must not change the state.
  void ForEach(const std::function<void(Entry)>& visit) const;
  // For a walk through all keys (state/key_walk.h): the tier, or null, and the table below.
  StateTier* tier() const { return tier_; }
  uint32_t table() const { return number_; }
  int64_t entries() const { return values_; }
  void Clear();

  void Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;
  // The same with values in a form of the caller's: `write(entry, writer)`, and `read(reader,
  // entry)` which assigns, or reads past the value when the entry is null: another lane's key.
  void SnapshotWith(SnapshotWriter& writer,
                    const std::function<void(Entry entry, SnapshotWriter& writer)>& write) const;
  using ReadValue = std::function<Status(SnapshotReader& reader, Entry entry)>;
  Status MergeWith(SnapshotReader& reader, const ReadValue& read);

 private:
  struct Header {
    uint32_t key_size : 24;
    uint32_t size_class : 8;
    uint32_t value_size;
  };
  static_assert(sizeof(Header) == 8, "the drawing above");
  static constexpr uint32_t kMarkBit = 0x80000000;  // of a value's size; values are shorter
  // An entry's share of the table, accounted as if it were half full.
  static constexpr int64_t kSlotBytes = 16;

  Header* HeaderOf(Entry entry) const { return At(HotTable::RefOf(*entry.slot)); }
  Header* At(Arena::Ref ref) const { return reinterpret_cast<Header*>(arena_.At(ref)); }
  const char* KeyOf(const Header* header) const {
    return reinterpret_cast<const char*>(header) + key_offset_;
  }
  size_t ValueOffset(const Header* header) const {
    return key_offset_ + ((header->key_size + 7u) & ~size_t{7});
  }
  char* ValueOf(Header* header) const {
    return reinterpret_cast<char*>(header) + ValueOffset(header);
  }
  const char* ValueOf(const Header* header) const {
    return reinterpret_cast<const char*>(header) + ValueOffset(header);
  }
  void CountValues(int64_t more) {
    values_ += more;
    size_->entries += more;
  }
  static int64_t ClockOf(const Header* header) {
    int64_t clock;
    std::memcpy(&clock, header + 1, sizeof(clock));
    return clock;
  }
  static void SetClock(Header* header, int64_t now) { std::memcpy(header + 1, &now, sizeof(now)); }
  // A smaller value stays where it is unless more than a quarter of the block would lie idle.
  bool Fits(const Header* header, size_t size) const {
    const size_t needed = ValueOffset(header) + size;
    const size_t room = Arena::BytesOf(static_cast<uint8_t>(header->size_class));
    return needed <= room && (needed + needed / 4 + 32 >= room);
  }
  bool Matches(Arena::Ref ref, std::string_view key) const {
    const Header* header = At(ref);
    return EqualKeys({KeyOf(header), header->key_size}, key);
  }
  HotTable::Slot* Lookup(std::string_view key, uint64_t hash) const {
    return table_.Find(hash, [&](Arena::Ref ref) { return Matches(ref, key); });
  }
  // Calls `settle(i, slot)` for the i-th of `count` rows, which is `row_at(i)`, in order; `slot`
  // may hold its key, or is null when nothing is known. What it looks at is in the cache by then.
  template <typename RowAt, typename SettleRow>
  void EachRow(const KeyBatch& keys, int count, const RowAt& row_at, const SettleRow& settle);
  // `value_bytes_at(i)`: the value that the i-th is to have room for, if it is new.
  // `see(i, entry)` is called for each one as soon as it is settled.
  template <typename RowAt, typename BytesAt, typename See>
  Status FindOrCreateAt(const KeyBatch& keys, int count, const RowAt& row_at,
                        const BytesAt& value_bytes_at, std::vector<Entry>* entries,
                        const See& see);
  Entry Create(std::string_view key, uint64_t hash, size_t value_bytes);
  Header* Move(Entry entry, size_t value_size, size_t kept);
  void ExpireIfOld(Entry entry);
  // With a TTL, each row of a batch pays for looking at so many slots for old entries, a segment at
  // a time: a table that is in use is swept in full again and again, and keys that never come back
  // do not stay for ever.
  static constexpr int kSweptSlotsPerRow = 4;
  void SweepExpired(int rows);
  // While no rows come, a segment at a time as well.
  void SweepSome() override;
  void EndRound();
  void Forget();
  void Release(HotTable::Slot* slot);
  static bool IsMark(uint32_t value_size) {
    return value_size >= kMarkBit && value_size != kNoValue;
  }
  // With a tier, in the order of (hash, key).
  std::vector<Entry> Marked() const;

  // --- with a tier: value_tier.cc ---
  // Lies in front of the key.
  struct Tracks {
    uint32_t place;   // in its list
    uint8_t list;     // 0: unchanged since it was written down or read; else of lists_[list - 1]
    bool is_below;    // the backend may hold the key
    bool referenced;  // since the hand came by
    uint8_t group;    // of the key
  };
  static_assert(sizeof(Tracks) == 8, "the offset of the key");
  Tracks* TracksOf(Header* header) const {
    return reinterpret_cast<Tracks*>(reinterpret_cast<char*>(header) + key_offset_) - 1;
  }
  std::vector<Arena::Ref>& ListOf(const Tracks& tracks) {
    return lists_[tracks.list - 1][tracks.group];
  }
  void NoteChange(Arena::Ref ref) {
    Header* const header = At(ref);
    if (IsMark(header->value_size)) marked_[header->value_size & ~kMarkBit] = 0;
    if (TracksOf(header)->list != changed_) NoteFirstChange(ref);
  }
  void KeepMark(uint32_t number, Arena::Ref place) {
    if (number >= marked_.size()) marked_.resize(number + 1);
    marked_[number] = place;
  }
  void NoteFirstChange(Arena::Ref ref);
  void CopyOut(Arena::Ref ref, StateRun* run);
  template <typename RowAt>
  Status ReadMisses(const KeyBatch& keys, int count, const RowAt& row_at);
  Status ReadMissing(const KeyBatch& keys);
  Status Enter(std::string_view key, uint64_t hash, std::string_view below);
  Result<bool> WarmEntry(std::string_view below, std::string_view value, int* left);
  void Freeze() override;
  Copied CopyFrozen(int64_t bytes_max, StateRun* run, int64_t run_bytes) override;
  void FrozenIsBelow() override;
  void ChooseVictims(int64_t bytes, StateRun* run) override;
  void DropVictims() override;
  Result<bool> WarmUp(int entries_max) override;
  void CountExpiredBelow() override;
  int64_t bytes() const override;

  StateSize* size_;
  KeyGroupRange key_groups_;
  int64_t* expired_;
  int64_t* expired_below_ = nullptr;  // with a tier and a TTL
  std::vector<ExpiringState*>* expiring_ = nullptr;  // with a TTL: where it is noted
  Ttl ttl_;
  bool clocked_;
  bool tiered_;
  bool complete_;        // all that is not in memory is not there
  uint8_t changed_ = 1;  // the list of what changes now; the other one is frozen
  uint32_t key_offset_;
  size_t expected_bytes_ = 0;
  size_t reach_ = 64;   // fetched in advance is an entry's first byte and this one
  int64_t now_ = 0;     // of the batch at hand
  int64_t values_ = 0;  // entries that have one
  Arena arena_;
  HotTable table_;
  std::vector<Entry> unsettled_;  // created or erased; those that still have no value are forgotten
  std::function<void(char* value)> forget_;
  CheckValue check_;  // none: they are any bytes
  size_t swept_segment_ = 0;
  int64_t sweep_credit_ = 0;
  // Of the sweep while no rows come.
  struct Round {
    int64_t now = 0;
    int64_t next = 0;            // not before that
    size_t segment = 0;          // to be looked at
    uint64_t splits = 0;         // of the table when it began: they move entries
    int64_t oldest = kForever;   // of those that were seen, and stay
  };
  Round round_;

  // --- with a tier ---
  StateTier* tier_;
  uint32_t number_ = 0;  // of the table below
  BelowForm form_;
  std::vector<std::vector<Arena::Ref>> lists_[2];  // changed entries by key group; 0 = no longer
  int64_t listed_ = 0;                             // in all of them
  size_t copied_groups_ = 0;                       // of the frozen lists
  size_t copied_ = 0;                              // in the next group
  std::vector<StateRun> early_;  // by key group: frozen entries that were about to change
  int64_t early_bytes_ = 0;
  std::vector<Arena::Ref> marked_;  // by the number of the mark; 0 = none has it
  bool enters_ = false;             // an entry is being read: that is no change
  std::vector<std::string> gone_;   // keys that were copied out as gone
  std::vector<HotTable::Slot*> victims_;
  size_t hand_ = 0;     // the segment where victims are looked for
  std::string warmed_;  // the last key that was read, below
  std::vector<int32_t> missing_;
  std::string below_keys_;
  std::string below_value_;
};

}  // namespace rowtide

// The limit of keep-last: per (bidder, auction) the bid with the latest dateTime, as a changelog
// with -U rows.
//
//   limit_keep_last BIDS.csv [parse | state]
//
// State: a slot per key that points to the row's script line, ready to be emitted again as -U.
#include <algorithm>

#include "tests/bench/limit/phases.h"

namespace rowtide::limit {
namespace {

struct Slot {  // empty while text is null
  uint64_t key;
  int64_t time;
  char* text;
  uint32_t text_bytes;
  uint32_t capacity;
};
static_assert(sizeof(Slot) == 32);

template <Phase kPhase>
class KeepLast {
 public:
  explicit KeepLast(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 2) - 1),
        slots_(reinterpret_cast<Slot*>(HugeBytes((mask_ + 1) * sizeof(Slot)))),
        texts_(rows_max * 512) {}

  void Work(const Bid* bids, int rows) {
    rows_ += static_cast<size_t>(rows);
    if constexpr (kPhase == Phase::kParse) return Parse(bids, rows);
    uint64_t keys[kBatchRows];
    Slot* slots[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      keys[i] = KeyOf(bids[i]);
      slots[i] = slots_ + (HashOf(keys[i]) & mask_);
      __builtin_prefetch(slots[i], 1);
    }
    for (int i = 0; i < rows; ++i) {
      slots[i] = Find(keys[i], slots[i]);
      if (slots[i]->text != nullptr) PrefetchText(slots[i]->text);
    }
    for (int i = 0; i < rows; ++i) Update(bids[i], keys[i], slots[i]);
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }
  unsigned long long parsed() const { return parsed_; }

 private:
  static uint64_t KeyOf(const Bid& bid) {
    return static_cast<uint64_t>(bid.auction()) << 32 | bid.bidder();
  }

  void Parse(const Bid* bids, int rows) {
    for (int i = 0; i < rows; ++i)
      parsed_ += KeyOf(bids[i]) ^ static_cast<uint64_t>(bids[i].time());
  }

  // The key's slot, or the one where it will be: a slot taken by the row before is walked over in
  // Update.
  Slot* Find(uint64_t key, Slot* slot) {
    while (slot->text != nullptr && slot->key != key)
      slot = slot + 1 == slots_ + mask_ + 1 ? slots_ : slot + 1;
    return slot;
  }

  void Update(const Bid& bid, uint64_t key, Slot* slot) {
    slot = Find(key, slot);
    const int64_t time = bid.time();
    unsigned kind = 0;
    if (slot->text != nullptr) {
      if (time < slot->time) return;
      slot->text[0] = '-';
      slot->text[1] = 'U';
      Emit(1, *slot);
      kind = 2;
    }
    Store(bid, key, time, slot);
    if (kind == 2) slot->text[1] = 'U';
    Emit(kind, *slot);
  }

  void Emit(unsigned kind, const Slot& slot) {
    if constexpr (kPhase == Phase::kOutput) sum_.Add(kind, {slot.text, slot.text_bytes});
  }

  void Store(const Bid& bid, uint64_t key, int64_t time, Slot* slot) {
    if (slot->text == nullptr && ++keys_ > mask_) Fail("more keys than expected");
    slot->key = key;
    slot->time = time;
    slot->text_bytes = bid.text_bytes();
    const uint32_t capacity = TextArena::Capacity(slot->text_bytes);
    if (capacity > slot->capacity) {
      slot->capacity = std::max<uint32_t>(capacity, 256);
      slot->text = texts_.Take(slot->capacity);
    }
    bid.WriteText(slot->text);
  }

  size_t mask_;
  Slot* slots_;
  TextArena texts_;
  ChecksumState sum_;
  size_t rows_ = 0;
  size_t keys_ = 0;
  unsigned long long parsed_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  _exit(RunPhase<KeepLast>(arguments, argument));
}

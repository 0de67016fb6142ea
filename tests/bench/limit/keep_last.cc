// The limit of keep-last: per (bidder, auction) the bid with the latest dateTime, as a changelog
// with -U rows.
//
//   limit_keep_last BIDS.csv
//
// State: a slot per key that points to the row's script line, ready to be emitted again as -U.
#include <algorithm>

#include "tests/bench/limit/bids.h"

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

class KeepLast {
 public:
  explicit KeepLast(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 2) - 1),
        slots_(reinterpret_cast<Slot*>(HugeBytes((mask_ + 1) * sizeof(Slot)))),
        texts_(rows_max * 512) {}

  void Work(const Bid* bids, int rows) {
    uint64_t keys[kBatchRows];
    Slot* slots[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      keys[i] = static_cast<uint64_t>(bids[i].auction()) << 32 | bids[i].bidder();
      slots[i] = slots_ + (HashOf(keys[i]) & mask_);
      __builtin_prefetch(slots[i], 1);
    }
    for (int i = 0; i < rows; ++i) {
      slots[i] = Find(keys[i], slots[i]);
      if (slots[i]->text != nullptr) PrefetchText(slots[i]->text);
    }
    for (int i = 0; i < rows; ++i) Update(bids[i], keys[i], slots[i]);
    rows_ += static_cast<size_t>(rows);
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }

 private:
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
      sum_.Add(1, {slot->text, slot->text_bytes});
      kind = 2;
    }
    Store(bid, key, time, slot);
    if (kind == 2) slot->text[1] = 'U';
    sum_.Add(kind, {slot->text, slot->text_bytes});
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
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  const auto start = std::chrono::steady_clock::now();
  if (arguments != 2) Fail("usage: limit_keep_last BIDS.csv");
  const BidFile file(argument[1]);
  KeepLast job(file.rows_max());
  file.ForEachBatch([&](const Bid* bids, int rows) { job.Work(bids, rows); });
  Report(job.sum(), job.rows(), start);
  _exit(std::fflush(stdout));
}

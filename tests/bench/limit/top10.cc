// The limit of Top-10 without the number: per auction the ten highest prices, ties in order of
// arrival.
//
//   limit_top10 BIDS.csv
//
// A row that enters a full group drives out the last of the worst: -D it, +I the new one. An equal
// price does not enter. State: a slot per auction with the price to beat, and ten entries that
// point to script lines.
#include <algorithm>

#include "tests/bench/limit/bids.h"

namespace rowtide::limit {
namespace {

constexpr int kTop = 10;

struct Entry {
  char* text;
  uint32_t price;
  uint16_t text_bytes;
  uint16_t capacity;
};
static_assert(sizeof(Entry) == 16);

struct Slot {      // empty while entries is null
  Entry* entries;  // best first
  uint32_t auction;
  uint32_t worst;
  int32_t count;
  int32_t unused;
};
static_assert(sizeof(Slot) == 24);

class Top10 {
 public:
  explicit Top10(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 4) - 1),
        slots_(reinterpret_cast<Slot*>(HugeBytes((mask_ + 1) * sizeof(Slot)))),
        entries_((mask_ + 1) * kTop * sizeof(Entry)),
        texts_(rows_max * 512) {}

  void Work(const Bid* bids, int rows) {
    uint32_t auctions[kBatchRows];
    uint32_t prices[kBatchRows];
    Slot* slots[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      auctions[i] = bids[i].auction();
      prices[i] = bids[i].price();
      slots[i] = slots_ + (HashOf(auctions[i]) & mask_);
      __builtin_prefetch(slots[i], 1);
    }
    for (int i = 0; i < rows; ++i) {
      slots[i] = FindOrCreate(auctions[i], slots[i]);
      if (!Rejects(*slots[i], prices[i])) {
        for (int line = 0; line < 3; ++line) __builtin_prefetch(slots[i]->entries + 4 * line, 1);
      }
    }
    for (int i = 0; i < rows; ++i) {
      const Slot& slot = *slots[i];
      if (slot.count == kTop && !Rejects(slot, prices[i]))
        PrefetchText(slot.entries[kTop - 1].text);
    }
    for (int i = 0; i < rows; ++i) {
      if (!Rejects(*slots[i], prices[i])) Enter(bids[i], prices[i], *slots[i]);
    }
    rows_ += static_cast<size_t>(rows);
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }

 private:
  static bool Rejects(const Slot& slot, uint32_t price) {
    return slot.count == kTop && price <= slot.worst;
  }

  Slot* FindOrCreate(uint32_t auction, Slot* slot) {
    while (slot->entries != nullptr && slot->auction != auction) {
      slot = slot + 1 == slots_ + mask_ + 1 ? slots_ : slot + 1;
    }
    if (slot->entries == nullptr) {
      if (++groups_ > mask_) Fail("more auctions than expected");
      slot->entries = reinterpret_cast<Entry*>(entries_.Take(kTop * sizeof(Entry)));
      slot->auction = auction;
    }
    return slot;
  }

  void Enter(const Bid& bid, uint32_t price, Slot& slot) {
    Entry entry{nullptr, price, static_cast<uint16_t>(bid.text_bytes()), 0};
    if (slot.count == kTop) {
      const Entry& evicted = slot.entries[--slot.count];
      evicted.text[0] = '-';
      evicted.text[1] = 'D';
      sum_.Add(3, {evicted.text, evicted.text_bytes});
      entry.text = evicted.text;
      entry.capacity = evicted.capacity;
    }
    const uint32_t capacity = TextArena::Capacity(entry.text_bytes);
    if (capacity > entry.capacity) {
      entry.capacity = static_cast<uint16_t>(std::max<uint32_t>(capacity, 256));
      entry.text = texts_.Take(entry.capacity);
    }
    bid.WriteText(entry.text);
    sum_.Add(0, {entry.text, entry.text_bytes});
    int place = slot.count++;
    for (; place > 0 && slot.entries[place - 1].price < price; --place)
      slot.entries[place] = slot.entries[place - 1];
    slot.entries[place] = entry;
    slot.worst = slot.entries[slot.count - 1].price;
  }

  size_t mask_;
  Slot* slots_;
  TextArena entries_;
  TextArena texts_;
  ChecksumState sum_;
  size_t rows_ = 0;
  size_t groups_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  const auto start = std::chrono::steady_clock::now();
  if (arguments != 2) Fail("usage: limit_top10 BIDS.csv");
  const BidFile file(argument[1]);
  Top10 job(file.rows_max());
  file.ForEachBatch([&](const Bid* bids, int rows) { job.Work(bids, rows); });
  Report(job.sum(), job.rows(), start);
  _exit(std::fflush(stdout));
}

// The limit of Top-10 with the number: per auction the ten highest prices and their places, ties in
// order of arrival.
//
//   limit_top10_ranked BIDS.csv
//
// A row that enters pushes every row behind it down by one: -U the old row of a place, +U its new
// one. State: a slot per auction with the price to beat, and ten entries that point to script lines
// as far as the comma before the number.
#include <algorithm>

#include "tests/bench/limit/bids.h"

namespace rowtide::limit {
namespace {

constexpr int kTop = 10;

struct Entry {
  char* text;
  uint32_t price;
  uint16_t text_bytes;  // without the number
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

class Top10Ranked {
 public:
  explicit Top10Ranked(size_t rows_max)
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
      if (Rejects(slot, prices[i])) continue;
      for (int j = slot.count; j > 0 && slot.entries[j - 1].price < prices[i]; --j)
        PrefetchText(slot.entries[j - 1].text);
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

  // Into the spare text, which the row that falls out of a full group leaves for the next one.
  Entry Store(const Bid& bid, uint32_t price) {
    const uint32_t bytes = bid.text_bytes() - 1;  // a comma instead of the bracket and the newline
    const uint32_t capacity = TextArena::Capacity(bytes + 4);
    Entry entry = spare_;
    spare_ = {};
    if (capacity > entry.capacity) {
      entry.capacity = static_cast<uint16_t>(std::max<uint32_t>(capacity, 256));
      entry.text = texts_.Take(entry.capacity);
    }
    entry.price = price;
    entry.text_bytes = static_cast<uint16_t>(bytes);
    bid.WriteText(entry.text);
    entry.text[bytes - 1] = ',';
    return entry;
  }

  void Enter(const Bid& bid, uint32_t price, Slot& slot) {
    int place = slot.count;
    while (place > 0 && slot.entries[place - 1].price < price) --place;
    Entry current = Store(bid, price);
    for (; place < slot.count; ++place) {
      Emit(1, slot.entries[place], place + 1);
      Emit(2, current, place + 1);
      std::swap(current, slot.entries[place]);
    }
    if (slot.count == kTop) {
      spare_ = current;
    } else {
      Emit(0, current, place + 1);
      slot.entries[slot.count++] = current;
    }
    slot.worst = slot.entries[slot.count - 1].price;
  }

  void Emit(unsigned kind, const Entry& entry, int number) {
    static constexpr char kKinds[] = "+I-U+U";
    std::memcpy(entry.text, kKinds + 2 * kind, 2);
    char* out = entry.text + entry.text_bytes;
    if (number == kTop) *out++ = '1';
    *out++ = static_cast<char>('0' + number % 10);
    std::memcpy(out, "]\n", 2);
    sum_.Add(kind, {entry.text, static_cast<size_t>(out + 2 - entry.text)});
  }

  size_t mask_;
  Slot* slots_;
  TextArena entries_;
  TextArena texts_;
  Entry spare_{};
  ChecksumState sum_;
  size_t rows_ = 0;
  size_t groups_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  const auto start = std::chrono::steady_clock::now();
  if (arguments != 2) Fail("usage: limit_top10_ranked BIDS.csv");
  const BidFile file(argument[1]);
  Top10Ranked job(file.rows_max());
  file.ForEachBatch([&](const Bid* bids, int rows) { job.Work(bids, rows); });
  Report(job.sum(), job.rows(), start);
  _exit(std::fflush(stdout));
}

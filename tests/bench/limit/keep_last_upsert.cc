// The limit of keep-last into a sink with a key: per (bidder, auction) the bid with the latest
// dateTime, +I for a new key and +U for a later bid, no -U.
//
//   limit_keep_last_upsert BIDS.csv
//
// Nothing is ever taken back, so a key's latest time is all that has to be remembered.
#include "tests/bench/limit/bids.h"

namespace rowtide::limit {
namespace {

struct Slot {  // empty while key is 0: ids begin at 1000
  uint64_t key;
  int64_t time;
};
static_assert(sizeof(Slot) == 16);

class KeepLastUpsert {
 public:
  explicit KeepLastUpsert(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 2) - 1),
        slots_(reinterpret_cast<Slot*>(HugeBytes((mask_ + 1) * sizeof(Slot)))) {}

  void Work(const Bid* bids, int rows) {
    uint64_t keys[kBatchRows];
    Slot* slots[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      keys[i] = static_cast<uint64_t>(bids[i].auction()) << 32 | bids[i].bidder();
      slots[i] = slots_ + (HashOf(keys[i]) & mask_);
      __builtin_prefetch(slots[i], 1);
    }
    for (int i = 0; i < rows; ++i) Update(bids[i], keys[i], slots[i]);
    rows_ += static_cast<size_t>(rows);
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }

 private:
  void Update(const Bid& bid, uint64_t key, Slot* slot) {
    while (slot->key != 0 && slot->key != key)
      slot = slot + 1 == slots_ + mask_ + 1 ? slots_ : slot + 1;
    const int64_t time = bid.time();
    const bool is_new = slot->key == 0;
    if (is_new && ++keys_ > mask_) Fail("more keys than expected");
    if (!is_new && time < slot->time) return;
    *slot = {key, time};
    char text[512];
    bid.WriteText(text);
    if (!is_new) text[1] = 'U';
    sum_.Add(is_new ? 0 : 2, {text, bid.text_bytes()});
  }

  size_t mask_;
  Slot* slots_;
  ChecksumState sum_;
  size_t rows_ = 0;
  size_t keys_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  const auto start = std::chrono::steady_clock::now();
  if (arguments != 2) Fail("usage: limit_keep_last_upsert BIDS.csv");
  const BidFile file(argument[1]);
  KeepLastUpsert job(file.rows_max());
  file.ForEachBatch([&](const Bid* bids, int rows) { job.Work(bids, rows); });
  Report(job.sum(), job.rows(), start);
  _exit(std::fflush(stdout));
}

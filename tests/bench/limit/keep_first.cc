// The limit of keep-first: per (bidder, auction) the bid with the earliest dateTime, insert-only.
//
//   limit_keep_first BIDS.csv [parse | state]
//
// It knows that time never goes backwards, and checks it: then a key's first row is its earliest,
// none is late, and the order in which watermarks let rows out is the order of the file.
#include <algorithm>

#include "tests/bench/limit/phases.h"

namespace rowtide::limit {
namespace {

template <Phase kPhase>
class KeepFirst {
 public:
  explicit KeepFirst(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 2) - 1),
        keys_(reinterpret_cast<uint64_t*>(HugeBytes((mask_ + 1) * sizeof(uint64_t)))) {}

  void Work(const Bid* bids, int rows) {
    rows_ += static_cast<size_t>(rows);
    if constexpr (kPhase == Phase::kParse) return Parse(bids, rows);
    uint64_t keys[kBatchRows];
    uint64_t* slots[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      // ids begin at 1000: never 0
      keys[i] = KeyOf(bids[i]);
      slots[i] = keys_ + (HashOf(keys[i]) & mask_);
      __builtin_prefetch(slots[i], 1);
    }
    for (int i = 0; i < rows; ++i) {
      const int64_t time = bids[i].time();
      if (time < last_time_) Fail("time goes backwards");
      last_time_ = time;
      if (!Insert(keys[i], slots[i]) || kPhase != Phase::kOutput) continue;
      char text[512];
      bids[i].WriteText(text);
      sum_.Add(0, {text, bids[i].text_bytes()});
    }
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

  bool Insert(uint64_t key, uint64_t* slot) {
    while (*slot != 0) {
      if (*slot == key) return false;
      slot = slot + 1 == keys_ + mask_ + 1 ? keys_ : slot + 1;
    }
    if (++count_ > mask_) Fail("more keys than expected");
    *slot = key;
    return true;
  }

  size_t mask_;
  uint64_t* keys_;
  ChecksumState sum_;
  size_t rows_ = 0;
  size_t count_ = 0;
  int64_t last_time_ = 0;
  unsigned long long parsed_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  _exit(RunPhase<KeepFirst>(arguments, argument));
}

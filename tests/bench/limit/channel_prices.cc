// The limit of a GROUP BY over keep-last: per channel COUNT(*), SUM, MIN and MAX of the prices of
// the bids that are the last of their (bidder, auction), as a changelog with -U rows.
//
//   limit_channel_prices BIDS.csv
//
// State: a slot per (bidder, auction) with what its last bid gave to its channel; per channel the
// sums, its row as a script line, and two heaps of prices. A price that is taken back stays in the
// heaps until it comes to the top: a bit per row of the file says whether it still counts.
#include <algorithm>
#include <charconv>
#include <functional>
#include <string>
#include <vector>

#include "tests/bench/limit/bids.h"

namespace rowtide::limit {
namespace {

struct Slot {  // empty while key is 0: ids begin at 1000
  uint64_t key;
  int64_t time;
  uint32_t price;
  uint32_t row;
  uint32_t channel;
  uint32_t unused;
};
static_assert(sizeof(Slot) == 32);

struct Channel {
  std::string name;
  int64_t count = 0;
  int64_t sum = 0;
  std::vector<uint64_t> lowest;  // heaps of price << 32 | row
  std::vector<uint64_t> highest;
  uint32_t text_bytes = 0;
  char text[120];
};

class ChannelPrices {
 public:
  explicit ChannelPrices(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 2) - 1),
        slots_(reinterpret_cast<Slot*>(HugeBytes((mask_ + 1) * sizeof(Slot)))),
        counts_((rows_max + 63) / 64),
        numbers_(kNames) {}

  void Work(const Bid* bids, int rows) {
    uint64_t keys[kBatchRows];
    Slot* slots[kBatchRows];
    uint32_t channels[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      keys[i] = static_cast<uint64_t>(bids[i].auction()) << 32 | bids[i].bidder();
      slots[i] = slots_ + (HashOf(keys[i]) & mask_);
      __builtin_prefetch(slots[i], 1);
    }
    for (int i = 0; i < rows; ++i) {
      channels[i] = ChannelOf(bids[i].marks[2] + 1, bids[i].marks[3]);
      __builtin_prefetch(&channels_[channels[i]], 1);
    }
    for (int i = 0; i < rows; ++i) Update(bids[i], keys[i], slots[i], channels[i]);
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }

 private:
  static constexpr size_t kNames = 1 << 16;  // of which some 10,000 are taken

  uint32_t ChannelOf(const char* begin, const char* end) {
    const std::string_view name(begin, static_cast<size_t>(end - begin));
    size_t at = XXH3_64bits(name.data(), name.size()) % kNames;
    while (numbers_[at] != 0 && channels_[numbers_[at] - 1].name != name) at = (at + 1) % kNames;
    if (numbers_[at] == 0) {
      if (channels_.size() == kNames / 2) Fail("more channels than expected");
      channels_.emplace_back().name = name;
      numbers_[at] = static_cast<uint32_t>(channels_.size());
    }
    return numbers_[at] - 1;
  }

  void Update(const Bid& bid, uint64_t key, Slot* slot, uint32_t channel) {
    while (slot->key != 0 && slot->key != key)
      slot = slot + 1 == slots_ + mask_ + 1 ? slots_ : slot + 1;
    const auto row = static_cast<uint32_t>(rows_++);
    const int64_t time = bid.time();
    if (slot->key != 0) {
      if (time < slot->time) return;
      Take(*slot);
    } else if (++keys_ > mask_) {
      Fail("more keys than expected");
    }
    *slot = {key, time, bid.price(), row, channel, 0};
    Give(*slot);
  }

  void Give(const Slot& bid) {
    Channel& channel = channels_[bid.channel];
    counts_[bid.row / 64] |= 1ull << bid.row % 64;
    ++channel.count;
    channel.sum += bid.price;
    const uint64_t entry = static_cast<uint64_t>(bid.price) << 32 | bid.row;
    channel.lowest.push_back(entry);
    std::push_heap(channel.lowest.begin(), channel.lowest.end(), std::greater<>());
    channel.highest.push_back(entry);
    std::push_heap(channel.highest.begin(), channel.highest.end());
    if (channel.count == 1) return EmitNew(channel, 0);
    EmitOld(channel, 1, "-U");
    EmitNew(channel, 2);
  }

  void Take(const Slot& bid) {
    Channel& channel = channels_[bid.channel];
    counts_[bid.row / 64] &= ~(1ull << bid.row % 64);
    --channel.count;
    channel.sum -= bid.price;
    if (channel.count == 0) {
      channel.lowest.clear();
      channel.highest.clear();
      return EmitOld(channel, 3, "-D");
    }
    DropStale(channel.lowest, std::greater<>());
    DropStale(channel.highest, std::less<>());
    EmitOld(channel, 1, "-U");
    EmitNew(channel, 2);
  }

  template <typename Order>
  void DropStale(std::vector<uint64_t>& heap, Order order) const {
    while (true) {
      const auto row = static_cast<uint32_t>(heap.front());
      if ((counts_[row / 64] >> row % 64 & 1) != 0) return;
      std::pop_heap(heap.begin(), heap.end(), order);
      heap.pop_back();
    }
  }

  void EmitOld(Channel& channel, unsigned kind, const char* text) {
    std::memcpy(channel.text, text, 2);
    sum_.Add(kind, {channel.text, channel.text_bytes});
  }

  void EmitNew(Channel& channel, unsigned kind) {
    char* out = channel.text;
    std::memcpy(out, kind == 0 ? "+I [\"" : "+U [\"", 5);
    out = std::copy(channel.name.begin(), channel.name.end(), out + 5);
    *out++ = '"';
    for (const int64_t value :
         {channel.count, channel.sum, static_cast<int64_t>(channel.lowest.front() >> 32),
          static_cast<int64_t>(channel.highest.front() >> 32)}) {
      *out++ = ',';
      out = std::to_chars(out, out + 20, value).ptr;
    }
    std::memcpy(out, "]\n", 2);
    channel.text_bytes = static_cast<uint32_t>(out + 2 - channel.text);
    sum_.Add(kind, {channel.text, channel.text_bytes});
  }

  size_t mask_;
  Slot* slots_;
  std::vector<uint64_t> counts_;   // a bit per row of the file
  std::vector<uint32_t> numbers_;  // hash table of names: place in channels_ plus 1
  std::vector<Channel> channels_;
  ChecksumState sum_;
  size_t rows_ = 0;
  size_t keys_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  const auto start = std::chrono::steady_clock::now();
  if (arguments != 2) Fail("usage: limit_channel_prices BIDS.csv");
  const BidFile file(argument[1]);
  ChannelPrices job(file.rows_max());
  file.ForEachBatch([&](const Bid* bids, int rows) { job.Work(bids, rows); });
  Report(job.sum(), job.rows(), start);
  _exit(std::fflush(stdout));
}

// The limit of Top-10 without the number: per auction the ten highest prices, ties in order of
// arrival.
//
//   limit_top10 BIDS.csv [parse | state]
//
// A row that enters a full group drives out the last of the worst: -D it, +I the new one. An equal
// price does not enter. State: a slot per auction with the price to beat, and ten entries that
// point to script lines.
#include "tests/bench/limit/top10.h"

namespace rowtide::limit {
namespace {

template <Phase kPhase>
class Top10 {
 public:
  explicit Top10(size_t rows_max) : groups_(rows_max), texts_(rows_max * 512) {}

  void Work(const Bid* bids, int rows) {
    rows_ += static_cast<size_t>(rows);
    if constexpr (kPhase == Phase::kParse) {
      parsed_ += Parsed(bids, rows);
      return;
    }
    groups_.Work(
        bids, rows,
        [](const Group& group, uint32_t /*price*/) {
          if (group.count == kTop) PrefetchText(group.entries[kTop - 1].text);
        },
        [this](const Bid& bid, uint32_t price, Group& group) { Enter(bid, price, group); });
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }
  unsigned long long parsed() const { return parsed_; }

 private:
  void Enter(const Bid& bid, uint32_t price, Group& group) {
    Entry entry{nullptr, price, static_cast<uint16_t>(bid.text_bytes()), 0};
    if (group.count == kTop) {
      const Entry& evicted = group.entries[--group.count];
      evicted.text[0] = '-';
      evicted.text[1] = 'D';
      Emit(3, evicted);
      entry.text = evicted.text;
      entry.capacity = evicted.capacity;
    }
    const uint32_t capacity = TextArena::Capacity(entry.text_bytes);
    if (capacity > entry.capacity) {
      entry.capacity = static_cast<uint16_t>(std::max<uint32_t>(capacity, 256));
      entry.text = texts_.Take(entry.capacity);
    }
    bid.WriteText(entry.text);
    Emit(0, entry);
    int place = group.count++;
    for (; place > 0 && group.entries[place - 1].price < price; --place)
      group.entries[place] = group.entries[place - 1];
    group.entries[place] = entry;
    group.worst = group.entries[group.count - 1].price;
  }

  void Emit(unsigned kind, const Entry& entry) {
    if constexpr (kPhase == Phase::kOutput) sum_.Add(kind, {entry.text, entry.text_bytes});
  }

  Groups groups_;
  TextArena texts_;
  ChecksumState sum_;
  size_t rows_ = 0;
  unsigned long long parsed_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  _exit(RunPhase<Top10>(arguments, argument));
}

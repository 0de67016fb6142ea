// The limit of Top-10 with the number: per auction the ten highest prices and their places, ties in
// order of arrival.
//
//   limit_top10_ranked BIDS.csv [parse | state]
//
// A row that enters pushes every row behind it down by one: -U the old row of a place, +U its new
// one. State: a slot per auction with the price to beat, and ten entries that point to script lines
// as far as the comma before the number.
#include "tests/bench/limit/top10.h"

namespace rowtide::limit {
namespace {

template <Phase kPhase>
class Top10Ranked {
 public:
  explicit Top10Ranked(size_t rows_max) : groups_(rows_max), texts_(rows_max * 512) {}

  void Work(const Bid* bids, int rows) {
    rows_ += static_cast<size_t>(rows);
    if constexpr (kPhase == Phase::kParse) {
      parsed_ += Parsed(bids, rows);
      return;
    }
    groups_.Work(
        bids, rows,
        [](const Group& group, uint32_t price) {
          for (int j = group.count; j > 0 && group.entries[j - 1].price < price; --j)
            PrefetchText(group.entries[j - 1].text);
        },
        [this](const Bid& bid, uint32_t price, Group& group) { Enter(bid, price, group); });
  }

  const ChecksumState& sum() const { return sum_; }
  size_t rows() const { return rows_; }
  unsigned long long parsed() const { return parsed_; }

 private:
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

  void Enter(const Bid& bid, uint32_t price, Group& group) {
    int place = group.count;
    while (place > 0 && group.entries[place - 1].price < price) --place;
    Entry current = Store(bid, price);
    for (; place < group.count; ++place) {
      Emit(1, group.entries[place], place + 1);
      Emit(2, current, place + 1);
      std::swap(current, group.entries[place]);
    }
    if (group.count == kTop) {
      spare_ = current;
    } else {
      Emit(0, current, place + 1);
      group.entries[group.count++] = current;
    }
    group.worst = group.entries[group.count - 1].price;
  }

  void Emit(unsigned kind, const Entry& entry, int number) {
    if constexpr (kPhase != Phase::kOutput) return;
    static constexpr char kKinds[] = "+I-U+U";
    std::memcpy(entry.text, kKinds + 2 * kind, 2);
    char* out = entry.text + entry.text_bytes;
    if (number == kTop) *out++ = '1';
    *out++ = static_cast<char>('0' + number % 10);
    std::memcpy(out, "]\n", 2);
    sum_.Add(kind, {entry.text, static_cast<size_t>(out + 2 - entry.text)});
  }

  Groups groups_;
  TextArena texts_;
  Entry spare_{};
  ChecksumState sum_;
  size_t rows_ = 0;
  unsigned long long parsed_ = 0;
};

}  // namespace
}  // namespace rowtide::limit

int main(int arguments, char** argument) {
  using namespace rowtide::limit;
  _exit(RunPhase<Top10Ranked>(arguments, argument));
}

// What both Top-10 programs share: per auction the price to beat and ten entries that point to
// script lines, best first, ties in order of arrival.
//
//   slot: 1007 | worst 310 | entries ──> 982 -> "+I [1007,…"   700 -> "+I …"   …   310 -> "+I …"
//
// A batch goes through in passes: slots, entries, the texts that will be touched, then the work. An
// equal price does not enter a full group.
#pragma once

#include <algorithm>

#include "tests/bench/limit/phases.h"

namespace rowtide::limit {

inline constexpr int kTop = 10;

struct Entry {
  char* text;
  uint32_t price;
  uint16_t text_bytes;
  uint16_t capacity;
};
static_assert(sizeof(Entry) == 16);

struct Group {     // empty while entries is null
  Entry* entries;  // best first
  uint32_t auction;
  uint32_t worst;
  int32_t count;
  int32_t unused;
};
static_assert(sizeof(Group) == 24);

class Groups {
 public:
  explicit Groups(size_t rows_max)
      : mask_(std::bit_ceil(rows_max / 4) - 1),
        groups_(reinterpret_cast<Group*>(HugeBytes((mask_ + 1) * sizeof(Group)))),
        entries_((mask_ + 1) * kTop * sizeof(Entry)) {}

  // Calls touch(group, price) for every bid that enters its group as it stands before the batch,
  // then enter(bid, price, group) for every one that enters.
  template <typename Touch, typename Enter>
  void Work(const Bid* bids, int rows, Touch touch, Enter enter) {
    uint32_t auctions[kBatchRows];
    uint32_t prices[kBatchRows];
    Group* groups[kBatchRows];
    for (int i = 0; i < rows; ++i) {
      auctions[i] = bids[i].auction();
      prices[i] = bids[i].price();
      groups[i] = groups_ + (HashOf(auctions[i]) & mask_);
      __builtin_prefetch(groups[i], 1);
    }
    for (int i = 0; i < rows; ++i) {
      groups[i] = FindOrCreate(auctions[i], groups[i]);
      if (!Rejects(*groups[i], prices[i])) {
        for (int line = 0; line < 3; ++line) __builtin_prefetch(groups[i]->entries + 4 * line, 1);
      }
    }
    for (int i = 0; i < rows; ++i) {
      if (!Rejects(*groups[i], prices[i])) touch(*groups[i], prices[i]);
    }
    for (int i = 0; i < rows; ++i) {
      if (!Rejects(*groups[i], prices[i])) enter(bids[i], prices[i], *groups[i]);
    }
  }

 private:
  static bool Rejects(const Group& group, uint32_t price) {
    return group.count == kTop && price <= group.worst;
  }

  Group* FindOrCreate(uint32_t auction, Group* group) {
    while (group->entries != nullptr && group->auction != auction) {
      group = group + 1 == groups_ + mask_ + 1 ? groups_ : group + 1;
    }
    if (group->entries == nullptr) {
      if (++count_ > mask_) Fail("more auctions than expected");
      group->entries = reinterpret_cast<Entry*>(entries_.Take(kTop * sizeof(Entry)));
      group->auction = auction;
    }
    return group;
  }

  size_t mask_;
  Group* groups_;
  TextArena entries_;
  size_t count_ = 0;
};

// What a Top-10 program reads of a bid.
inline unsigned long long Parsed(const Bid* bids, int rows) {
  unsigned long long sum = 0;
  for (int i = 0; i < rows; ++i) sum += bids[i].auction() ^ uint64_t{bids[i].price()} << 32;
  return sum;
}

}  // namespace rowtide::limit

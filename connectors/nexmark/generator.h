// Nexmark events as a pure function of (seed, event number): any range can be made by any worker,
// in any order, and gives the same bytes.
//
//   event e:   e mod 50     0        1..3      4..49
//                        person    auction      bid        (2 / 6 / 92 %)
//
// Ids start at 1000. Half of the bids go to one hot auction, three quarters come from one hot
// bidder, and both move on every 100 ids. Event time never goes backwards unless
// `out_of_order_group` is above 1. A generator holds the options and the table of channels only; it
// may be shared between threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rowtide {

struct NexmarkOptions {
  uint64_t seed = 42;
  // Event time of event 0: 2026-01-01 00:00:00 UTC.
  int64_t base_time_ms = 1767225600000;
  int64_t events_per_second = 10000;
  // How many generators share the rate; each is slower by that factor.
  int64_t generators = 1;
  // Events trade places within groups of this many.
  int64_t out_of_order_group = 1;
  // Nexmark's own head adds the first person id twice to bidders.
  bool bidder_base_twice = false;
};

enum class NexmarkKind : uint8_t { kPerson, kAuction, kBid };

struct NexmarkPerson {
  int64_t id;
  std::string name;
  std::string email;
  std::string credit_card;
  std::string city;
  std::string state;
  int64_t time_ms;
  std::string extra;
};

struct NexmarkAuction {
  int64_t id;
  std::string item_name;
  std::string description;
  int64_t initial_bid;
  int64_t reserve;
  int64_t time_ms;
  int64_t expires_ms;
  int64_t seller;
  int64_t category;
  std::string extra;
};

struct NexmarkBid {
  int64_t auction;
  int64_t bidder;
  int64_t price;
  // Views into the generator.
  std::string_view channel;
  std::string_view url;
  int64_t time_ms;
  std::string extra;
};

class NexmarkGenerator {
 public:
  explicit NexmarkGenerator(NexmarkOptions options);

  NexmarkKind KindOf(int64_t event) const;

  // Each requires that the event is of that kind.
  NexmarkPerson Person(int64_t event) const;
  NexmarkAuction Auction(int64_t event) const;
  NexmarkBid Bid(int64_t event) const;

  // Event time of an event, and the watermark that it allows (4 s behind).
  int64_t TimeMs(int64_t event) const;
  int64_t WatermarkMs(int64_t event) const { return TimeMs(event) - 4000; }

  // Writes one bid as a CSV line `auction,bidder,price,channel,url,dateTime,extra\n`; returns its
  // end. Requires: the event is a bid, and `out` has room for kBidCsvBytesMax.
  char* AppendBidCsv(int64_t event, char* out) const;
  static constexpr int kBidCsvBytesMax = 320;

 private:
  struct Channel {
    std::string csv;  // `name,url,`
    int name_bytes;
    std::string_view name() const { return std::string_view(csv).substr(0, name_bytes); }
    std::string_view url() const;
  };
  struct BidNumbers;

  int64_t NumberOf(int64_t event) const;
  BidNumbers DrawBid(int64_t event) const;

  NexmarkOptions options_;
  std::vector<Channel> channels_;  // four hot ones, then channel-0 …
};

}  // namespace rowtide

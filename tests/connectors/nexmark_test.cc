// The figures that the generator promises (connectors/nexmark/README.md), checked on fixed seeds.
#include "connectors/nexmark/generator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "connectors/nexmark/text.h"

namespace rowtide {
namespace {

constexpr int64_t kEvents = 500000;

const NexmarkGenerator& Generator() {
  static const NexmarkGenerator generator{NexmarkOptions{}};
  return generator;
}

std::string BidsCsv(const NexmarkGenerator& generator, int64_t first_event, int64_t count) {
  std::string csv;
  WriteNexmark(generator, NexmarkFormat::kCsv, {NexmarkKind::kBid, first_event, count},
               [&](std::string_view lines) {
                 csv += lines;
                 return true;
               });
  return csv;
}

// Within three standard deviations of a binomial share.
void ExpectShare(int64_t hits, int64_t tries, double share) {
  const double sigma = std::sqrt(share * (1 - share) / static_cast<double>(tries));
  EXPECT_NEAR(static_cast<double>(hits) / static_cast<double>(tries), share, 3 * sigma);
}

TEST(Nexmark, SharesOfKindsAreExact) {
  int64_t counts[3] = {0, 0, 0};
  for (int64_t event = 0; event < kEvents; ++event)
    ++counts[static_cast<int>(Generator().KindOf(event))];
  EXPECT_EQ(counts[0], kEvents / 50);
  EXPECT_EQ(counts[1], kEvents / 50 * 3);
  EXPECT_EQ(counts[2], kEvents / 50 * 46);
}

TEST(Nexmark, HotOnesTakeTheirShare) {
  int64_t bids = 0, hot_auction = 0, hot_bidder = 0, hot_channel = 0;
  for (int64_t event = kEvents; event < 2 * kEvents; ++event) {  // ids far from their beginning
    if (Generator().KindOf(event) != NexmarkKind::kBid) continue;
    const NexmarkBid bid = Generator().Bid(event);
    const int64_t last_auction = event / 50 * 3 + 2, last_person = event / 50;
    ++bids;
    // A cold bid meets the hot one by chance: once in 111 auctions (if it is among them) and 1,010
    // people.
    hot_auction += bid.auction == last_auction / 100 * 100 + 1000;
    hot_bidder += bid.bidder == last_person / 100 * 100 + 1 + 1000;
    hot_channel += bid.channel.substr(0, 8) != "channel-";
  }
  ExpectShare(hot_auction, bids, 0.5 + 0.5 / 111);
  ExpectShare(hot_bidder, bids, 0.75 + 0.25 / 1010);
  ExpectShare(hot_channel, bids, 0.5);
}

TEST(Nexmark, PricesAreUniformInTheirLogarithm) {
  std::vector<double> logs;
  for (int64_t event = 0; event < kEvents / 5; ++event) {
    if (Generator().KindOf(event) != NexmarkKind::kBid) continue;
    logs.push_back(std::log10(static_cast<double>(Generator().Bid(event).price)));
  }
  std::sort(logs.begin(), logs.end());
  double distance = 0;  // Kolmogorov-Smirnov against uniform(2, 8)
  const auto count = static_cast<double>(logs.size());
  for (size_t i = 0; i < logs.size(); ++i) {
    distance =
        std::max(distance, std::fabs((static_cast<double>(i) + 0.5) / count - (logs[i] - 2) / 6));
  }
  EXPECT_LT(distance, 1.63 / std::sqrt(count));  // 1 %
}

TEST(Nexmark, BidRowsAndKeys) {
  constexpr int64_t kBids = 2000000;
  int64_t bytes = 0;
  std::unordered_set<uint64_t> pairs, auctions;
  const NexmarkRange range{NexmarkKind::kBid, 0, kBids};
  WriteNexmark(Generator(), NexmarkFormat::kCsv, range, [&](std::string_view lines) {
    bytes += static_cast<int64_t>(lines.size());
    for (size_t begin = 0; begin < lines.size(); begin = lines.find('\n', begin) + 1) {
      char* end;
      const uint64_t auction = std::strtoull(lines.data() + begin, &end, 10);
      pairs.insert(auction << 32 | std::strtoull(end + 1, nullptr, 10));
      auctions.insert(auction);
    }
    return true;
  });
  const auto bids = static_cast<double>(kBids);
  EXPECT_NEAR(static_cast<double>(bytes) / bids, 186, 2);
  EXPECT_NEAR(static_cast<double>(pairs.size()) / bids, 0.319, 0.00319);
  EXPECT_NEAR(static_cast<double>(auctions.size()) / bids, 0.0652, 0.000652);
}

TEST(Nexmark, AnyRangeGivesTheSameBytes) {
  const std::string whole = BidsCsv(Generator(), 0, 1000);
  int64_t event = 0;
  std::string parts;
  for (int64_t count : {1, 99, 400, 500}) {
    event = WriteNexmark(Generator(), NexmarkFormat::kCsv, {NexmarkKind::kBid, event, count},
                         [&](std::string_view lines) {
                           parts += lines;
                           return true;
                         });
  }
  EXPECT_EQ(parts, whole);
  EXPECT_NE(BidsCsv(NexmarkGenerator(NexmarkOptions{.seed = 43}), 0, 1000), whole);
}

TEST(Nexmark, CsvHoldsTheBid) {
  const NexmarkBid bid = Generator().Bid(123456);
  std::string line(NexmarkGenerator::kBidCsvBytesMax, '\0');
  line.resize(static_cast<size_t>(Generator().AppendBidCsv(123456, line.data()) - line.data()));
  EXPECT_EQ(line, std::to_string(bid.auction) + "," + std::to_string(bid.bidder) + "," +
                      std::to_string(bid.price) + "," + std::string(bid.channel) + "," +
                      std::string(bid.url) + ",2026-01-01 00:00:12.345," + bid.extra + "\n");
  EXPECT_EQ(bid.time_ms, 1767225600000 + 12345);
  EXPECT_GE(bid.extra.size(), 54u);
  EXPECT_LE(bid.extra.size(), 81u);
}

TEST(Nexmark, PeopleAndAuctions) {
  size_t person_bytes = 0, auction_bytes = 0;
  for (int64_t epoch = 0; epoch < 1000; ++epoch) {
    const NexmarkPerson person = Generator().Person(50 * epoch);
    EXPECT_EQ(person.id, 1000 + epoch);
    EXPECT_EQ(person.credit_card.size(), 19u);
    person_bytes += 8 + person.name.size() + person.email.size() + person.credit_card.size() +
                    person.city.size() + person.state.size() + person.extra.size();
    for (int64_t slot = 1; slot <= 3; ++slot) {
      const NexmarkAuction auction = Generator().Auction(50 * epoch + slot);
      EXPECT_EQ(auction.id, 1000 + 3 * epoch + slot - 1);
      EXPECT_GT(auction.expires_ms, auction.time_ms);
      EXPECT_GT(auction.reserve, auction.initial_bid);
      EXPECT_TRUE(auction.category >= 10 && auction.category < 15);
      EXPECT_LT(auction.seller, person.id + 11);
      auction_bytes +=
          56 + auction.item_name.size() + auction.description.size() + auction.extra.size();
    }
  }
  EXPECT_NEAR(static_cast<double>(person_bytes) / 1000, 200, 5);
  EXPECT_NEAR(static_cast<double>(auction_bytes) / 3000, 500, 10);
}

TEST(Nexmark, OutOfOrderGroupsOnlyTradePlaces) {
  const NexmarkGenerator shuffled(NexmarkOptions{.out_of_order_group = 100});
  std::vector<int64_t> times, ordered;
  bool goes_backwards = false;
  for (int64_t event = 0; event < 10000; ++event) {
    times.push_back(shuffled.TimeMs(event));
    ordered.push_back(Generator().TimeMs(event));
    goes_backwards |= event > 0 && times[static_cast<size_t>(event) - 1] > times.back();
  }
  EXPECT_TRUE(goes_backwards);
  std::sort(times.begin(), times.end());
  EXPECT_EQ(times, ordered);
}

}  // namespace
}  // namespace rowtide

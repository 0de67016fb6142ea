#include "connectors/nexmark/generator.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace rowtide {
namespace {

constexpr int64_t kEventsPerEpoch = 50;
constexpr int64_t kAuctionsPerEpoch = 3;
constexpr int64_t kFirstId = 1000;
constexpr int64_t kFirstCategory = 10;
constexpr int64_t kCategories = 5;
constexpr int64_t kAuctionsInFlight = 100;
constexpr int64_t kAuctionIdLead = 10;
constexpr int64_t kActivePeople = 1000;
constexpr int64_t kPersonIdLead = 10;
constexpr int64_t kHotEvery = 100;
constexpr int kHotChannels = 4;
constexpr int kColdChannels = 10000;
constexpr int kPersonBytes = 200;
constexpr int kAuctionBytes = 500;
constexpr int kBidBytes = 100;

constexpr const char* kFirstNames[] = {"Peter", "Paul",  "Luke",  "John",   "Saul",  "Vicky",
                                       "Kate",  "Julie", "Sarah", "Deiter", "Walter"};
constexpr const char* kLastNames[] = {"Shultz", "Abrams", "Spencer", "White", "Bartels",
                                      "Walton", "Smith",  "Jones",   "Noris"};
constexpr const char* kCities[] = {"Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland",
                                   "Bend",    "Redmond",     "Seattle",       "Kent",  "Cheyenne"};
constexpr const char* kStates[] = {"AZ", "CA", "ID", "OR", "WA", "WY"};
constexpr const char* kHotChannelNames[kHotChannels] = {"Google", "Facebook", "Baidu", "Apple"};

// SplitMix64, started from (seed, event): one multiply-xorshift chain per draw.
class Random {
 public:
  Random(uint64_t seed, uint64_t event) : state_(Mix(seed * kOdd + 1) ^ Mix(event * kGolden)) {}

  uint64_t Next() { return Mix(state_ += kGolden); }

  // Uniform in [0, bound).
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(
        (static_cast<unsigned __int128>(Next()) * static_cast<uint64_t>(bound)) >> 64);
  }

  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

  // Uniform in the logarithm from 100 to 100,000,000 cents.
  int64_t Price() { return std::llround(std::pow(10.0, Unit() * 6.0) * 100.0); }

  // 3 to `max_bytes` - 1 letters, some of them `filler`. A blank filler is trimmed at both ends.
  std::string Text(int max_bytes, char filler) {
    std::string text(static_cast<size_t>(3 + Below(max_bytes - 3)), filler);
    for (char& c : text) {
      if (Below(13) != 0) c = static_cast<char>('a' + Below(26));
    }
    if (filler != ' ') return text;
    const size_t begin = text.find_first_not_of(' ');
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
  }

  // Letters only, eight a draw. Writes up to seven bytes behind the end.
  char* Letters(int bytes, char* out) {
    for (int i = 0; i < bytes; i += 8) {
      const uint64_t draw = Next();
      for (int j = 0; j < 8; ++j) {
        out[i + j] = static_cast<char>('a' + ((((draw >> (8 * j)) & 0xff) * 26) >> 8));
      }
    }
    return out + bytes;
  }

  // How many letters bring a record of `bytes` to `average`, give or take a fifth.
  int ExtraBytes(int bytes, int average) {
    const int missing = average - bytes;
    if (missing < 0) return 0;
    const int delta = static_cast<int>(std::lround(missing * 0.2));
    return missing - delta + (delta == 0 ? 0 : static_cast<int>(Below(2 * delta)));
  }

  std::string Extra(size_t bytes, int average) {
    const int count = ExtraBytes(static_cast<int>(bytes), average);
    std::string extra(static_cast<size_t>(count) + 8, '\0');
    Letters(count, extra.data());
    extra.resize(static_cast<size_t>(count));
    return extra;
  }

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  static constexpr uint64_t kOdd = 0xd1342543de82ef95;

  static uint64_t Mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  uint64_t state_;
};

// Ids without the base. On a person's slot the auctions of its epoch do not exist yet.
int64_t LastPerson(int64_t number) { return number / kEventsPerEpoch; }

int64_t LastAuction(int64_t number) {
  const int64_t epoch = number / kEventsPerEpoch;
  const int64_t slot = number % kEventsPerEpoch;
  if (slot == 0) return kAuctionsPerEpoch * (epoch - 1) + kAuctionsPerEpoch - 1;
  return kAuctionsPerEpoch * epoch + std::min(slot, kAuctionsPerEpoch) - 1;
}

int64_t HotId(int64_t last) { return last / kHotEvery * kHotEvery; }

int64_t ColdPerson(int64_t last, Random& random) {
  const int64_t active = std::min(last + 1, kActivePeople);
  return last + 1 - active + random.Below(active + kPersonIdLead);
}

int64_t ColdAuction(int64_t last, Random& random) {
  const int64_t first = std::max<int64_t>(last - kAuctionsInFlight, 0);
  return first + random.Below(last - first + 1 + kAuctionIdLead);
}

std::string BaseUrl(Random& random) {
  std::string url = "https://www.nexmark.com/";
  for (int i = 0; i < 3; ++i) url += random.Text(5, '_') + "/";
  return url + "item.htm?query=1";
}

uint32_t ReverseBits(uint32_t x) {
  uint32_t reversed = 0;
  for (int i = 0; i < 32; ++i, x >>= 1) reversed = reversed << 1 | (x & 1);
  return reversed;
}

char* AppendDigits(uint64_t value, int digits, char* out) {
  for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
  return out + digits;
}

char* AppendNumber(int64_t value, char* out) { return std::to_chars(out, out + 20, value).ptr; }

// Howard Hinnant's days-to-civil.
char* AppendDate(int64_t days, char* out) {
  days += 719468;
  const int64_t era = days / 146097;
  const uint64_t doe = static_cast<uint64_t>(days - era * 146097);
  const uint64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const uint64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const uint64_t mp = (5 * doy + 2) / 153;
  const uint64_t month = mp < 10 ? mp + 3 : mp - 9;
  out = AppendDigits(yoe + static_cast<uint64_t>(era) * 400 + (month <= 2), 4, out);
  *out++ = '-';
  out = AppendDigits(month, 2, out);
  *out++ = '-';
  return AppendDigits(doy - (153 * mp + 2) / 5 + 1, 2, out);
}

// `yyyy-MM-dd HH:mm:ss.SSS`
char* AppendTime(int64_t time_ms, char* out) {
  const auto in_day = static_cast<uint64_t>(time_ms % 86400000);
  out = AppendDate(time_ms / 86400000, out);
  *out++ = ' ';
  out = AppendDigits(in_day / 3600000, 2, out);
  *out++ = ':';
  out = AppendDigits(in_day / 60000 % 60, 2, out);
  *out++ = ':';
  out = AppendDigits(in_day / 1000 % 60, 2, out);
  *out++ = '.';
  return AppendDigits(in_day % 1000, 3, out);
}

}  // namespace

struct NexmarkGenerator::BidNumbers {
  int64_t auction;
  int64_t bidder;
  int64_t price;
  int channel;
  int extra_bytes;
  int64_t time_ms;
  Random random;  // goes on with the extra text
};

std::string_view NexmarkGenerator::Channel::url() const {
  return std::string_view(csv).substr(name_bytes + 1, csv.size() - name_bytes - 2);
}

NexmarkGenerator::NexmarkGenerator(NexmarkOptions options) : options_(options) {
  channels_.reserve(kHotChannels + kColdChannels);
  for (int i = 0; i < kHotChannels + kColdChannels; ++i) {
    Random random(~options_.seed, static_cast<uint64_t>(i));
    const int cold = i - kHotChannels;
    const std::string name = cold < 0 ? kHotChannelNames[i] : "channel-" + std::to_string(cold);
    std::string url = BaseUrl(random);
    // As in Nexmark, one in ten of the cold channels keeps its id out of the url.
    if (cold >= 0 && random.Below(10) > 0) {
      const int64_t reversed = static_cast<int32_t>(ReverseBits(static_cast<uint32_t>(cold)));
      url += "&channel_id=" + std::to_string(std::abs(reversed));
    }
    channels_.push_back({name + "," + url + ",", static_cast<int>(name.size())});
  }
}

// The place of an event in the order of its ids and times.
int64_t NexmarkGenerator::NumberOf(int64_t event) const {
  const int64_t n = options_.out_of_order_group;
  return n <= 1 ? event : event / n * n + event * 953 % n;
}

NexmarkKind NexmarkGenerator::KindOf(int64_t event) const {
  const int64_t slot = NumberOf(event) % kEventsPerEpoch;
  if (slot == 0) return NexmarkKind::kPerson;
  return slot <= kAuctionsPerEpoch ? NexmarkKind::kAuction : NexmarkKind::kBid;
}

int64_t NexmarkGenerator::TimeMs(int64_t event) const {
  const auto micros = static_cast<__int128>(NumberOf(event)) * 1000000 * options_.generators /
                      options_.events_per_second;
  return options_.base_time_ms + static_cast<int64_t>(micros / 1000);
}

NexmarkPerson NexmarkGenerator::Person(int64_t event) const {
  const int64_t number = NumberOf(event);
  Random random(options_.seed, static_cast<uint64_t>(number));
  NexmarkPerson person;
  person.id = LastPerson(number) + kFirstId;
  person.name = kFirstNames[random.Below(std::size(kFirstNames))];
  person.name += std::string(" ") + kLastNames[random.Below(std::size(kLastNames))];
  person.email = random.Text(7, ' ') + "@" + random.Text(5, ' ') + ".com";
  for (int i = 0; i < 4; ++i) {
    char digits[4];
    AppendDigits(static_cast<uint64_t>(random.Below(10000)), 4, digits);
    if (i > 0) person.credit_card += ' ';
    person.credit_card.append(digits, 4);
  }
  person.city = kCities[random.Below(std::size(kCities))];
  person.state = kStates[random.Below(std::size(kStates))];
  person.time_ms = TimeMs(event);
  person.extra =
      random.Extra(8 + person.name.size() + person.email.size() + person.credit_card.size() +
                       person.city.size() + person.state.size(),
                   kPersonBytes);
  return person;
}

NexmarkAuction NexmarkGenerator::Auction(int64_t event) const {
  const int64_t number = NumberOf(event);
  Random random(options_.seed, static_cast<uint64_t>(number));
  const int64_t last_person = LastPerson(number);
  NexmarkAuction auction;
  auction.id = LastAuction(number) + kFirstId;
  auction.item_name = random.Text(20, ' ');
  auction.description = random.Text(100, ' ');
  auction.initial_bid = random.Price();
  auction.reserve = auction.initial_bid + random.Price();
  auction.seller =
      kFirstId + (random.Below(4) > 0 ? HotId(last_person) : ColdPerson(last_person, random));
  auction.category = kFirstCategory + random.Below(kCategories);
  auction.time_ms = TimeMs(event);
  // An auction is open for about as long as it takes to start all the others in flight.
  const int64_t events = kAuctionsInFlight * kEventsPerEpoch / kAuctionsPerEpoch;
  const int64_t horizon_ms =
      events * 1000 * options_.generators / options_.events_per_second;
  auction.expires_ms = auction.time_ms + 1 + random.Below(std::max<int64_t>(2 * horizon_ms, 1));
  auction.extra =
      random.Extra(8 + auction.item_name.size() + auction.description.size() + 48, kAuctionBytes);
  return auction;
}

NexmarkGenerator::BidNumbers NexmarkGenerator::DrawBid(int64_t event) const {
  const int64_t number = NumberOf(event);
  BidNumbers bid{0, 0, 0, 0, 0, 0, Random(options_.seed, static_cast<uint64_t>(number))};
  Random& random = bid.random;
  const int64_t last_auction = LastAuction(number);
  const int64_t last_person = LastPerson(number);
  bid.auction =
      kFirstId + (random.Below(2) > 0 ? HotId(last_auction) : ColdAuction(last_auction, random));
  bid.bidder =
      kFirstId + (random.Below(4) > 0 ? HotId(last_person) + 1 : ColdPerson(last_person, random));
  if (options_.bidder_base_twice) bid.bidder += kFirstId;
  bid.price = random.Price();
  bid.channel = static_cast<int>(random.Below(2) > 0 ? random.Below(kHotChannels)
                                                      : kHotChannels + random.Below(kColdChannels));
  bid.extra_bytes = random.ExtraBytes(32, kBidBytes);
  bid.time_ms = TimeMs(event);
  return bid;
}

NexmarkBid NexmarkGenerator::Bid(int64_t event) const {
  BidNumbers drawn = DrawBid(event);
  char extra[128];
  const char* end = drawn.random.Letters(drawn.extra_bytes, extra);
  const Channel& channel = channels_[static_cast<size_t>(drawn.channel)];
  return {drawn.auction,
          drawn.bidder,
          drawn.price,
          channel.name(),
          channel.url(),
          drawn.time_ms,
          std::string(extra, static_cast<size_t>(end - extra))};
}

char* NexmarkGenerator::AppendBidCsv(int64_t event, char* out) const {
  BidNumbers bid = DrawBid(event);
  out = AppendNumber(bid.auction, out);
  *out++ = ',';
  out = AppendNumber(bid.bidder, out);
  *out++ = ',';
  out = AppendNumber(bid.price, out);
  *out++ = ',';
  const std::string& channel = channels_[static_cast<size_t>(bid.channel)].csv;
  std::memcpy(out, channel.data(), channel.size());
  out = AppendTime(bid.time_ms, out + channel.size());
  *out++ = ',';
  out = bid.random.Letters(bid.extra_bytes, out);
  *out++ = '\n';
  return out;
}

}  // namespace rowtide

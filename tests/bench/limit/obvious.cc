// The obvious program for each of the jobs: strings, maps, one row at a time, straight from the
// definition. The limit programs must print what it prints, and beat it clearly.
//
//   limit_obvious JOB BIDS.csv      keep_last, keep_last_upsert, keep_first, top10, top10_ranked,
//                                   channel_prices
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "connectors/checksum_hash.h"

namespace {

using rowtide::ChecksumState;
using Fields = std::vector<std::string>;  // auction, bidder, price, channel, url, dateTime, extra

ChecksumState sum;

void EmitText(unsigned kind, const std::string& values) {
  static const char* const kKinds[] = {"+I", "-U", "+U", "-D"};
  sum.Add(kind, std::string(kKinds[kind]) + " [" + values + "]\n");
}

std::string TextOf(const Fields& row) {
  std::string text = row[0] + "," + row[1] + "," + row[2];
  for (size_t i = 3; i < row.size(); ++i) text += ",\"" + row[i] + "\"";
  return text;
}

void Emit(unsigned kind, const Fields& row) { EmitText(kind, TextOf(row)); }

Fields Split(const std::string& line) {
  Fields fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::string KeyOf(const Fields& row) { return row[1] + "," + row[0]; }

struct KeepLast {
  std::unordered_map<std::string, Fields> kept;

  void Add(const Fields& row) {
    const auto [entry, is_new] = kept.try_emplace(KeyOf(row), row);
    if (is_new) return Emit(0, row);
    if (row[5] < entry->second[5]) return;
    Emit(1, entry->second);
    Emit(2, row);
    entry->second = row;
  }
  void End() {}
};

// Emits at watermarks, four seconds behind the latest row of every 1,024; in order of time, then of
// the key's arrival.
struct KeepFirst {
  struct Waiting {
    Fields row;
    size_t arrival;
  };
  std::unordered_map<std::string, Waiting> waiting;
  std::unordered_map<std::string, bool> emitted;
  std::map<std::pair<std::string, size_t>, std::string> timers;
  std::string latest, watermark;
  size_t rows = 0;

  // The text of a time four seconds earlier. Requires: it stays within the day.
  static std::string FourSecondsBefore(std::string time) {
    int seconds = std::stoi(time.substr(11, 2)) * 3600 + std::stoi(time.substr(14, 2)) * 60 +
                  std::stoi(time.substr(17, 2)) - 4;
    if (seconds < 0) return "";
    char text[16];
    std::snprintf(text, sizeof text, "%02u:%02u:%02u", unsigned(seconds) / 3600 % 100,
                  unsigned(seconds) / 60 % 60, unsigned(seconds) % 60);
    return time.replace(11, 8, text);
  }

  void Add(const Fields& row) {
    const std::string key = KeyOf(row);
    const std::string& time = row[5];
    if (time >= watermark && !emitted.count(key)) {
      const auto [entry, is_new] = waiting.try_emplace(key, Waiting{row, rows});
      if (!is_new && time < entry->second.row[5]) {
        timers.erase({entry->second.row[5], entry->second.arrival});
        entry->second.row = row;
      }
      timers[{entry->second.row[5], entry->second.arrival}] = key;
    }
    latest = std::max(latest, time);
    if (++rows % 1024 == 0) Advance(watermark = std::max(watermark, FourSecondsBefore(latest)));
  }
  void Advance(const std::string& time) {
    while (!timers.empty() && timers.begin()->first.first <= time) {
      const std::string key = timers.begin()->second;
      timers.erase(timers.begin());
      Emit(0, waiting.at(key).row);
      waiting.erase(key);
      emitted[key] = true;
    }
  }
  void End() { Advance("9999"); }
};

struct Top10 {
  std::unordered_map<std::string, std::multimap<int64_t, Fields, std::greater<>>> groups;

  void Add(const Fields& row) {
    auto& group = groups[row[0]];
    const int64_t price = std::stoll(row[2]);
    if (group.size() == 10) {
      const auto worst = std::prev(group.end());
      if (price <= worst->first) return;
      Emit(3, worst->second);
      group.erase(worst);
    }
    Emit(0, row);
    group.emplace(price, row);  // behind those of equal price
  }
  void End() {}
};

struct KeepLastUpsert {
  std::unordered_map<std::string, std::string> times;

  void Add(const Fields& row) {
    const auto [entry, is_new] = times.try_emplace(KeyOf(row), row[5]);
    if (!is_new && row[5] < entry->second) return;
    entry->second = row[5];
    Emit(is_new ? 0 : 2, row);
  }
  void End() {}
};

// Compares the ten before and the ten after, place by place.
struct Top10Ranked {
  std::unordered_map<std::string, std::vector<Fields>> groups;

  void Add(const Fields& row) {
    auto& group = groups[row[0]];
    std::vector<Fields> after = group;
    const int64_t price = std::stoll(row[2]);
    const auto behind = [&](const Fields& other) { return std::stoll(other[2]) < price; };
    after.insert(std::find_if(after.begin(), after.end(), behind), row);
    if (after.size() > 10) after.resize(10);
    for (size_t i = 0; i < after.size(); ++i) {
      const std::string number = "," + std::to_string(i + 1);
      if (i >= group.size()) {
        EmitText(0, TextOf(after[i]) + number);
      } else if (after[i] != group[i]) {
        EmitText(1, TextOf(group[i]) + number);
        EmitText(2, TextOf(after[i]) + number);
      }
    }
    group = std::move(after);
  }
  void End() {}
};

// A channel's row is told whenever a bid comes to it or leaves it.
struct ChannelPrices {
  struct Channel {
    std::multiset<int64_t> prices;
    int64_t sum = 0;

    void Add(int64_t price) {
      prices.insert(price);
      sum += price;
    }
    void Remove(int64_t price) {
      prices.erase(prices.find(price));
      sum -= price;
    }
    // Empty without bids.
    std::string RowOf(const std::string& name) const {
      if (prices.empty()) return "";
      return "\"" + name + "\"," + std::to_string(prices.size()) + "," + std::to_string(sum) + "," +
             std::to_string(*prices.begin()) + "," + std::to_string(*prices.rbegin());
    }
  };
  std::unordered_map<std::string, Fields> kept;
  std::unordered_map<std::string, Channel> channels;

  void Add(const Fields& row) {
    const auto [entry, is_new] = kept.try_emplace(KeyOf(row), row);
    if (!is_new && row[5] < entry->second[5]) return;
    if (!is_new) Change(entry->second, &Channel::Remove);
    entry->second = row;
    Change(row, &Channel::Add);
  }
  void End() {}

  void Change(const Fields& row, void (Channel::*change)(int64_t)) {
    Channel& channel = channels[row[3]];
    const std::string before = channel.RowOf(row[3]);
    (channel.*change)(std::stoll(row[2]));
    const std::string after = channel.RowOf(row[3]);
    if (before.empty()) return EmitText(0, after);
    if (after.empty()) return EmitText(3, before);
    EmitText(1, before);
    EmitText(2, after);
  }
};

template <typename Job>
int Run(const char* path) {
  std::ifstream file(path);
  Job job;
  size_t rows = 0;
  for (std::string line; std::getline(file, line); ++rows) job.Add(Split(line));
  job.End();
  std::cout << sum.Text() << "\nrows=" << rows << "\n";
  return rows > 0 ? 0 : 1;
}

}  // namespace

int main(int arguments, char** argument) {
  const std::string job = arguments == 3 ? argument[1] : "";
  if (job == "keep_last") return Run<KeepLast>(argument[2]);
  if (job == "keep_last_upsert") return Run<KeepLastUpsert>(argument[2]);
  if (job == "keep_first") return Run<KeepFirst>(argument[2]);
  if (job == "top10") return Run<Top10>(argument[2]);
  if (job == "top10_ranked") return Run<Top10Ranked>(argument[2]);
  if (job == "channel_prices") return Run<ChannelPrices>(argument[2]);
  std::cerr << "usage: limit_obvious JOB BIDS.csv\n";
  return 2;
}

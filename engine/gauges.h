// Numbers that sources and sinks know besides what is counted for them: the lag of a partition, the
// messages that wait in a client's queue. Whoever shows them reads them from another thread.
//
//   when a thing is made     Gauge* lag = gauges->Find(kLag, {{"table", "t"}, {"partition", "0"}})
//   whenever it changes      lag->Set(17)                     one store, from any thread
//   metrics, status page     for (const GaugeReading& one : gauges->Read()) …
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace rowtide {

// What a number is called, in words with `_`, its unit last, and what it says.
struct GaugeName {
  const char* name;  // `consumer_lag_records`: the metric rowtide_consumer_lag_records
  const char* help;  // a sentence without its full stop
};

using GaugeLabels = std::vector<std::pair<std::string, std::string>>;

class Gauge {
 public:
  void Set(double value) { value_.store(value, std::memory_order_relaxed); }
  double value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<double> value_{0};
};

// Bytes that one thread at a time writes; others look on.
class ByteMeter {
 public:
  void Add(size_t bytes) {
    const int64_t before = bytes_.load(std::memory_order_relaxed);
    bytes_.store(before + static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }
  int64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> bytes_{0};
};

struct GaugeReading {
  GaugeName name;
  GaugeLabels labels;
  double value;
};

class Gauges {
 public:
  // The one of that name and those labels, made at the first call; it stays put as long as this
  // object lives. Labels have few values: never keys or other data.
  Gauge* Find(GaugeName name, GaugeLabels labels);
  // Those of one name lie together.
  std::vector<GaugeReading> Read() const;
  // The job begins anew: none of them says anything until it is found again.
  void Retire();

 private:
  struct Entry {
    GaugeName name;
    GaugeLabels labels;
    std::unique_ptr<Gauge> gauge;
    bool is_shown;
  };
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;  // under the mutex
};

}  // namespace rowtide

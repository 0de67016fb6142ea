// What a job waits for outside of itself: a broker that is away, a disk that is full. Said by
// sources and sinks, from any thread; heard by the command, which prints it, by the status page and
// by metrics.
//
//   Begin("orders", "broker localhost:9092 (try 1)")    the listener hears of it
//   Begin("orders", "broker localhost:9092 (try 2)")    … of this one only when some time has gone
//   End("orders")                                       … and that it is over
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace rowtide {

struct Wait {
  std::string who;   // a table
  std::string what;  // what comes behind "waiting for"
  std::chrono::steady_clock::time_point since;
  bool is_over = false;  // in what the listener hears
};

class Waits {
 public:
  using Listener = std::function<void(const Wait&)>;
  // `listener` may be called by any thread, one call at a time.
  explicit Waits(Listener listener = {}) : listener_(std::move(listener)) {}

  void Begin(const std::string& who, const std::string& what);
  void End(const std::string& who);
  // The job has come to an end: nobody waits, and nothing is said.
  void Clear();
  std::vector<Wait> All() const;

 private:
  struct Entry {
    Wait wait;
    std::chrono::steady_clock::time_point told;
  };
  mutable std::mutex mutex_;
  Listener listener_;
  std::vector<Entry> entries_;  // under the mutex
};

}  // namespace rowtide

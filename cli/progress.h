// One line on standard error that says how far a job is, redrawn in place.
//
//   12,345,678 rows  1.2 M rows/s  34 %  watermark 2026-01-01 00:00:03  state 12.3 MiB
//
// It appears after two seconds and is wiped before anything else is printed. Only on a terminal.
// What the job waits for, such as a broker that is away, comes last.
#pragma once

#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "engine/runtime/stats.h"

namespace rowtide {

// Cut to `columns`, when that is not 0. `waits_for`: "" or what the job waits for.
std::string ProgressText(const JobProgress& progress, double seconds, int columns,
                         const std::string& waits_for = "");

class ProgressLine {
 public:
  // `shown`: false makes an object that never prints.
  ProgressLine(std::FILE* to, bool shown) : to_(to), shown_(shown) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Whether it is time to draw anew.
  bool IsDue() const;
  void Draw(const JobProgress& progress, const std::string& waits_for);
  void Clear();  // from any thread

 private:
  using Clock = std::chrono::steady_clock;
  std::FILE* to_;
  bool shown_;
  std::mutex mutex_;
  bool drawn_ = false;  // under the mutex
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_ = begin_ + std::chrono::seconds(2);
};

}  // namespace rowtide

#include "engine/runtime/time_samples.h"

#include <algorithm>
#include <chrono>

namespace rowtide {

namespace {

constexpr int64_t kTimeOverCost = 200;

}  // namespace

int64_t TimeSamples::NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Clocks differ: some machines ask the kernel.
void TimeSamples::SwitchOn() {
  constexpr int64_t kCalls = 32;
  const int64_t begin = NowNanos();
  for (int64_t i = 1; i < 2 * kCalls; ++i) NowNanos();
  nanos_of_a_call_ = (NowNanos() - begin) / kCalls;
  on_ = true;
}

void TimeSamples::StartSample() {
  weight_ = std::exchange(polls_, 0);
  calls_ = 0;
  inner_nanos_ = 0;
}

void TimeSamples::EndSample() {
  weight_ = 0;
  const int64_t cost = calls_ * nanos_of_a_call_;
  const int64_t gap = kTimeOverCost * cost / std::max<int64_t>(inner_nanos_, 1);
  random_ = random_ * 1664525 + 1013904223;
  next_sample_ = 1 + gap / 2 + (random_ >> 16) % (gap + 1);
}

int TimeSamples::PathTo(int node) {
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].caller == current_ && paths_[i].node == node) return static_cast<int>(i);
  }
  paths_.push_back({current_, node});
  return static_cast<int>(paths_.size()) - 1;
}

}  // namespace rowtide

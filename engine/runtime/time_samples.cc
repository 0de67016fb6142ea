#include "engine/runtime/time_samples.h"

#include <algorithm>
#include <chrono>

namespace rowtide {

namespace {

constexpr int64_t kGapMax = 16;

}  // namespace

int64_t TimeSamples::NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The gap grows with the polls, so that what the last sample stands for beyond the end of the job
// is a small part of the whole.
void TimeSamples::StartSample() {
  const int64_t middle = std::min(kGapMax, 1 + polls_ / kGapMax), half = middle / 2;
  random_ = random_ * 1664525 + 1013904223;
  weight_ = static_cast<int>(middle - half + (random_ >> 16) % (2 * half + 1));
  polls_to_skip_ = weight_ - 1;
  polls_ += weight_;
}

int TimeSamples::PathTo(int node) {
  for (size_t i = 0; i < paths_.size(); ++i) {
    if (paths_[i].caller == current_ && paths_[i].node == node) return static_cast<int>(i);
  }
  paths_.push_back({current_, node});
  return static_cast<int>(paths_.size()) - 1;
}

}  // namespace rowtide

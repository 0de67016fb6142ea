// A clock that goes forward with the machine's uptime, from the wall-clock time at which it was
// made: whoever sets the machine's clock, forward or back, does not move it. For what happens every
// so often: ticks of processing time, looking for new files.
#pragma once

#include <chrono>

#include "engine/clock.h"

namespace rowtide {

class SteadyClock final : public Clock {
 public:
  int64_t NowMillis() const override {
    const auto passed = std::chrono::steady_clock::now() - begin_;
    return begin_millis_ + std::chrono::duration_cast<std::chrono::milliseconds>(passed).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  int64_t begin_millis_ = SystemClock().NowMillis();
};

}  // namespace rowtide

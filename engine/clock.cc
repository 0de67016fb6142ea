#include "engine/clock.h"

#include <chrono>

namespace rowtide {

int64_t SystemClock::NowMillis() const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  return duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace rowtide

// What a state gets at its making, for tests: a clock that stands still, counters, a size.
#pragma once

#include "engine/operator.h"

namespace rowtide {

struct StateContext {
  ManualClock clock{0};
  Counters counters;
  StateSize size;
  OperatorContext context;
  explicit StateContext(int64_t ttl = 0) {
    context.clock = &clock;
    context.counters = &counters;
    context.state_size = &size;
    context.state_ttl_millis = ttl;
  }
};

}  // namespace rowtide

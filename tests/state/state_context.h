// What a state gets at its making, for tests: a clock that stands still, counters, a size.
#pragma once

#include "engine/operator.h"

namespace rowtide {

struct StateContext {
  ManualClock clock{0};
  Counters counters;
  StateSize size;
  std::vector<ExpiringState*> expiring;
  OperatorContext context;
  explicit StateContext(int64_t ttl = 0) {
    context.clock = &clock;
    context.counters = &counters;
    context.state_size = &size;
    context.expiring = &expiring;
    context.state_ttl_millis = ttl;
  }
  // As a lane does while no rows come.
  void Rest() {
    for (ExpiringState* const state : expiring) state->SweepSome();
  }
};

}  // namespace rowtide

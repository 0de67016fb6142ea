// State time-to-live: one clock per entry, read from the injected Clock, moved by writes and never
// by reads.
//
// An entry is gone when `now >= written + ttl`. It is forgotten whole, emits nothing, and is
// counted as `expired` (flink-rank-dedup.md 7.7).
#pragma once

#include <cstdint>

#include "engine/clock.h"
#include "engine/operator.h"
#include "engine/status.h"

namespace rowtide {

class Ttl {
 public:
  Ttl() = default;
  Ttl(const Clock* clock, int64_t millis) : clock_(clock), millis_(clock ? millis : 0) {}
  explicit Ttl(const OperatorContext& context) : Ttl(context.clock, context.state_ttl_millis) {}

  bool enabled() const { return millis_ > 0; }
  // Requires: enabled.
  int64_t NowMillis() const { return clock_->NowMillis(); }
  bool Expired(int64_t written, int64_t now) const { return now - millis_ >= written; }
  // Of what was written then: when it expires.
  int64_t EndMillis(int64_t written) const { return written + millis_; }
  // What was written then, or before, has expired.
  int64_t DeadlineMillis() const { return NowMillis() - millis_; }

 private:
  const Clock* clock_ = nullptr;
  int64_t millis_ = 0;
};

// With a time-to-live an entry in a backend begins with the time of its last change, so one cannot
// come or go with the state. `had`: it was there when that was written.
inline Status TimeToLiveDiffers(bool had) {
  return Status::InvalidArgument(
             "the state that is to be restored has {} time-to-live, and the job has {}: in RocksDB "
             "entries with times and without do not mix",
             had ? "a" : "no", had ? "none" : "one")
      .WithErrorCode("RT6004")
      .WithHint(had ? "SET 'table.exec.state.ttl', or the STATE_TTL hint that was there, to any "
                      "time; or --fresh to begin from the first record"
                    : "RESET 'table.exec.state.ttl' or take the STATE_TTL hint away; or --fresh to "
                      "begin from the first record");
}

}  // namespace rowtide

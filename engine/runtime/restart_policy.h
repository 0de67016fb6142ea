// Whether a job that has failed is started again, and after how long: Flink's restart strategies,
// with Flink's arithmetic.
//
//   none               never
//   fixed-delay        `restarts_max` times, always after `delay_millis`
//   exponential-delay  after delay * multiplier^n, at most `delay_max_millis`, with jitter; what
//                      has run for `interval_millis` since its start begins with the first again
//   failure-rate       as long as no more than `restarts_max` failures fall into `interval_millis`
//
// Knows no clock: it is told when the job failed, on one that only goes forward. Used by one
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <random>

namespace rowtide {

enum class RestartStrategy : uint8_t { kNone, kFixedDelay, kExponentialDelay, kFailureRate };

struct RestartSettings {
  RestartStrategy strategy = RestartStrategy::kNone;
  int64_t delay_millis = 1000;
  int64_t restarts_max = 1;
  int64_t interval_millis = 60'000;
  // Of exponential-delay alone:
  int64_t delay_max_millis = 60'000;
  double multiplier = 1.5;
  double jitter = 0.1;  // a share of the delay, up and down
};

class RestartPolicy {
 public:
  // `seed`: of the jitter.
  RestartPolicy(const RestartSettings& settings, uint64_t seed)
      : settings_(settings), random_(seed) {}

  // The job failed at `now_millis`: how long to wait before the next start. None: no more starts.
  std::optional<int64_t> OnFailure(int64_t now_millis);
  int64_t restarts() const { return restarts_; }
  const RestartSettings& settings() const { return settings_; }

 private:
  bool MayRestart(int64_t now_millis);
  int64_t NextDelay();

  RestartSettings settings_;
  std::mt19937_64 random_;
  int64_t restarts_ = 0;
  int64_t next_start_millis_ = std::numeric_limits<int64_t>::min() / 2;
  int64_t in_a_row_ = 0;           // exponential-delay: since the first delay
  double delay_ = 0;               // exponential-delay: without the jitter
  std::deque<int64_t> failed_at_;  // failure-rate: the newest ones
};

}  // namespace rowtide

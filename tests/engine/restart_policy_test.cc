#include "engine/runtime/restart_policy.h"

#include <gtest/gtest.h>

#include <vector>

namespace rowtide {
namespace {

constexpr int64_t kNever = -1;

// What becomes of failures that come each so long after the start before.
std::vector<int64_t> DelaysOf(const RestartSettings& settings, const std::vector<int64_t>& lived,
                              uint64_t seed = 1) {
  RestartPolicy policy(settings, seed);
  std::vector<int64_t> delays;
  int64_t now = 86'400'000;
  for (const int64_t millis : lived) {
    now += millis;
    const std::optional<int64_t> delay = policy.OnFailure(now);
    delays.push_back(delay.value_or(kNever));
    now += delay.value_or(0);
  }
  return delays;
}

using Delays = std::vector<int64_t>;

// The numbers here are those that the strategies of Flink 2.3 give for the same failures.
TEST(RestartPolicy, ExponentialDelayGrowsAndIsResetAfterLivingLongEnough) {
  RestartSettings settings;
  settings.strategy = RestartStrategy::kExponentialDelay;
  settings.restarts_max = std::numeric_limits<int32_t>::max();
  settings.delay_max_millis = 10'000;
  settings.interval_millis = 3'600'000;
  settings.jitter = 0;
  EXPECT_EQ(
      DelaysOf(settings, {1, 1, 1, 1, 1, 1, 1, 3'599'999, 3'600'000, 3'600'001, 5, 7'210'000, 5}),
      (Delays{1000, 1500, 2250, 3375, 5062, 7593, 10'000, 10'000, 1000, 1000, 1500, 1000, 1500}));
  settings.interval_millis = 3600;
  settings.restarts_max = 3;
  EXPECT_EQ(DelaysOf(settings, {1, 1, 1, 3600, 1, 1, 1}),
            (Delays{1000, 1500, 2250, 1000, 1500, 2250, kNever}));
}

TEST(RestartPolicy, JitterStaysWithinItsShareAndTheBounds) {
  RestartSettings settings;
  settings.strategy = RestartStrategy::kExponentialDelay;
  settings.restarts_max = 1000;
  settings.interval_millis = 3'600'000;
  settings.jitter = 0.5;
  bool differs = false;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const Delays delays = DelaysOf(settings, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, seed);
    double middle = 1000;
    for (const int64_t delay : delays) {
      EXPECT_GE(delay, std::max(1000.0, middle * 0.5 - 1));
      EXPECT_LE(delay, std::min(60'000.0, middle * 1.5 + 1));
      differs |= delay != static_cast<int64_t>(middle);
      middle = std::min(middle * 1.5, 60'000.0);
    }
  }
  EXPECT_TRUE(differs);
}

TEST(RestartPolicy, FixedDelayHasSoManyAttempts) {
  RestartSettings settings;
  settings.strategy = RestartStrategy::kFixedDelay;
  settings.restarts_max = 2;
  EXPECT_EQ(DelaysOf(settings, {1, 1, 1, 700'000'000}), (Delays{1000, 1000, kNever, kNever}));
}

TEST(RestartPolicy, FailureRateForgetsWhatIsLongAgo) {
  RestartSettings settings;
  settings.strategy = RestartStrategy::kFailureRate;
  settings.restarts_max = 2;
  EXPECT_EQ(DelaysOf(settings, {1, 1, 1, 70'000, 30'000, 28'999, 1, 60'000}),
            (Delays{1000, 1000, kNever, 1000, 1000, 1000, kNever, 1000}));
}

TEST(RestartPolicy, NoneMeansNone) { EXPECT_EQ(DelaysOf({}, {1}), (Delays{kNever})); }

}  // namespace
}  // namespace rowtide

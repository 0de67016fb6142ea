#include "engine/runtime/restart_policy.h"

#include <algorithm>
#include <cmath>

namespace rowtide {

std::optional<int64_t> RestartPolicy::OnFailure(int64_t now_millis) {
  if (!MayRestart(now_millis)) return std::nullopt;
  const int64_t delay = NextDelay();
  next_start_millis_ = now_millis + delay;
  ++restarts_;
  return delay;
}

bool RestartPolicy::MayRestart(int64_t now_millis) {
  switch (settings_.strategy) {
    case RestartStrategy::kNone: return false;
    case RestartStrategy::kFixedDelay: return restarts_ < settings_.restarts_max;
    case RestartStrategy::kExponentialDelay:
      if (now_millis - next_start_millis_ >= settings_.interval_millis) in_a_row_ = 0;
      return ++in_a_row_ <= settings_.restarts_max;
    case RestartStrategy::kFailureRate:
      failed_at_.push_back(now_millis);
      if (static_cast<int64_t>(failed_at_.size()) <= settings_.restarts_max) return true;
      const int64_t earliest = failed_at_.front();
      failed_at_.pop_front();
      return now_millis - earliest > settings_.interval_millis;
  }
  return false;
}

int64_t RestartPolicy::NextDelay() {
  if (settings_.strategy != RestartStrategy::kExponentialDelay) return settings_.delay_millis;
  const auto lowest = static_cast<double>(settings_.delay_millis);
  const auto highest = static_cast<double>(settings_.delay_max_millis);
  delay_ = in_a_row_ == 1 ? lowest : std::min(std::floor(delay_ * settings_.multiplier), highest);
  const double swing = std::floor(delay_ * settings_.jitter);
  const double jitter = std::uniform_real_distribution<double>(-swing, swing + 1)(random_);
  return static_cast<int64_t>(std::clamp(delay_ + std::floor(jitter), lowest, highest));
}

}  // namespace rowtide

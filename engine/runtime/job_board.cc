#include "engine/runtime/job_board.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rowtide {

namespace {

constexpr size_t kRecentMax = 12;

CheckpointReport Joined(const CheckpointReport& before, const CheckpointReport& now) {
  CheckpointReport all = now;
  all.completed += before.completed;
  all.failed += before.failed;
  if (!all.decided) all.decided = before.decided;
  all.recent.insert(all.recent.begin(), before.recent.begin(), before.recent.end());
  if (all.recent.size() > kRecentMax)
    all.recent.erase(all.recent.begin(), all.recent.end() - kRecentMax);
  return all;
}

}  // namespace

void JobBoard::Begin(size_t lanes) {
  const std::lock_guard lock(mutex_);
  before_ = Joined(before_, std::exchange(now_, {}));
  before_.writes = std::nullopt;
  lanes_.assign(lanes, {});
}

void JobBoard::Forget() {
  const std::lock_guard lock(mutex_);
  lanes_.clear();
  before_ = now_ = {};
}

void JobBoard::Publish(size_t lane, LaneReport report) {
  const std::lock_guard lock(mutex_);
  std::swap(lanes_[lane], report);  // the old one is freed behind the lock
}

void JobBoard::Publish(CheckpointReport report) {
  const std::lock_guard lock(mutex_);
  now_ = std::move(report);
}

std::vector<LaneReport> JobBoard::lanes() const {
  const std::lock_guard lock(mutex_);
  return lanes_;
}

CheckpointReport JobBoard::checkpoints() const {
  const std::lock_guard lock(mutex_);
  return Joined(before_, now_);
}

}  // namespace rowtide

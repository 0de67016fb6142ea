#include "engine/runtime/job_requests.h"

#include <utility>

namespace rowtide {

Status JobRequests::Ask(Request request) {
  const std::lock_guard turn(turn_);
  std::unique_lock lock(mutex_);
  request_ = std::move(request);
  answer_ = std::nullopt;
  is_waiting_ = true;
  changed_.wait(lock, [this] { return answer_ || is_closed_; });
  request_ = std::nullopt;
  is_waiting_ = false;
  return answer_ ? std::move(*answer_) : Status::External("the job has ended");
}

std::optional<JobRequests::Request> JobRequests::Take() {
  if (!is_waiting_.load(std::memory_order_relaxed)) return std::nullopt;
  const std::lock_guard lock(mutex_);
  is_waiting_ = false;
  return std::exchange(request_, std::nullopt);
}

void JobRequests::Answer(Status status) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(status);
  changed_.notify_all();
}

void JobRequests::Close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  changed_.notify_all();
}

}  // namespace rowtide

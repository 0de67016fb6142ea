#include "state/timers.h"

#include <algorithm>

namespace rowtide {
namespace {

// passed places at the front of the queue before they are given back
constexpr size_t kHeadMax = 4096;

// For a heap whose front is the earliest timer.
bool Later(const TimerQueue::Timer& a, const TimerQueue::Timer& b) {
  return a.millis != b.millis ? a.millis > b.millis : a.sequence > b.sequence;
}

}  // namespace

void TimerQueue::Add(Timer timer) {
  if (head_ == queue_.size() || Later(timer, queue_.back())) {
    queue_.push_back(timer);
  } else {
    heap_.push_back(timer);
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
}

bool TimerQueue::HeapIsFirst() const {
  if (heap_.empty()) return false;
  return head_ == queue_.size() || Later(queue_[head_], heap_.front());
}

const TimerQueue::Timer& TimerQueue::First() const {
  return HeapIsFirst() ? heap_.front() : queue_[head_];
}

TimerQueue::Timer TimerQueue::PopFirst() {
  if (HeapIsFirst()) {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    const Timer timer = heap_.back();
    heap_.pop_back();
    return timer;
  }
  const Timer timer = queue_[head_++];
  if (head_ == queue_.size()) {
    queue_.clear();
    head_ = 0;
  } else if (head_ > kHeadMax && head_ * 2 > queue_.size()) {
    queue_.erase(queue_.begin(), queue_.begin() + static_cast<ptrdiff_t>(head_));
    head_ = 0;
  }
  return timer;
}

void TimerQueue::Clear() {
  queue_.clear();
  heap_.clear();
  head_ = 0;
}

}  // namespace rowtide

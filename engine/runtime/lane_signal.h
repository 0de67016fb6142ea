// What wakes a lane that sleeps in poll(): its queues have news, or somebody wants something of it.
//
// Notify costs a call of the system only when the lane has armed the signal, which it does when it
// has found nothing to do; it then looks once more before it sleeps, so no news is slept through.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "engine/status.h"

namespace rowtide {

class LaneSignal {
 public:
  LaneSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    RT_CHECK(descriptor_ >= 0);
  }
  ~LaneSignal() { ::close(descriptor_); }
  LaneSignal(const LaneSignal&) = delete;
  LaneSignal& operator=(const LaneSignal&) = delete;

  // Any thread.
  void Notify() {
    if (!is_armed_.exchange(false)) return;
    const uint64_t one = 1;
    RT_CHECK(::write(descriptor_, &one, sizeof(one)) == sizeof(one));
  }

  // The lane's thread: before it looks for the last time.
  void Arm() {
    uint64_t count = 0;
    (void)!::read(descriptor_, &count, sizeof(count));  // nothing there: EAGAIN
    is_armed_ = true;
  }
  // Readable when it was notified since it was armed.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
  std::atomic<bool> is_armed_ = false;
};

}  // namespace rowtide

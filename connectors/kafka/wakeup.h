// What ends the sleep of a thread that waits for messages: a descriptor that librdkafka writes to
// when an empty queue fills, or a moment.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace rowtide {

class KafkaWakeup {
 public:
  KafkaWakeup() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~KafkaWakeup() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  KafkaWakeup(const KafkaWakeup&) = delete;
  KafkaWakeup& operator=(const KafkaWakeup&) = delete;

  int get() const { return descriptor_; }
  // Before the queues are looked at: what fills behind that wakes again.
  void Drain() const {
    uint64_t count;
    while (::read(descriptor_, &count, sizeof(count)) > 0) {
    }
  }

 private:
  int descriptor_;
};

// Of a clock that nobody sets.
inline int64_t SteadyMillis() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace rowtide

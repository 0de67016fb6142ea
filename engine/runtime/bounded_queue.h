// A bounded queue between two threads: one fills it, the other one empties it.
//
//   slots    [ a ][ b ][ c ][   ][   ]      Room() -> fill -> Push()       the producer
//              ^ front        ^ back        Front() -> read -> Pop()       the consumer
//
// A value stays in its slot until the producer fills that slot again, so what it holds is freed by
// the thread that allocated it, which can use the memory again. A producer that found no room waits
// until half the slots are free: threads do not take turns value by value. The consumer waits on a
// descriptor, which may stand beside others in poll().
#pragma once

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/status.h"

namespace rowtide {

// A flag that poll() can wait for.
class WakeupFlag {
 public:
  WakeupFlag() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    RT_CHECK(descriptor_ >= 0);
  }
  ~WakeupFlag() { ::close(descriptor_); }
  WakeupFlag(const WakeupFlag&) = delete;
  WakeupFlag& operator=(const WakeupFlag&) = delete;

  void Set() {
    const uint64_t one = 1;
    RT_CHECK(::write(descriptor_, &one, sizeof(one)) == sizeof(one));
  }
  void Clear() {
    uint64_t count = 0;
    RT_CHECK(::read(descriptor_, &count, sizeof(count)) == sizeof(count));
  }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t slots) : slots_(slots) {}

  // --- the producer ---
  // The next slot to fill; waits for one. Null once the consumer has closed the queue.
  T* Room() {
    std::unique_lock lock(mutex_);
    if (filled_ == slots_.size())
      room_.wait(lock, [this] { return is_closed_ || filled_ <= slots_.size() / 2; });
    return is_closed_ ? nullptr : &slots_[(front_ + filled_) % slots_.size()];
  }
  void Push() {
    const std::lock_guard lock(mutex_);
    ++filled_;
    if (!std::exchange(is_ready_, true)) ready_.Set();
  }
  // Until all that was pushed has been popped.
  void AwaitEmpty() {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return filled_ == 0; });
  }
  bool is_closed() {
    const std::lock_guard lock(mutex_);
    return is_closed_;
  }
  // Readable once it is.
  int closed_descriptor() const { return closed_.descriptor(); }

  // --- the consumer ---
  // The oldest value, which stays put until Pop. Null: there is none, and `descriptor` is readable
  // as soon as there is one (and, since it costs a call of the system, it is lowered only here).
  T* Front() {
    const std::lock_guard lock(mutex_);
    if (filled_ > 0) return &slots_[front_];
    if (std::exchange(is_ready_, false)) ready_.Clear();
    return nullptr;
  }
  void Pop() {
    const std::lock_guard lock(mutex_);
    front_ = (front_ + 1) % slots_.size();
    --filled_;
    if (filled_ == slots_.size() / 2 || filled_ == 0) room_.notify_one();
  }
  int descriptor() const { return ready_.descriptor(); }
  // The same, but waits for a value. Requires: the producer still pushes.
  T& AwaitFront() {
    while (true) {
      if (T* const front = Front()) return *front;
      pollfd ready = {descriptor(), POLLIN, 0};
      ::poll(&ready, 1, -1);
    }
  }
  // Nothing more is wanted.
  void Close() {
    const std::lock_guard lock(mutex_);
    if (std::exchange(is_closed_, true)) return;
    closed_.Set();
    room_.notify_one();
  }

 private:
  std::vector<T> slots_;
  std::mutex mutex_;
  std::condition_variable room_;
  WakeupFlag ready_;
  WakeupFlag closed_;
  size_t front_ = 0;
  size_t filled_ = 0;
  bool is_ready_ = false;  // what ready_ is set to
  bool is_closed_ = false;
};

}  // namespace rowtide

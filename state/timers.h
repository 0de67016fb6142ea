// Event-time timers in the order (timestamp, first arrival of the key).
//
//   Add(5, #0) Add(7, #1) Add(6, #2)   ->   5 #0 | 7 #1        in order: a queue
//                                           6 #2               out of order: a heap
//   PopFirst()                         ->   5 #0, 6 #2, 7 #1
//
// Streams are nearly in order, so most timers cost a push and a pop at the ends of a queue. A timer
// carries a number of the caller's, usually a reference to what waits. Timers are not in a
// snapshot: whoever keeps what waits writes that, with time and sequence, and adds the timers again
// on restore.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rowtide {

class TimerQueue {
 public:
  struct Timer {
    int64_t millis;
    uint64_t sequence;
    uint64_t payload;
  };

  void Add(Timer timer);
  bool empty() const { return head_ == queue_.size() && heap_.empty(); }
  bool HasDue(int64_t watermark) const { return !empty() && First().millis <= watermark; }
  // Requires: not empty.
  const Timer& First() const;
  Timer PopFirst();
  void Clear();

 private:
  bool HeapIsFirst() const;
  std::vector<Timer> queue_;  // ascending from head_ on
  size_t head_ = 0;
  std::vector<Timer> heap_;  // the earliest first
};

}  // namespace rowtide

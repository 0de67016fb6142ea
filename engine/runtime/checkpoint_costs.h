// What checkpoints have cost a job so far, as --stats shows it; without a checkpointer, nothing.
#pragma once

#include <chrono>
#include <cstdint>

namespace rowtide {

struct CheckpointCosts {
  int64_t completed = 0;
  int64_t failed = 0;
  // A lane did nothing else between two batches: at a barrier, to copy a slice, to make room.
  std::chrono::nanoseconds longest_stop{0};
  std::chrono::nanoseconds at_end{0};  // all lanes stood still for the last one
};

}  // namespace rowtide

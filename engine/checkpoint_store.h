// The port of where checkpoints are kept.
//
//   Write(7)    durable, and known as prepared
//   Commit(7)   the decision: from here on recovery takes 7
//   Retire(2)   all but the newest two that are committed go
//
// Write may take long. These three are called from a thread of their own; no two calls of any of
// them overlap.
#pragma once

#include <string>

#include "engine/checkpoint.h"
#include "engine/status.h"

namespace rowtide {

class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;
  virtual Status Write(const Checkpoint& checkpoint) = 0;
  virtual Status Commit(int64_t epoch) = 0;
  virtual Status Retire(int kept) = 0;
  // A checkpoint that the user owns: self-contained, at a new place.
  virtual Status WriteSavepoint(const Checkpoint& checkpoint, const std::string& target) = 0;
  // Of the disk that it writes to.
  virtual int64_t FreeBytes() const = 0;
  // For messages.
  virtual std::string Place() const = 0;
};

}  // namespace rowtide

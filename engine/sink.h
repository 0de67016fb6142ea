// The port of where rows go. Rows written since the last epoch become visible at its commit:
//
//   Write Write Prepare(7) ......... Commit(7)     a crash before Commit shows nothing of 7
//                 staged, durable    visible
//
// Without checkpoints the whole job is one epoch: Finish prepares and commits it at a clean end,
// Abandon tidies up after a failure (what was staged stays or goes as the sink documents; nothing
// half-written gets its final name).
#pragma once

#include <cstdint>
#include <string>

#include "engine/row_batch.h"
#include "engine/status.h"

namespace rowtide {

class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status Write(const RowBatch& batch) = 0;
  // Called with every watermark, tick and end, and before the job waits for input: what was written
  // goes to whoever reads it.
  virtual Status Flush() { return Status::Ok(); }
  virtual Status Prepare(int64_t /*epoch*/) { return Status::Ok(); }
  virtual Status Commit(int64_t /*epoch*/) { return Status::Ok(); }
  virtual Status Finish() { return Status::Ok(); }
  virtual void Abandon() {}
  // A line for the user at the end of the job ("checksum …"); "" for none.
  virtual std::string Summary() const { return ""; }
};

}  // namespace rowtide

// The port of where rows go. Rows written since the last epoch become visible at its commit:
//
//   Write Write Prepare(7) ......... Commit(7)     a crash before Commit shows nothing of 7
//                 staged, durable    visible
//
// What Prepare returns goes into the checkpoint of the epoch. After a crash a new sink is given it
// back: Restore makes visible what was staged, if it is not yet, and drops what was written later.
// An epoch that is given up is not committed; its rows are staged again by the next Prepare.
//
// Without checkpoints the whole job is one epoch: Finish prepares and commits it at a clean end,
// Abandon tidies up after a failure (what was staged stays or goes as the sink documents; nothing
// half-written gets its final name).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/row_batch.h"
#include "engine/status.h"

namespace rowtide {

class NamedRowsTaker;

class Sink {
 public:
  virtual ~Sink() = default;
  virtual Status Write(const RowBatch& batch) = 0;
  // Who writes rows of a single producer by name; null when this sink has no use for names.
  virtual NamedRowsTaker* named_rows() { return nullptr; }
  // Called with every watermark, tick and end, and before the job waits for input: what was written
  // goes to whoever reads it.
  virtual Status Flush() { return Status::Ok(); }
  virtual Result<std::string> Prepare(int64_t /*epoch*/) {
    RT_TRY(Flush());
    return std::string();
  }
  virtual Status Commit(int64_t /*epoch*/) { return Status::Ok(); }
  // It holds many rows that wait for a Commit: no input should be taken until then. Any thread.
  virtual bool is_full() const { return false; }
  // One of these before the first row of a job with checkpoints. BeginAnew: nothing was written so
  // far. Restore: once for each lane whose files this one is to show; empty: for none of them.
  virtual Status BeginAnew() { return Status::Ok(); }
  virtual Status Restore(std::string_view /*staged*/) { return Status::Ok(); }
  virtual Status Finish() { return Status::Ok(); }
  virtual void Abandon() {}
  // A line for the user at the end of the job ("checksum …"); "" for none. `others`: the same sink
  // in the other lanes, whose rows it speaks for as well.
  virtual std::string Summary(std::span<const Sink* const> /*others*/ = {}) const { return ""; }
};

}  // namespace rowtide

// The port of what rows come from: files, topics, generators, scripts.
//
// `Poll` emits at most one batch (and at most one Time after it) and says whether there is more. A
// source does not block in Poll: it says kWait, and `wakeup` says what ends the wait. Its position
// goes into the snapshot; a restored source goes on with the next record, on other lanes as well.
// Records that do not decode are the source's business: fail, skip or dead-letter, always counted,
// so records read = rows emitted + rejected. A source emits no watermarks unless it
// `makes_watermarks`; a bounded one ends with kEnd from Poll, and the task then sends the maximum
// watermark and End.
#pragma once

#include <memory>
#include <optional>

#include "engine/operator.h"

namespace rowtide {

enum class SourceState : uint8_t {
  kMore,  // poll again at once
  kWait,  // nothing now; poll again later
  kEnd,   // over for good
};

// How far a source is, in bytes of what is read (packed ones where it is packed).
struct SourceProgress {
  int64_t bytes_read = 0;
  int64_t bytes_total = 0;  // 0: not known, as of a pipe
};

// When a source that said kWait wants to be polled again: once `descriptor` is readable (or its
// other end closed), or after `millis`, whichever is first. Without either it is asked again soon.
struct SourceWakeup {
  int descriptor = -1;
  std::optional<int64_t> millis;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const Schema& output_schema() const = 0;
  virtual Result<SourceState> Poll(Collector& out) = 0;
  virtual Status Snapshot(SnapshotWriter& writer) const = 0;
  virtual Status Restore(SnapshotReader& reader) = 0;
  // After Restore: adds the positions of another lane. Sources that are shared out among lanes read
  // on from those that are theirs now.
  virtual Status Merge(SnapshotReader& reader);
  // Before the first poll of a job with checkpoints, when Restore and Merge are over, if there was
  // something to restore.
  virtual Status Begin() { return Status::Ok(); }
  // A checkpoint with that snapshot of this source has been decided. Called by the job's thread,
  // while another one may poll.
  virtual Status Committed(SnapshotReader& /*snapshot*/) { return Status::Ok(); }
  virtual SourceProgress progress() const { return {}; }
  virtual SourceWakeup wakeup() const { return {}; }
};

}  // namespace rowtide

// The port of what a lane's keyed state lies in besides memory, as the runtime drives it.
//
//   between two batches   BeginCheckpoint(7)   what is there now belongs to 7: this is the pause
//                         Work()               a slice of the copying, evicting, reading ahead
//                         is_written() -> AwaitWritten(): the files of 7
//
// Used by the lane's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/status.h"

namespace rowtide {

class LaneStore {
 public:
  virtual ~LaneStore() = default;
  // Requires: the one before was awaited.
  virtual Status BeginCheckpoint(int64_t epoch) = 0;
  virtual Status Work() = 0;
  // There is something to do, also while no rows come.
  virtual bool busy() const = 0;
  // AwaitWritten would not wait.
  virtual bool is_written() const = 0;
  // The files stay until the next BeginCheckpoint. After an error there is no checkpoint, and the
  // next one holds what it would have held.
  virtual Result<std::vector<CheckpointFile>> AwaitWritten() = 0;
};

}  // namespace rowtide

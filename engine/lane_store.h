// The port of what a lane's keyed state lies in besides memory, as the runtime drives it.
//
//   at a barrier          BeginCheckpoint()    a checkpoint is open
//                         Freeze(3), …         what a node has now belongs to it: this is the pause
//                         EndBarrier()         all nodes were frozen
//   between two batches   Work()               a slice of the copying, evicting, reading ahead
//                         is_written() -> AwaitWritten(): the files of the checkpoint
//
// Nodes of a lane may come to a barrier one after the other, with rows behind it for the first ones
// before the last ones are there. Used by the lane's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/status.h"

namespace rowtide {

class LaneStore {
 public:
  virtual ~LaneStore() = default;
  // One that was begun before and not awaited is given up: this one holds all of it.
  virtual Status BeginCheckpoint() = 0;
  // Requires: BeginCheckpoint. `table`: of the node.
  virtual void Freeze(uint32_t table) = 0;
  virtual void EndBarrier() = 0;
  virtual Status Work() = 0;
  // There is something for Work to do, also while no rows come.
  virtual bool has_work() const = 0;
  // Something is on its way, and there will be.
  virtual bool is_waiting() const = 0;
  // AwaitWritten would not wait.
  virtual bool is_written() const = 0;
  // Requires: EndBarrier. The files stay until the next BeginCheckpoint. After an error there is no
  // checkpoint, and the next one holds what it would have held.
  virtual Result<std::vector<CheckpointFile>> AwaitWritten() = 0;
};

}  // namespace rowtide

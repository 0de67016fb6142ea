// A checkpoint opened to be looked at: its job's operators, made again of the SQL that lies in it,
// with the state that they had.
//
//   MANIFEST: statements, settings -> plan -> operators <- node bytes, RocksDB files (read-only)
//                                                |
//                                             ShownStates, by node of the checkpoint
//
// The job may run meanwhile: nothing is locked and nothing in its folder changes. What has expired
// when the checkpoint was taken is not there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/runtime/job_graph.h"
#include "planner/session.h"
#include "state/durable/checkpoint_folder.h"
#include "state/durable/rocksdb_backend.h"
#include "state/shown_state.h"
#include "state/state_tier.h"

namespace rowtide {

// A ShownState of all lanes.
class LookedState {
 public:
  explicit LookedState(ShownStates lanes) : lanes_(std::move(lanes)) {}
  const std::string& name() const { return lanes_[0]->name(); }
  const Schema& key_schema() const { return lanes_[0]->key_schema(); }
  const Schema& row_schema() const { return lanes_[0]->row_schema(); }
  const KeyCodec& key_codec() const { return lanes_[0]->key_codec(); }

  // In the order of state/key_walk.h, over all lanes; none: that was all.
  Status NextKeys(int keys_max, KeyBatch* keys);
  Status Rows(const KeyBatch& keys, const ShownState::Visit& visit);

 private:
  ShownStates lanes_;
  size_t lane_ = 0;
};

// One of those that `state ls` lists.
struct LookedNode {
  int number = 0;
  NodeIdentity identity;
  std::vector<LookedState> states;  // empty: it has no rows to show
  std::string fault;                // why its state cannot be shown, if it has any
  std::string bytes;                // what it keeps besides, of all lanes
};

class StateLook {
 public:
  // A checkpoint, or what CheckpointsOf (cli/state_paths.h) finds by that path: the newest one.
  static Result<std::unique_ptr<StateLook>> Open(const std::string& path);
  ~StateLook();

  const std::string& path() const { return path_; }
  std::vector<LookedNode>& nodes() { return nodes_; }
  const std::string& local_time_zone() const { return local_time_zone_; }
  // Once in a while during a walk: what was read makes room.
  Status MakeRoom();

 private:
  class ReadOnlyBackend;
  struct Lane {
    std::unique_ptr<ReadOnlyBackend> backend;
    std::unique_ptr<StateTier> tier;
    std::vector<JobNode> nodes;
  };

  StateLook() = default;
  static Result<std::unique_ptr<StateLook>> OpenCheckpoint(const std::string& path);
  Status Plan(const JobScript& script, PlannedJob* planned);
  Status OpenLanes(const std::vector<LaneState>& lanes);
  Status Build(const PlannedJob& planned, const Checkpoint& checkpoint);
  void Restore(size_t node, size_t kept, const Checkpoint& checkpoint);

  std::string path_;
  std::string local_time_zone_;
  ManualClock clock_;
  std::vector<Lane> lanes_;
  std::vector<LookedNode> nodes_;  // before the lanes that they borrow from
};

}  // namespace rowtide

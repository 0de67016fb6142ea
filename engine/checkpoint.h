// What a checkpoint holds, between whoever takes it (engine/runtime) and whoever keeps it
// (engine/checkpoint_store.h).
//
//   epoch 7   lane 0   state of each node, in the order of the graph    files of the lane's backend
//             lane 1   ...
//             sinks    what each has staged
//
// A node is known by what it does, so a changed query finds what is left of it
// (engine/runtime/restore_plan.h). Everything here is bytes: no type of a state is known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rowtide {

enum class CheckpointKind : uint8_t {
  kPeriodic,
  kSavepoint,  // the user's: copies instead of links, never deleted
  kFinal,      // all input was read: a job that resumes from it has nothing left to do
};

// A node as the query describes it.
struct NodeIdentity {
  std::string kind;                  // `Rank`, `TableSourceScan(orders)`
  std::string description;           // what it does: key, order, range, … as EXPLAIN shows it
  std::vector<std::string> columns;  // of its rows: `price BIGINT NOT NULL`
  friend bool operator==(const NodeIdentity&, const NodeIdentity&) = default;
};

struct NodeState {
  NodeIdentity node;
  std::string times;   // what time its inputs have come to
  std::string bytes;   // its own; empty: it has no state
  uint32_t table = 0;  // of its entries in the lane's backend
  std::string counts;  // of rows and by its counters, since the job began; empty: not known
  friend bool operator==(const NodeState&, const NodeState&) = default;
};

// A file that belongs to the state of a lane: `path` as it lies now, `name` within the checkpoint.
struct CheckpointFile {
  std::string name;
  std::string path;
  uint64_t bytes = 0;
  uint64_t xxh3 = 0;
  bool is_digested = false;  // bytes and xxh3 are known: files that never change are read once
  friend bool operator==(const CheckpointFile&, const CheckpointFile&) = default;
};

struct LaneState {
  std::vector<NodeState> nodes;
  std::vector<CheckpointFile> files;
  friend bool operator==(const LaneState&, const LaneState&) = default;
};

// What the job was planned from, without secrets: whoever looks at its state makes its operators
// of this.
struct JobScript {
  std::vector<std::string> statements;  // SQL; what the last one says is what the job does
  std::vector<std::pair<std::string, std::string>> settings;
  friend bool operator==(const JobScript&, const JobScript&) = default;
};

struct Checkpoint {
  int64_t epoch = 0;
  CheckpointKind kind = CheckpointKind::kPeriodic;
  int64_t millis = 0;  // when it was taken
  std::string job_name;
  std::string plan;  // the execution plan's text: for people, and its digest
  JobScript script;
  int64_t state_ttl_millis = 0;
  uint32_t next_source = 0;  // whose turn it is
  std::vector<LaneState> lanes;
};

// Keyed entries lie in files of a backend; else in the bytes of the nodes.
inline bool HasFiles(const Checkpoint& checkpoint) {
  return std::any_of(checkpoint.lanes.begin(), checkpoint.lanes.end(),
                     [](const LaneState& lane) { return !lane.files.empty(); });
}

}  // namespace rowtide

#include "cli/restore_rehearsal.h"

#include "planner/exec/build_job.h"
#include "state/state_tier.h"

namespace rowtide {
namespace {

// Stands for the entries that lie in files.
class NothingBelow final : public KeyedStateBackend {
 public:
  Status MultiGet(std::span<const std::string_view> /*sorted*/, const Found& /*found*/) override {
    return Status::Ok();
  }
  Status Scan(std::string_view /*from*/, std::string_view /*end*/,
              const Visit& /*visit*/) override {
    return Status::Ok();
  }
  Status WriteRun(std::span<const StateChange> /*sorted*/) override { return Status::Ok(); }
  Result<std::vector<CheckpointFile>> Checkpoint(const std::string& /*folder*/) override {
    return Status::Internal("a checkpoint of a rehearsal");
  }
};

// Of all lanes, as one lane would take it in.
Status RestoreNode(Operator* operation, const std::vector<LaneState>& lanes, size_t kept) {
  bool is_first = true;
  for (const LaneState& lane : lanes) {
    const NodeState& state = lane.nodes[kept];
    if (state.times.empty()) continue;  // that lane did not have it
    SnapshotReader reader(state.bytes);
    RT_TRY(std::exchange(is_first, false) ? operation->Restore(reader) : operation->Merge(reader));
  }
  return Status::Ok();
}

}  // namespace

Status RehearseRestore(const PlannedJob& planned, const Checkpoint& checkpoint,
                       const RestorePlan& plan) {
  NothingBelow below;
  StateTier::Options settings;
  settings.restored = true;
  settings.warms_up = false;
  StateTier tier(&below, settings);
  const SystemClock clock;
  BuildContext context;
  context.connectors.clock = &clock;
  context.operators_only = true;
  context.lanes = 1;
  if (HasFiles(checkpoint)) context.tiers.push_back(&tier);
  RT_ASSIGN(const std::vector<JobGraph> graphs, BuildJob(planned, std::move(context)));
  const std::vector<JobNode>& nodes = graphs[0].nodes();
  RT_CHECK(nodes.size() == plan.from.size());  // of one lane: nothing crosses
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (plan.from[node] < 0 || nodes[node].operation == nullptr || nodes[node].sink) continue;
    RT_TRY(RestoreNode(nodes[node].operation.get(), checkpoint.lanes,
                       static_cast<size_t>(plan.from[node])));
  }
  return Status::Ok();
}

}  // namespace rowtide

#include "cli/state_look.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>

#include "cli/state_paths.h"
#include "engine/runtime/restore_plan.h"
#include "operators/keyed_operator.h"
#include "planner/exec/build_job.h"
#include "planner/sql/parser.h"
#include "engine/durable_files.h"

namespace rowtide {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kEntryBytesMax = int64_t{256} << 20;  // of a lane, while keys are gone through
constexpr size_t kCacheBytes = size_t{32} << 20;
constexpr int kTries = 5;  // at checkpoints that are deleted meanwhile

// Links to the files of a lane under RocksDB's names, as long as it takes to open them.
class Links {
 public:
  static Result<Links> Make(const std::vector<CheckpointFile>& files) {
    std::string name = fs::temp_directory_path() / "rowtide-look-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      return Status::External("cannot make a folder like {}: {}", name, std::strerror(errno));
    Links links(name);
    for (const CheckpointFile& file : files) {
      std::error_code error;
      fs::create_symlink(fs::absolute(file.path), name + "/" + file.name, error);
      if (error) return Status::External("cannot make {}/{}: {}", name, file.name, error.message());
    }
    return links;
  }
  explicit Links(std::string folder) : folder_(std::move(folder)) {}
  Links(Links&& from) noexcept : folder_(std::exchange(from.folder_, std::string())) {}
  Links& operator=(Links&&) = delete;
  ~Links() {
    if (!folder_.empty()) (void)RemoveTree(folder_).ok();
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

// All files of a lane are open at once.
void AllowManyFiles() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

// What is written is what has expired: that it is gone is forgotten, and comes to light again.
class StateLook::ReadOnlyBackend final : public KeyedStateBackend {
 public:
  explicit ReadOnlyBackend(std::unique_ptr<RocksDbBackend> backend)
      : backend_(std::move(backend)) {}
  Status MultiGet(std::span<const std::string_view> sorted, const Found& found) override {
    return backend_->MultiGet(sorted, found);
  }
  Status Scan(std::string_view from, std::string_view end, const Visit& visit) override {
    return backend_->Scan(from, end, visit);
  }
  Status WriteRun(std::span<const StateChange> /*sorted*/) override { return Status::Ok(); }
  Result<std::vector<CheckpointFile>> Checkpoint(const std::string& /*folder*/) override {
    return Status::Internal("a checkpoint of what is only looked at");
  }

 private:
  std::unique_ptr<RocksDbBackend> backend_;
};

Status LookedState::NextKeys(int keys_max, KeyBatch* keys) {
  for (; lane_ < lanes_.size(); ++lane_) {
    RT_TRY(lanes_[lane_]->NextKeys(keys_max, keys));
    if (keys->rows() > 0) return Status::Ok();
  }
  keys->Clear();
  return Status::Ok();
}

Status LookedState::Rows(const KeyBatch& keys, const ShownState::Visit& visit) {
  for (const auto& lane : lanes_) RT_TRY(lane->Rows(keys, visit));
  return Status::Ok();
}

StateLook::~StateLook() {
  nodes_.clear();
  for (Lane& lane : lanes_) lane.nodes.clear();
}

// The newest checkpoint may be deleted while it is opened, when the job has taken newer ones.
Result<std::unique_ptr<StateLook>> StateLook::Open(const std::string& path) {
  for (int tried = 1;; ++tried) {
    RT_ASSIGN(const std::vector<std::string> paths, CheckpointsOf(path));
    Result<std::unique_ptr<StateLook>> look = OpenCheckpoint(paths[0]);
    if (look.ok() || tried == kTries || fs::exists(paths[0])) return look;
  }
}

Result<std::unique_ptr<StateLook>> StateLook::OpenCheckpoint(const std::string& path) {
  RT_ASSIGN(const LoadedCheckpoint loaded, LoadCheckpoint(path, false));
  const Checkpoint& checkpoint = loaded.checkpoint;
  std::unique_ptr<StateLook> look(new StateLook());
  look->path_ = path;
  look->clock_.Set(checkpoint.millis);
  const std::vector<NodeState>& kept = checkpoint.lanes[0].nodes;
  for (size_t i = 0; i < kept.size(); ++i) {
    LookedNode node;
    node.number = static_cast<int>(i);
    node.identity = kept[i].node;
    for (const LaneState& lane : checkpoint.lanes) node.bytes += lane.nodes[i].bytes;
    look->nodes_.push_back(std::move(node));
  }
  PlannedJob planned;
  const Status plan = look->Plan(checkpoint.script, &planned);
  if (!plan.ok()) return Status(plan).WithContext(path);
  RT_TRY(look->OpenLanes(checkpoint.lanes));
  RT_TRY(look->Build(planned, checkpoint));
  return look;
}

Status StateLook::Plan(const JobScript& script, PlannedJob* planned) {
  if (script.statements.empty())
    return Status::Unsupported(
               "the checkpoint does not say what SQL made it, so its rows cannot be told apart")
        .WithHint("checkpoints of this version do; let the job take one");
  Session session;
  session.LookOnly();
  for (const auto& [key, value] : script.settings) {
    std::string note;
    (void)session.options().Set(key, value, &note).ok();  // of another version: has no effect
  }
  for (const std::string& text : script.statements) {
    ScriptParser parser(text);
    RT_ASSIGN(const std::optional<ast::Statement> statement, parser.NextStatement());
    if (!statement) return Status::Corruption("the checkpoint has an empty statement");
    RT_ASSIGN(Outcome outcome, session.Execute(*statement));
    if (auto* job = std::get_if<PlannedJob>(&outcome)) *planned = std::move(*job);
  }
  if (planned->plan.roots.empty())
    return Status::Corruption("the SQL in the checkpoint does not make a job");
  local_time_zone_ = planned->local_time_zone();
  return Status::Ok();
}

Status StateLook::OpenLanes(const std::vector<LaneState>& lanes) {
  lanes_.resize(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (lanes[i].files.empty()) continue;
    AllowManyFiles();
    RocksDbOptions options;
    options.cache_bytes = kCacheBytes;
    RT_ASSIGN(const Links links, Links::Make(lanes[i].files));
    RT_ASSIGN(std::unique_ptr<RocksDbBackend> backend,
              RocksDbBackend::OpenReadOnly(links.folder(), options));
    lanes_[i].backend = std::make_unique<ReadOnlyBackend>(std::move(backend));
    StateTier::Options tier;
    tier.bytes_max = kEntryBytesMax;
    tier.restored = true;
    tier.warms_up = false;
    lanes_[i].tier = std::make_unique<StateTier>(lanes_[i].backend.get(), tier);
  }
  return Status::Ok();
}

Status StateLook::Build(const PlannedJob& planned, const Checkpoint& checkpoint) {
  RT_ASSIGN(const std::vector<NodeIdentity> identities, IdentitiesOf(planned));
  RT_ASSIGN(const RestorePlan plan, PlanRestore(identities, checkpoint, true));
  const std::vector<NodeState>& kept = checkpoint.lanes[0].nodes;
  BuildContext context;
  context.connectors.clock = &clock_;
  context.operators_only = true;
  context.lanes = static_cast<int>(lanes_.size());
  for (const Lane& lane : lanes_) {
    if (lane.tier != nullptr) context.tiers.push_back(lane.tier.get());
  }
  if (!context.tiers.empty() && context.tiers.size() != lanes_.size())
    return Status::Corruption("some lanes of {} have files of RocksDB and some have none", path_);
  for (const int from : plan.from)
    context.tables.push_back(from < 0 ? 0 : kept[static_cast<size_t>(from)].table);
  RT_ASSIGN(std::vector<JobGraph> graphs, BuildJob(planned, std::move(context)));
  for (size_t i = 0; i < lanes_.size(); ++i) lanes_[i].nodes = std::move(graphs[i]).Take();
  std::vector<bool> is_known(kept.size());
  size_t identity = 0;
  for (size_t node = 0; node < lanes_[0].nodes.size(); ++node) {
    if (lanes_[0].nodes[node].is_crossing) continue;
    const int from = plan.from[identity++];
    if (from < 0) continue;
    is_known[static_cast<size_t>(from)] = true;
    Restore(node, static_cast<size_t>(from), checkpoint);
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!is_known[i] && nodes_[i].fault.empty())
      nodes_[i].fault = "this version of Rowtide plans the job without this operator";
  }
  return Status::Ok();
}

// Of all lanes. What cannot be restored says why, and the others are shown.
void StateLook::Restore(size_t node, size_t kept, const Checkpoint& checkpoint) {
  LookedNode& looked = nodes_[kept];
  std::vector<ShownStates> shown;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    const NodeState& state = checkpoint.lanes[i].nodes[kept];
    JobNode& made = lanes_[i].nodes[node];
    auto* const keyed = dynamic_cast<KeyedOperator*>(made.operation.get());
    if (keyed == nullptr || made.is_absent || state.times.empty()) continue;
    SnapshotReader reader(state.bytes);
    const Status restored = keyed->Restore(reader);
    if (!restored.ok()) {
      looked.fault = restored.message();
      return;
    }
    shown.push_back(keyed->Shown());
  }
  for (size_t s = 0; !shown.empty() && s < shown[0].size(); ++s) {
    ShownStates lanes;
    for (ShownStates& lane : shown) lanes.push_back(std::move(lane[s]));
    looked.states.emplace_back(std::move(lanes));
  }
}

Status StateLook::MakeRoom() {
  for (const Lane& lane : lanes_) {
    if (lane.tier != nullptr) RT_TRY(lane.tier->Work());
  }
  return Status::Ok();
}

}  // namespace rowtide

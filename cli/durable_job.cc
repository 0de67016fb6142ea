#include "cli/durable_job.h"

#include <malloc.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <set>
#include <thread>

#include "cli/restarts.h"
#include "cli/state_paths.h"
#include "cli/version.h"
#include "connectors/files/list.h"
#include "planner/exec/exactly_once.h"
#include "planner/exec/explain.h"
#include "planner/exec/node_operators.h"
#include "state/ttl.h"

namespace rowtide {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Without an interval of its own, a job that has a state folder loses at most so much work.
constexpr int64_t kIntervalMillis = 10'000;
constexpr size_t kNameLetters = 120;

// As a folder is called: what may stand in a table's name may not stand there.
std::string FolderNameOf(const std::string& job, const std::string& digest, int occurrence) {
  std::string name;
  for (const char c : job) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
    name.push_back(is_plain ? c : '_');
  }
  if (name.size() > kNameLetters) name = name.substr(0, kNameLetters) + "-" + digest;
  return occurrence == 1 ? name : fmt::format("{}-{}", name, occurrence);
}

// In the state folder. Long names were told apart by a hash of the C++ library once: what was made
// so goes on under its name.
std::string FolderNameIn(const std::string& dir, const std::string& job, int occurrence) {
  const std::string former =
      FolderNameOf(job, fmt::format("{:08x}", std::hash<std::string>()(job)), occurrence);
  if (std::filesystem::exists(dir + "/" + former)) return former;
  return FolderNameOf(job, fmt::format("{:016x}", XXH3_64bits(job.data(), job.size())), occurrence);
}

// Those of the job's sinks that show nobody any rows, as nodes of a checkpoint are called.
std::set<std::string> SilentSinks(const PlannedJob& planned) {
  std::set<std::string> silent;
  for (const ExecPointer& root : planned.plan.roots) {
    const auto* sink = root->as<PhysicalSink>();
    if (sink == nullptr) continue;
    const ConnectorTraits traits = TraitsOf(SinkSpecOf(*sink->table, sink->hint_options));
    if (traits.sink && !traits.sink->shows_rows) silent.insert(DisplayName(*root));
  }
  return silent;
}

// Rows of it can be seen by others: a checkpoint before it would show them twice.
bool HasShownRows(const std::string& checkpoint_path, const PlannedJob& planned) {
  const std::set<std::string> silent = SilentSinks(planned);
  const Result<Manifest> manifest = LoadManifest(checkpoint_path);
  if (!manifest.ok()) return silent.size() < planned.plan.roots.size();
  return std::any_of(manifest->nodes.begin(), manifest->nodes.end(), [&](const NodeIdentity& node) {
    return node.kind.starts_with("Sink(") && !silent.contains(node.kind);
  });
}

// A damaged manifest, a damaged or missing file; not a disk that does not answer now.
bool IsDamaged(const std::string& checkpoint, const Status& status) {
  return status.code() == StatusCode::kCorruption ||
         !std::filesystem::exists(checkpoint + "/MANIFEST");
}

int64_t HalfOfMemory() { return int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE) / 2; }

// What is freed goes back to the machine, as far as it matters for the memory that there is: left
// to itself, malloc keeps arenas of several threads and large blocks for later, and every thread
// the blocks of its batches.
void BoundAllocator(int64_t memory) {
  LimitFreeBlocks(static_cast<size_t>(memory / 16));
#ifdef __GLIBC__
  const int64_t large = std::clamp<int64_t>(memory / 256, int64_t{64} << 10, int64_t{32} << 20);
  (void)mallopt(M_MMAP_THRESHOLD, static_cast<int>(large));
  (void)mallopt(M_TRIM_THRESHOLD, static_cast<int>(large));
  (void)mallopt(M_ARENA_MAX, static_cast<int>(std::clamp<int64_t>(memory >> 27, 2, 16)));
#endif
}

std::string FolderOf(const PlannedJob& planned, const StateSettings& settings) {
  if (!settings.dir.empty()) return settings.dir;
  return LocalPath(planned.options.Get("execution.checkpointing.dir"));
}

Result<std::optional<LoadedCheckpoint>> NewestIn(const std::string& folder,
                                                 const PlannedJob& planned,
                                                 const DurableJob::Say& say) {
  RT_ASSIGN(const std::vector<CheckpointEntry> entries, ListCheckpoints(folder));
  Status damage = Status::Ok();
  for (const CheckpointEntry& entry : entries) {
    if (!entry.is_decided) continue;  // nobody has seen anything of it
    Result<LoadedCheckpoint> loaded = LoadCheckpoint(entry.path);
    if (loaded.ok()) {
      if (!damage.ok())
        say(fmt::format("{}; going on from {} instead", damage.message(), entry.path));
      return std::optional<LoadedCheckpoint>(std::move(*loaded));
    }
    if (!IsDamaged(entry.path, loaded.status())) return loaded.status();
    if (HasShownRows(entry.path, planned)) {
      return Status(loaded.status())
          .WithContext("the newest checkpoint cannot be read: " + entry.path)
          .WithErrorCode("RT6002")
          .WithHint(
              "rows up to it have been shown already, so an older one would show them again: "
              "--fresh --restore OLDER to go on from one all the same, --fresh to begin anew");
    }
    if (damage.ok()) damage = Status(loaded.status()).WithContext("damaged: " + entry.path);
  }
  if (damage.ok()) return std::optional<LoadedCheckpoint>();
  return std::move(damage)
      .WithContext("no checkpoint can be restored")
      .WithErrorCode("RT6003")
      .WithHint("--fresh begins anew, without any state");
}

Status CheckTimeToLive(const Checkpoint& checkpoint, const Options& options) {
  const bool had = checkpoint.state_ttl_millis > 0;
  const bool has = options.GetMillis("table.exec.state.ttl") > 0;
  return HasFiles(checkpoint) && had != has ? TimeToLiveDiffers(had) : Status::Ok();
}

// What --restore names. Where there is none, what might have been meant.
Result<LoadedCheckpoint> LoadNamed(const std::string& path) {
  if (IsCheckpoint(path)) return LoadCheckpoint(path);
  const Status none =
      Status::NotFound("there is no checkpoint or savepoint {}", path).WithErrorCode("RT6007");
  if (const auto inside = CheckpointsOf(path); inside.ok())
    return Status(none).WithHint("the newest one in it is " + inside->front());
  const std::filesystem::path named = std::filesystem::path(path).lexically_normal();
  const std::string parent = named.has_parent_path() ? named.parent_path().string() : ".";
  std::vector<std::string> beside;
  std::error_code ignored;
  for (const auto& one : std::filesystem::directory_iterator(parent, ignored)) {
    if (IsCheckpoint(one.path().string())) beside.push_back(one.path().filename().string());
  }
  const std::string nearest = Nearest(named.filename().string(), beside);
  if (!nearest.empty()) return Status(none).WithHint("did you mean " + nearest + "?");
  return Status(none).WithHint("`rowtide state ls DIR` lists the checkpoints of a state folder");
}

CheckpointSettings SettingsOf(const Options& options) {
  CheckpointSettings settings;
  settings.interval_millis = options.IsSet("execution.checkpointing.interval")
                                 ? options.GetMillis("execution.checkpointing.interval")
                                 : kIntervalMillis;
  settings.min_pause_millis = options.GetMillis("execution.checkpointing.min-pause");
  settings.timeout_millis = options.GetMillis("execution.checkpointing.timeout");
  settings.kept = static_cast<int>(
      std::max<int64_t>(2, options.GetInt("execution.checkpointing.num-retained")));
  settings.tolerable_failures =
      static_cast<int>(options.GetInt("execution.checkpointing.tolerable-failed-checkpoints"));
  settings.disk_reserve_bytes = options.GetBytes("rowtide.disk.reserve");
  return settings;
}

// The transaction of its exactly-once sinks, if it has any.
Result<std::unique_ptr<KafkaTransactions>> TransactionsOf(const PlannedJob& planned,
                                                          const std::string& job,
                                                          const DurableJob::Say& say) {
  RT_ASSIGN(std::optional<ExactlyOnceSinks> sinks, ExactlyOnceSinksOf(planned.plan));
  if (!sinks) return std::unique_ptr<KafkaTransactions>();
  const KafkaSinkSpec& sink = sinks->spec;
  return KafkaTransactions::Create(
      {sink.properties.settings, sink.properties.bootstrap, sink.transactional_id_prefix, job,
       SettingsOf(planned.options).interval_millis, Version(), std::move(sinks->topics)},
      say);
}

}  // namespace

DurableJob::DurableJob(std::unique_ptr<CheckpointFolder> folder, const PlannedJob& planned,
                       StateSettings settings, int occurrence, Say say)
    : folder_(std::move(folder)),
      planned_(planned),
      settings_(std::move(settings)),
      occurrence_(occurrence),
      say_(std::move(say)),
      restarts_(RestartSettingsOf(planned.options), std::random_device()()) {}

Result<std::unique_ptr<DurableJob>> DurableJob::Open(const PlannedJob& planned,
                                                     const StateSettings& settings, int occurrence,
                                                     Say say) {
  const std::string dir = FolderOf(planned, settings);
  if (dir.empty()) {
    if (planned.options.IsSet("restart-strategy.type"))
      say("'restart-strategy.type' has no effect without a state folder (--state): there is "
          "nothing to go on from");
    return std::unique_ptr<DurableJob>();
  }
  if (planned.is_query || planned.gives_final_rows()) {
    say(planned.is_query ? "the rows of a SELECT are not kept in the state folder: it starts anew "
                           "each time"
                         : "batch mode has no checkpoints: the job starts anew each time");
    return std::unique_ptr<DurableJob>();
  }
  const std::string name = FolderNameIn(dir, planned.name, occurrence);
  RT_ASSIGN(std::unique_ptr<CheckpointFolder> folder, CheckpointFolder::Open(dir, name, Version()));
  std::unique_ptr<DurableJob> job(
      new DurableJob(std::move(folder), planned, settings, occurrence, say));
  RT_ASSIGN(job->transactions_, TransactionsOf(planned, name, say));
  job->folder_->SetDecisionLog(job->transactions_.get());
  RT_TRY(job->Choose(settings));
  job->allows_lost_ = AllowsLost(planned, settings);
  job->has_read_all_ = job->chosen_ && job->chosen_->checkpoint.kind == CheckpointKind::kFinal;
  job->is_fresh_ = settings.fresh;
  if (settings.fresh) job->folder_->ChooseNewLife();
  if (job->is_done()) RT_TRY(job->folder_->RemoveLeftovers());
  return job;
}

bool DurableJob::AllowsLost(const PlannedJob& planned, const StateSettings& settings) {
  return settings.allows_lost ||
         planned.options.GetBool("execution.state-recovery.ignore-unclaimed-state");
}

Result<std::optional<LoadedCheckpoint>> DurableJob::Find(const PlannedJob& planned,
                                                         const StateSettings& settings,
                                                         int occurrence, const Say& say) {
  std::string given = settings.restore;
  if (given.empty()) given = LocalPath(planned.options.Get("execution.state-recovery.path"));
  std::optional<LoadedCheckpoint> found;
  if (!settings.fresh) {
    const std::string dir = FolderOf(planned, settings);
    RT_ASSIGN(found,
              NewestIn(dir + "/" + FolderNameIn(dir, planned.name, occurrence), planned, say));
    if (found && !given.empty())
      say(fmt::format("{} is not used: the job has gone on since then", given));
  }
  if (!found && !given.empty()) {
    RT_ASSIGN(found, LoadNamed(given));
  }
  if (found) RT_TRY(CheckTimeToLive(found->checkpoint, planned.options));
  return found;
}

Status DurableJob::Choose(const StateSettings& settings) {
  if (transactions_ != nullptr) return ChooseDecided(settings);
  RT_ASSIGN(chosen_, Find(planned_, settings, occurrence_, say_));
  return Status::Ok();
}

Status DurableJob::ChooseDecided(const StateSettings& settings) {
  RT_ASSIGN(decided_, transactions_->Begin(folder_->run_id()));
  chosen_ = std::nullopt;
  std::string given = settings.restore;
  if (given.empty()) given = LocalPath(planned_.options.Get("execution.state-recovery.path"));
  // What was decided before the job was begun anew is of no use to it.
  if (settings.fresh) left_behind_ = decided_;
  const bool begins_anew = settings.fresh || (left_behind_ && decided_ == left_behind_);
  if (!begins_anew && decided_) {
    Result<std::string> path = folder_->Adopt(*decided_);
    if (!path.ok()) {
      return Status(path.status())
          .WithContext(transactions_->Place())
          .WithHint(
              "rows up to it can be read already: bring the state folder back; --fresh --restore "
              "CHECKPOINT goes on from another one all the same, --fresh begins anew");
    }
    if (!given.empty()) say_(fmt::format("{} is not used: the job has gone on since then", given));
    given = *path;
  } else if (!begins_anew) {
    RT_TRY(RefuseUndecided());
  }
  if (given.empty()) return Status::Ok();
  RT_ASSIGN(chosen_, LoadNamed(given));
  return CheckTimeToLive(chosen_->checkpoint, planned_.options);
}

// Nothing was ever decided there. A first checkpoint that was only prepared is as good as none.
Status DurableJob::RefuseUndecided() const {
  RT_ASSIGN(const std::vector<CheckpointEntry> entries, ListCheckpoints(folder_->path()));
  for (const CheckpointEntry& entry : entries) {
    if (!entry.is_decided && entry.epoch == 1) continue;
    return Status::Corruption("{} is there, but nothing was decided yet by {}", entry.path,
                              transactions_->Place())
        .WithErrorCode("RT6012")
        .WithHint(fmt::format(
            "if the job was not written exactly once before, --fresh --restore {} goes on from it; "
            "--fresh begins anew",
            entry.path));
  }
  return Status::Ok();
}

bool DurableJob::has_kept_files() const { return chosen_ && HasFiles(chosen_->checkpoint); }

bool DurableJob::has_other_lanes() const {
  return chosen_->checkpoint.lanes.size() != static_cast<size_t>(LanesOf(planned_));
}

// Entries that lie in RocksDB stay there; a checkpoint of state in memory may go into either.
void DurableJob::ChooseBackend() {
  const Options& options = planned_.options;
  const bool wants =
      options.Get("state.backend.type") != "hashmap" || !options.IsSet("state.backend.type");
  if (has_kept_files() && !wants)
    say_("the state is in RocksDB and stays there: 'state.backend.type' has no effect");
  uses_rocksdb_ = has_kept_files() || wants;
}

// What of the checkpoint goes where: it refuses what does not fit before anything is made.
Status DurableJob::PlanTheRestore() {
  RT_ASSIGN(const std::vector<NodeIdentity> nodes, IdentitiesOf(planned_));
  plan_ = RestorePlan();
  plan_.from.assign(nodes.size(), RestorePlan::kStartsEmpty);
  if (chosen_) {
    RT_ASSIGN(plan_, PlanRestore(nodes, chosen_->checkpoint, allows_lost_));
  }
  return Status::Ok();
}

std::vector<uint32_t> DurableJob::Tables() const {
  const std::vector<NodeState>& kept = chosen_->checkpoint.lanes[0].nodes;
  uint32_t next = 0;
  for (const NodeState& state : kept) next = std::max(next, state.table);
  std::vector<uint32_t> tables;
  for (const int from : plan_.from)
    tables.push_back(from < 0 ? ++next : kept[static_cast<size_t>(from)].table);
  return tables;
}

int64_t DurableJob::memory_limit() const {
  const Options& options = planned_.options;
  return options.IsSet("rowtide.memory.limit") ? options.GetBytes("rowtide.memory.limit")
                                               : HalfOfMemory();
}

// An eighth, so that lanes need not wait for each other; but no more than the channels of an
// Exchange would take anyway.
int64_t DurableJob::exchange_bytes() const {
  const int64_t lanes = LanesOf(planned_);
  return lanes > 1 ? std::min(memory_limit() / 8, lanes * lanes * Channel::kBytesMax) : 0;
}

Status DurableJob::OpenStores() {
  const int lanes = LanesOf(planned_);
  const int64_t memory = (memory_limit() - exchange_bytes()) / lanes;
  const bool imports = has_kept_files() && has_other_lanes();
  for (int lane = 0; lane < lanes; ++lane) {
    const std::string work = folder_->WorkFolder(lane);
    std::unique_ptr<RocksDbLane> store;
    if (has_kept_files() && !imports) {
      const LaneState& kept = chosen_->checkpoint.lanes[static_cast<size_t>(lane)];
      RT_ASSIGN(store, RocksDbLane::Open(work, memory, kept.files));
    } else {
      RT_ASSIGN(store, RocksDbLane::Create(work, memory, imports));
    }
    stores_.push_back(std::move(store));
  }
  return Status::Ok();
}

Result<std::vector<JobGraph>> DurableJob::Build(BuildContext context) {
  context.job_id = folder_->job_id();
  context.earlier_job_id = folder_->earlier_job_id();
  context.connectors.kafka_transactions = transactions_.get();
  RT_TRY(PlanTheRestore());
  ChooseBackend();
  if (!uses_rocksdb_) return BuildJob(planned_, std::move(context));
  if (chosen_) context.tables = Tables();
  BoundAllocator(memory_limit());
  context.exchange_bytes = exchange_bytes();
  RT_TRY(OpenStores());
  for (const auto& store : stores_) context.tiers.push_back(store->tier());
  RT_ASSIGN(std::vector<JobGraph> graphs, BuildJob(planned_, std::move(context)));
  if (has_kept_files() && has_other_lanes()) {
    for (int lane = 0; lane < static_cast<int>(stores_.size()); ++lane) {
      const auto share = [&](uint32_t table) { return KeyGroupsOfTable(graphs, lane, table); };
      RT_TRY(stores_[static_cast<size_t>(lane)]->Import(chosen_->checkpoint.lanes, share));
    }
  }
  return graphs;
}

void DurableJob::Prepare(JobOptions* options) {
  // Epochs rise, also where the job begins anew.
  const int64_t epoch =
      std::max(chosen_ ? chosen_->checkpoint.epoch : 0, decided_ ? decided_->epoch : 0);
  checkpointer_ =
      std::make_unique<Checkpointer>(folder_.get(), SettingsOf(planned_.options), epoch, say_);
  options->checkpointer = checkpointer_.get();
  options->requests = requests_.get();
  for (const auto& store : stores_) options->stores.push_back(store.get());
  options->head.job_name = planned_.name;
  options->head.plan = ExplainExec(planned_.plan);
  options->head.script = planned_.script;
  options->head.state_ttl_millis = planned_.options.GetMillis("table.exec.state.ttl");
}

Status DurableJob::Restore(Job& job) {
  Checkpoint checkpoint;
  if (chosen_) {
    checkpoint = std::move(chosen_->checkpoint);
    for (const std::string& note : plan_.notes) say_(note);
  } else {
    checkpoint.lanes.emplace_back();
  }
  RT_TRY(is_fresh_ ? folder_->BeginAfresh() : folder_->RemoveLeftovers());
  is_fresh_ = false;
  RT_TRY(job.Restore(checkpoint, plan_));
  RT_ASSIGN(control_, ControlSocket::Open(folder_->path(), SavepointDir(), requests_.get()));
  say_(chosen_ ? fmt::format("goes on from {}", chosen_->path)
               : fmt::format("starts from the first record; state goes to {}", folder_->path()));
  return Status::Ok();
}

// Where savepoints go for which no place is named.
std::string DurableJob::SavepointDir() const {
  const std::string dir = LocalPath(planned_.options.Get("execution.checkpointing.savepoint-dir"));
  return std::filesystem::absolute(dir.empty() ? folder_->path() : dir).lexically_normal();
}

Status DurableJob::MarkDone() {
  RT_TRY(folder_->Retire(SettingsOf(planned_.options).kept));
  return folder_->MarkDone();
}

int64_t DurableJob::interval_millis() const { return SettingsOf(planned_.options).interval_millis; }

// --- after a failure ---

bool DurableJob::IsWorthARestart(const Status& failure) const {
  if (!MayPass(failure) || TableOnStandardInput(planned_)) return false;
  // By default only what has worked: the first start tells at once what is set up wrongly.
  return planned_.options.IsSet("restart-strategy.type") || has_worked_;
}

std::optional<int64_t> DurableJob::DelayAfter(const Status& failure) {
  has_worked_ |= checkpointer_ != nullptr && checkpointer_->completed() > 0;
  if (!IsWorthARestart(failure)) return std::nullopt;
  const auto now = steady_clock::now().time_since_epoch();
  const std::optional<int64_t> delay =
      restarts_.OnFailure(std::chrono::duration_cast<milliseconds>(now).count());
  if (delay) {
    say_(fmt::format("{}; restart {} from the newest checkpoint in {:.1f} s", failure.message(),
                     restarts(), static_cast<double>(*delay) / 1000));
  } else if (restarts() > 0) {
    say_(fmt::format("{} restarts are as many as {} allows", restarts(),
                     Quote("restart-strategy.type")));
  }
  return delay;
}

bool DurableJob::AwaitRestart(int64_t delay_millis, const std::atomic<int>& stop) {
  constexpr milliseconds kLook{20};
  checkpointer_ = nullptr;
  stores_.clear();
  const steady_clock::time_point until = steady_clock::now() + milliseconds(delay_millis);
  while (true) {
    if (stop.load() != 0) return false;
    if (const auto request = requests_->Take()) {
      const bool stops = request->stops && request->savepoint.empty();
      requests_->Answer(stops ? Status::Ok()
                              : Status::External("the job has failed and waits for its restart: "
                                                 "there is nothing to save now"));
      if (stops) return false;
    }
    const auto left = until - steady_clock::now();
    if (left <= milliseconds(0)) return true;
    std::this_thread::sleep_for(std::min<steady_clock::duration>(left, kLook));
  }
}

Status DurableJob::Reopen() {
  control_ = nullptr;
  requests_ = std::make_unique<JobRequests>();
  folder_->BeginRun();
  StateSettings settings = settings_;
  settings.fresh = is_fresh_;  // until the first start has come so far
  if (has_worked_) settings.restore.clear();
  RT_TRY(Choose(settings));
  has_read_all_ = chosen_ && chosen_->checkpoint.kind == CheckpointKind::kFinal;
  return Status::Ok();
}

Result<bool> DurableJob::ForgetIfAsked() {
  const std::string retention =
      planned_.options.Get("execution.checkpointing.externalized-checkpoint-retention");
  if (retention == "RETAIN_ON_CANCELLATION") return false;
  folder_->ChooseNewLife();
  RT_TRY(folder_->BeginAfresh());
  return true;
}

}  // namespace rowtide

#include "engine/runtime/job.h"

#include <algorithm>
#include <thread>

#include "engine/thread_start.h"

namespace rowtide {

using std::chrono::steady_clock;

namespace {

constexpr int64_t kLongestGuessMillis = 20;
constexpr int kStepsBetweenProgress = 64;
constexpr int kStepsBetweenLooks = 16;  // at the clock, for a report

std::vector<JobGraph> OneLane(JobGraph graph) {
  std::vector<JobGraph> lanes;
  lanes.push_back(std::move(graph));
  return lanes;
}

}  // namespace

Job::Job(JobGraph graph, JobOptions options) : Job(OneLane(std::move(graph)), std::move(options)) {}

Job::Job(std::vector<JobGraph> lanes, JobOptions options) : options_(std::move(options)) {
  RT_CHECK(!lanes.empty());
  const Lane::Ticks ticks{options_.clock, options_.tick_interval_millis};
  RT_CHECK(options_.stores.empty() || options_.stores.size() == lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) {
    LaneStore* const store = options_.stores.empty() ? nullptr : options_.stores[i];
    lanes_.push_back(
        std::make_unique<Lane>(std::move(lanes[i]), options_.samples_time, ticks, store));
  }
  states_.resize(lanes_.size());
  if (options_.board != nullptr) options_.board->Begin(lanes_.size());
}

bool Job::StopRequested() const {
  return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed) != 0;
}

Result<SourceState> Job::Step() {
  for (size_t tried = 0; tried < lanes_.size(); ++tried) {
    Lane& lane = *lanes_[lane_turn_];
    lane_turn_ = (lane_turn_ + 1) % lanes_.size();
    if (lane.sources_ended()) continue;
    RT_ASSIGN(const SourceState state, lane.Poll(StopRequested()));
    RT_TRY(DrainAll());
    if (state != SourceState::kEnd) return state;
    const bool all = std::all_of(lanes_.begin(), lanes_.end(),
                                 [](const auto& one) { return one->sources_ended(); });
    return all ? SourceState::kEnd : SourceState::kMore;
  }
  return SourceState::kEnd;
}

Status Job::DrainAll() {
  for (bool any = true; any;) {
    any = false;
    for (const auto& lane : lanes_) {
      RT_ASSIGN(const bool here, lane->Drain());
      any |= here;
    }
  }
  return Status::Ok();
}

Result<JobEnd> Job::RunToEnd() {
  Result<JobEnd> end = is_several() ? RunLanes() : RunLane(*lanes_[0], true);
  if (end.ok()) end = Close(*end);
  if (!end.ok()) Abandon();
  ReportAll();
  return end;
}

// A savepoint is taken while no lane runs; then they go on.
Result<JobEnd> Job::RunLanes() {
  while (true) {
    RT_ASSIGN(const bool was_stopped, RunThreads());
    if (was_stopped || !is_paused_.exchange(false))
      return was_stopped && !is_over_ ? JobEnd::kStopped : JobEnd::kEnded;
    RT_TRY(Settle());
    RT_ASSIGN(const bool stops, ServeRequest());
    if (stops) return JobEnd::kStopped;
    is_over_ = false;
    retired_ = 0;
  }
}

Result<bool> Job::RunThreads() {
  std::atomic<bool> was_stopped = false;
  const auto run = [&](Lane& lane, bool is_first) {
    const Result<JobEnd> end = RunLane(lane, is_first);
    if (!end.ok()) Halt(end.status());
    if (end.ok() && *end == JobEnd::kStopped) was_stopped = true;
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < lanes_.size(); ++i) {
    Result<std::thread> thread = StartThread([&run, lane = lanes_[i].get()] { run(*lane, false); });
    if (!thread.ok()) {
      Halt(thread.status());
      break;
    }
    threads.push_back(std::move(*thread));
  }
  run(*lanes_[0], true);
  for (std::thread& thread : threads) thread.join();
  RT_TRY(failure());
  return was_stopped.load();
}

Result<JobEnd> Job::RunLane(Lane& lane, bool is_first) {
  size_t waiting = 0;  // polls in a row that gave nothing
  int64_t guess_millis = 1;
  bool has_retired = false;
  for (int steps = 0;; ++steps) {
    if (StopRequested()) return JobEnd::kStopped;
    if (is_over_.load(std::memory_order_relaxed)) return JobEnd::kEnded;
    if (is_first && options_.is_enough && options_.is_enough()) {
      Halt(Status::Ok());
      return JobEnd::kEnded;
    }
    if (!is_several()) {
      RT_ASSIGN(const bool stops, ServeRequest());
      if (stops) return JobEnd::kStopped;
    } else if (is_first && options_.requests != nullptr && options_.requests->is_waiting()) {
      is_paused_ = true;
      Halt(Status::Ok());
      return JobEnd::kEnded;
    }
    const auto before = options_.checkpointer != nullptr ? steady_clock::now() : Moment();
    if (is_first) RT_TRY(LookAtCheckpoints());
    RT_TRY(TakeOrders(lane));
    if (options_.checkpointer != nullptr) lane.NoteStop(steady_clock::now() - before);
    RT_TRY(lane.TickIfDue());
    RT_ASSIGN(const SourceState state, lane.Step(StopRequested(), lacks_room_));
    if (state == SourceState::kEnd && !std::exchange(has_retired, true) && Retire())
      return JobEnd::kEnded;
    if (is_several() && steps % kStepsBetweenProgress == 0) lane.PublishProgress();
    if (state != SourceState::kMore || steps % kStepsBetweenLooks == 0) ReportIfDue(lane);
    if (state == SourceState::kMore) {
      waiting = 0;
      guess_millis = 1;
    } else if (lane.has_work_on_store()) {
      continue;
    } else if (++waiting >= lane.polls_to_wait()) {
      if (!lacks_room_) RT_TRY(lane.task().FlushSinks());
      lane.Wait(guess_millis, [&] { return is_over_ || HasOrders(lane); });
      waiting = 0;
      guess_millis = std::min(guess_millis * 2, kLongestGuessMillis);
    }
  }
}

bool Job::Retire() {
  if (++retired_ < lanes()) return false;
  Halt(Status::Ok());
  return true;
}

void Job::Halt(Status failure) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure.ok() && !failure_) failure_ = std::move(failure);
  }
  is_over_ = true;
  NotifyAll();
}

void Job::NotifyAll() {
  for (const auto& lane : lanes_) lane->signal().Notify();
}

Status Job::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_.value_or(Status::Ok());
}

Status Job::Settle() {
  for (const auto& lane : lanes_) RT_TRY(TakeOrders(*lane));
  RT_TRY(DrainAll());
  for (const auto& lane : lanes_) lane->ForgetSnapshot();
  for (auto& state : states_) state = std::nullopt;
  handed_in_ = 0;
  begun_ = std::nullopt;
  return Status::Ok();
}

// The last checkpoint has all that a barrier under way would have had.
Result<JobEnd> Job::Close(JobEnd end) {
  RT_TRY(Settle());
  const auto before = steady_clock::now();
  RT_TRY(
      TakeCheckpoint(end == JobEnd::kStopped ? CheckpointKind::kPeriodic : CheckpointKind::kFinal));
  at_end_ = steady_clock::now() - before;
  if (end == JobEnd::kEnded) RT_TRY(Finish());
  return end;
}

Status Job::Finish() {
  for (const auto& lane : lanes_) RT_TRY(lane->task().Finish());
  return Status::Ok();
}

void Job::Abandon() {
  for (const auto& lane : lanes_) lane->task().Abandon();
}

// --- checkpoints ---

Checkpoint Job::NewCheckpoint(int64_t epoch, CheckpointKind kind) const {
  Checkpoint checkpoint = options_.head;
  checkpoint.epoch = epoch;
  checkpoint.kind = kind;
  checkpoint.next_source = static_cast<uint32_t>(lanes_[0]->turn());
  const Clock* const clock = options_.wall_clock != nullptr ? options_.wall_clock : options_.clock;
  if (clock != nullptr) checkpoint.millis = clock->NowMillis();
  return checkpoint;
}

Result<Checkpoint> Job::Snapshot(int64_t epoch, CheckpointKind kind) {
  Checkpoint checkpoint = NewCheckpoint(epoch, kind);
  for (const auto& lane : lanes_) {
    RT_ASSIGN(LaneState state, lane->Snapshot(epoch));
    checkpoint.lanes.push_back(std::move(state));
  }
  return checkpoint;
}

Status Job::Restore(const Checkpoint& checkpoint) {
  RT_ASSIGN(const RestorePlan plan, PlanRestore(Identities(), checkpoint, false));
  return Restore(checkpoint, plan);
}

Status Job::Restore(const Checkpoint& checkpoint, const RestorePlan& plan) {
  for (size_t lane = 0; lane < lanes_.size(); ++lane)
    RT_TRY(lanes_[lane]->task().Restore(StatesOf(lane, checkpoint, plan)));
  RT_TRY(RestoreCounts(checkpoint, plan));
  Lane& first = *lanes_[0];
  first.set_turn(checkpoint.next_source % std::max<size_t>(first.task().sources().size(), 1));
  return Status::Ok();
}

// They are sums over all lanes: where there are other lanes, the first one has all of them.
Status Job::RestoreCounts(const Checkpoint& checkpoint, const RestorePlan& plan) {
  for (size_t earlier = 0; earlier < checkpoint.lanes.size(); ++earlier) {
    Lane& lane = *lanes_[checkpoint.lanes.size() == lanes_.size() ? earlier : 0];
    for (size_t node = 0; node < plan.from.size(); ++node) {
      if (plan.from[node] < 0) continue;
      const int number = static_cast<int>(node);
      Lane& counting = lane.task().has(number) ? lane : *lanes_[0];
      RT_TRY(counting.task().AddCounts(
          number, checkpoint.lanes[earlier].nodes[static_cast<size_t>(plan.from[node])]));
    }
  }
  return Status::Ok();
}

// Keyed state and positions of sources: every lane looks at all of it and keeps its share. What
// sinks have staged: one lane shows it, the same one as before where there still is one.
NodeStates Job::StatesOf(size_t lane, const Checkpoint& checkpoint, const RestorePlan& plan) const {
  static const NodeState nothing_staged;
  NodeStates states(plan.from.size());
  for (size_t node = 0; node < plan.from.size(); ++node) {
    const bool is_sink = lanes_[0]->task().is_sink(static_cast<int>(node));
    const bool in_all = lanes_.back()->task().has(static_cast<int>(node));
    for (size_t earlier = 0; plan.from[node] >= 0 && earlier < checkpoint.lanes.size(); ++earlier) {
      const NodeState& state =
          checkpoint.lanes[earlier].nodes[static_cast<size_t>(plan.from[node])];
      if (state.times.empty()) continue;  // that lane did not have it
      if (!is_sink || lane == (in_all ? earlier % lanes_.size() : 0))
        states[node].push_back(&state);
    }
    const bool is_here = lanes_[lane]->task().has(static_cast<int>(node));
    if (is_sink && is_here && states[node].empty())
      states[node].push_back(plan.from[node] < 0 ? nullptr : &nothing_staged);
  }
  return states;
}

Status Job::LookAtCheckpoints() {
  Checkpointer* const checkpointer = options_.checkpointer;
  if (checkpointer == nullptr) return Status::Ok();
  lacks_room_ = checkpointer->WaitsForRoom();
  RT_ASSIGN(const std::optional<int64_t> decided, checkpointer->Outcome());
  if (decided) {
    showing_ = lanes();
    decided_ = *decided;
    NotifyAll();
  }
  ReportCheckpoints();
  if (begun_) return WriteIfComplete();
  if (showing_ > 0 || !checkpointer->IsDue()) return Status::Ok();
  begun_ = NewCheckpoint(checkpointer->next_epoch(), CheckpointKind::kPeriodic);
  barrier_ = begun_->epoch;
  NotifyAll();
  return Status::Ok();
}

Status Job::WriteIfComplete() {
  if (handed_in_ < lanes()) return Status::Ok();
  Checkpoint checkpoint = std::move(*std::exchange(begun_, std::nullopt));
  Status failure = Status::Ok();
  {
    const std::lock_guard lock(mutex_);
    for (auto& handed_in : states_) {
      Result<LaneState> state = std::move(*std::exchange(handed_in, std::nullopt));
      if (state.ok()) {
        checkpoint.lanes.push_back(std::move(*state));
      } else if (failure.ok()) {
        failure = state.status();
      }
    }
    handed_in_ = 0;
  }
  if (!failure.ok()) return options_.checkpointer->GiveUp(std::move(failure)).status();
  options_.checkpointer->Begin(std::move(checkpoint));
  return Status::Ok();
}

bool Job::HasOrders(const Lane& lane) const {
  if (&lane == lanes_[0].get() && handed_in_ == lanes()) return true;
  return decided_ > lane.shown_epoch() || barrier_ > lane.task().newest_barrier();
}

Status Job::TakeOrders(Lane& lane) {
  RT_TRY(lane.WorkOnStore());
  if (decided_ > lane.shown_epoch()) {
    lane.set_shown_epoch(decided_);
    RT_TRY(lane.task().Commit(decided_));
    --showing_;
  }
  if (barrier_ > lane.task().newest_barrier()) RT_TRY(lane.task().Meet(Barrier{barrier_}));
  HandIn(lane);
  return Status::Ok();
}

void Job::HandIn(Lane& lane) {
  std::optional<Result<LaneState>> state = lane.TakeSnapshot();
  if (!state) return;
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].get() == &lane) states_[i] = std::move(state);
    }
    ++handed_in_;
  }
  lanes_[0]->signal().Notify();
}

Status Job::TakeCheckpoint(CheckpointKind kind) {
  Checkpointer* const checkpointer = options_.checkpointer;
  if (checkpointer == nullptr) return Status::Ok();
  RT_TRY(Settle());
  if (checkpointer->is_writing()) {
    RT_ASSIGN(const std::optional<int64_t> earlier, checkpointer->Await());
    RT_TRY(CommitAll(earlier));
  }
  RT_ASSIGN(Checkpoint checkpoint, SnapshotWithFiles(checkpointer->next_epoch(), kind));
  checkpointer->Begin(std::move(checkpoint));
  RT_ASSIGN(const std::optional<int64_t> decided, checkpointer->Await());
  if (!decided) return Status::External("the last checkpoint could not be written");
  return CommitAll(decided);
}

// All stores write at the same time.
Result<Checkpoint> Job::SnapshotWithFiles(int64_t epoch, CheckpointKind kind) {
  RT_ASSIGN(Checkpoint checkpoint, Snapshot(epoch, kind));
  for (const auto& lane : lanes_) RT_TRY(lane->WorkOnStore());
  for (size_t i = 0; i < lanes_.size(); ++i) RT_TRY(lanes_[i]->AddFiles(&checkpoint.lanes[i]));
  return checkpoint;
}

// First a checkpoint, so that all is shown that belongs to the savepoint and it stages nothing: it
// may be restored where the files of this job are not.
Result<bool> Job::ServeRequest() {
  if (options_.requests == nullptr) return false;
  const std::optional<JobRequests::Request> request = options_.requests->Take();
  if (!request) return false;
  RT_TRY(TakeCheckpoint(CheckpointKind::kPeriodic));
  Status status = Status::Ok();
  if (!request->savepoint.empty()) {
    Checkpointer* const checkpointer = options_.checkpointer;
    RT_ASSIGN(Checkpoint checkpoint,
              SnapshotWithFiles(checkpointer->last_epoch(), CheckpointKind::kSavepoint));
    status = checkpointer->WriteSavepoint(checkpoint, request->savepoint);
  }
  const bool stops = status.ok() && request->stops;
  options_.requests->Answer(std::move(status));
  return stops;
}

Status Job::CommitAll(std::optional<int64_t> epoch) {
  if (!epoch) return Status::Ok();
  for (const auto& lane : lanes_) RT_TRY(lane->task().Commit(*epoch));
  return Status::Ok();
}

// --- what is known of it ---

JobProgress Job::Progress() const {
  if (!is_several()) return lanes_[0]->task().Progress();
  JobProgress all;
  std::optional<int64_t> watermark;
  for (const auto& lane : lanes_) {
    const JobProgress one = lane->published_progress();
    all.rows_read += one.rows_read;
    all.bytes_read += one.bytes_read;
    all.bytes_total += one.bytes_total;
    all.knows_total &= one.knows_total;
    all.state_bytes += one.state_bytes;
    if (lane->task().has_sink())
      watermark = std::min(watermark.value_or(one.watermark), one.watermark);
  }
  all.watermark = watermark.value_or(Time::kNoWatermark);
  return all;
}

int64_t Job::rows_read() const {
  int64_t rows = 0;
  for (const auto& lane : lanes_) rows += lane->task().rows_read();
  return rows;
}

std::vector<NodeStats> Job::Stats() const {
  std::vector<NodeStats> all = lanes_[0]->task().Stats();
  for (size_t i = 1; i < lanes_.size(); ++i) {
    const std::vector<NodeStats> others = lanes_[i]->task().Stats();
    for (size_t node = 0; node < all.size(); ++node) all[node].Add(others[node]);
  }
  return all;
}

std::vector<PathTime> Job::TimePaths() const {
  std::vector<PathTime> all;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    for (PathTime& path : lanes_[i]->task().TimePaths()) {
      path.lane = static_cast<int>(i);
      all.push_back(std::move(path));
    }
  }
  return all;
}

CheckpointCosts Job::checkpoint_costs() const {
  CheckpointCosts costs;
  if (options_.checkpointer == nullptr) return costs;
  costs.completed = options_.checkpointer->completed();
  costs.failed = options_.checkpointer->failed();
  costs.at_end = at_end_;
  for (const auto& lane : lanes_)
    costs.longest_stop = std::max(costs.longest_stop, lane->longest_stop());
  return costs;
}

std::vector<std::string> Job::Summaries() const {
  std::vector<const Task*> tasks;
  for (const auto& lane : lanes_) tasks.push_back(&lane->task());
  return Task::Summaries(tasks);
}

// --- what others are shown ---

void Job::Report(const Lane& lane) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (lanes_[i].get() == &lane) options_.board->Publish(i, lane.Report());
  }
}

void Job::ReportIfDue(Lane& lane) {
  if (options_.board != nullptr && lane.ReportIsDue()) Report(lane);
}

void Job::ReportCheckpoints() {
  if (options_.board == nullptr || options_.checkpointer == nullptr) return;
  if (options_.checkpointer->has_news()) options_.board->Publish(options_.checkpointer->Report());
}

void Job::ReportAll() {
  if (options_.board == nullptr) return;
  for (const auto& lane : lanes_) Report(*lane);
  ReportCheckpoints();
}

}  // namespace rowtide

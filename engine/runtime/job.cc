#include "engine/runtime/job.h"

#include <algorithm>
#include <thread>

#include "engine/thread_start.h"

namespace rowtide {

namespace {

constexpr int64_t kLongestGuessMillis = 20;
constexpr int kStepsBetweenProgress = 64;

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
  for (JobGraph& graph : lanes)
    lanes_.push_back(std::make_unique<Lane>(std::move(graph), options_.samples_time, ticks));
  states_.resize(lanes_.size());
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
  for (bool any = is_several(); any;) {
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
  return end;
}

Result<JobEnd> Job::RunLanes() {
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
  if (was_stopped || !is_paused_.exchange(false))
    return was_stopped && !is_over_ ? JobEnd::kStopped : JobEnd::kEnded;
  RT_TRY(Settle());
  RT_ASSIGN(const bool stops, ServeRequest());
  if (stops) return JobEnd::kStopped;
  is_over_ = false;
  retired_ = 0;
  return RunLanes();
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
    if (is_first) RT_TRY(LookAtCheckpoints());
    if (is_several()) {
      if (is_first && options_.requests != nullptr && options_.requests->is_waiting()) {
        is_paused_ = true;
        Halt(Status::Ok());
        return JobEnd::kEnded;
      }
      RT_TRY(TakeOrders(lane));
    } else {
      RT_ASSIGN(const bool stops, ServeRequest());
      if (stops) return JobEnd::kStopped;
    }
    RT_TRY(lane.TickIfDue());
    RT_ASSIGN(const SourceState state, lane.Step(StopRequested(), lacks_room_));
    if (state == SourceState::kEnd && !std::exchange(has_retired, true) && Retire())
      return JobEnd::kEnded;
    if (is_several() && steps % kStepsBetweenProgress == 0) lane.PublishProgress();
    if (state == SourceState::kMore) {
      waiting = 0;
      guess_millis = 1;
    } else if (options_.store != nullptr && options_.store->busy()) {
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
  if (!is_several()) return Status::Ok();
  for (const auto& lane : lanes_) RT_TRY(TakeOrders(*lane));
  RT_TRY(DrainAll());
  for (const auto& lane : lanes_) (void)lane->task().TakeSnapshot();
  for (std::optional<LaneState>& state : states_) state = std::nullopt;
  is_collecting_ = false;
  return Status::Ok();
}

// The last checkpoint has all that a barrier under way would have had.
Result<JobEnd> Job::Close(JobEnd end) {
  RT_TRY(Settle());
  if (end == JobEnd::kStopped) {
    RT_TRY(TakeCheckpoint(CheckpointKind::kPeriodic));
    return end;
  }
  RT_TRY(TakeCheckpoint(CheckpointKind::kFinal));
  RT_TRY(Finish());
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
  if (options_.clock != nullptr) checkpoint.millis = options_.clock->NowMillis();
  return checkpoint;
}

Result<Checkpoint> Job::Snapshot(int64_t epoch, CheckpointKind kind) {
  Checkpoint checkpoint = NewCheckpoint(epoch, kind);
  checkpoint.next_source = static_cast<uint32_t>(lanes_[0]->turn());
  for (const auto& lane : lanes_) {
    RT_ASSIGN(LaneState state, lane->task().Snapshot(epoch));
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
  Lane& first = *lanes_[0];
  first.set_turn(checkpoint.next_source % std::max<size_t>(first.task().sources().size(), 1));
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
  if (!is_several()) {
    RT_TRY(CommitAll(decided));
    if (options_.store != nullptr) RT_TRY(LookAtStore());
    if (begun_ || !checkpointer->IsDue()) return Status::Ok();
    RT_ASSIGN(Checkpoint checkpoint, Snapshot(checkpointer->next_epoch()));
    if (options_.store == nullptr) {
      checkpointer->Begin(std::move(checkpoint));
      return Status::Ok();
    }
    begun_ = std::move(checkpoint);
    return options_.store->BeginCheckpoint(begun_->epoch);
  }
  if (decided) {
    showing_ = lanes();
    decided_ = *decided;
    NotifyAll();
  }
  if (is_collecting_) {
    const std::lock_guard lock(mutex_);
    for (const auto& state : states_) {
      if (!state) return Status::Ok();
    }
    Checkpoint checkpoint = NewCheckpoint(barrier_, CheckpointKind::kPeriodic);
    for (std::optional<LaneState>& state : states_)
      checkpoint.lanes.push_back(std::move(*std::exchange(state, std::nullopt)));
    is_collecting_ = false;
    checkpointer->Begin(std::move(checkpoint));
  } else if (showing_ == 0 && checkpointer->IsDue()) {
    is_collecting_ = true;
    barrier_ = checkpointer->next_epoch();
    NotifyAll();
  }
  return Status::Ok();
}

Status Job::LookAtStore() {
  RT_TRY(options_.store->Work());
  return begun_ && options_.store->is_written() ? TakeFiles() : Status::Ok();
}

Status Job::TakeFiles() {
  Checkpoint checkpoint = std::move(*std::exchange(begun_, std::nullopt));
  Result<std::vector<CheckpointFile>> files = options_.store->AwaitWritten();
  if (!files.ok()) return options_.checkpointer->GiveUp(files.status()).status();
  checkpoint.lanes[0].files = std::move(*files);
  options_.checkpointer->Begin(std::move(checkpoint));
  return Status::Ok();
}

bool Job::HasOrders(const Lane& lane) const {
  return decided_ > lane.shown_epoch() || barrier_ > lane.task().newest_barrier();
}

Status Job::TakeOrders(Lane& lane) {
  if (decided_ > lane.shown_epoch()) {
    lane.set_shown_epoch(decided_);
    RT_TRY(lane.task().Commit(decided_));
    --showing_;
  }
  if (barrier_ > lane.task().newest_barrier()) RT_TRY(lane.task().Meet(Barrier{barrier_}));
  std::optional<LaneState> state = lane.task().TakeSnapshot();
  if (!state) return Status::Ok();
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].get() == &lane) states_[i] = std::move(state);
    }
  }
  lanes_[0]->signal().Notify();
  return Status::Ok();
}

Status Job::TakeCheckpoint(CheckpointKind kind) {
  Checkpointer* const checkpointer = options_.checkpointer;
  if (checkpointer == nullptr) return Status::Ok();
  if (begun_) RT_TRY(TakeFiles());
  if (checkpointer->is_writing()) {
    RT_ASSIGN(const std::optional<int64_t> earlier, checkpointer->Await());
    RT_TRY(CommitAll(earlier));
  }
  RT_ASSIGN(Checkpoint checkpoint, Snapshot(checkpointer->next_epoch(), kind));
  if (options_.store != nullptr) {
    RT_TRY(options_.store->BeginCheckpoint(checkpoint.epoch));
    RT_ASSIGN(checkpoint.lanes[0].files, options_.store->AwaitWritten());
  }
  checkpointer->Begin(std::move(checkpoint));
  RT_ASSIGN(const std::optional<int64_t> decided, checkpointer->Await());
  if (!decided) return Status::External("the last checkpoint could not be written");
  return CommitAll(decided);
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
              Snapshot(checkpointer->last_epoch(), CheckpointKind::kSavepoint));
    if (options_.store != nullptr) {
      RT_TRY(options_.store->BeginCheckpoint(checkpoint.epoch));
      RT_ASSIGN(checkpoint.lanes[0].files, options_.store->AwaitWritten());
    }
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

std::vector<std::string> Job::Summaries() const {
  std::vector<const Task*> tasks;
  for (const auto& lane : lanes_) tasks.push_back(&lane->task());
  return Task::Summaries(tasks);
}

}  // namespace rowtide

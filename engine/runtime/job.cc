#include "engine/runtime/job.h"

#include <poll.h>

#include <algorithm>

namespace rowtide {

namespace {

// A stop request may come without waking the job.
constexpr int64_t kLongestWaitMillis = 20;

}  // namespace

Job::Job(JobGraph graph, JobOptions options)
    : task_(std::move(graph), options.samples_time), options_(std::move(options)) {
  if (options_.clock != nullptr && options_.tick_interval_millis > 0) {
    next_tick_millis_ = options_.clock->NowMillis() + options_.tick_interval_millis;
  }
}

bool Job::StopRequested() const {
  return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed) != 0;
}

bool Job::AllEnded() const {
  return std::all_of(task_.sources().begin(), task_.sources().end(),
                     [&](int source) { return task_.ended(source); });
}

Result<SourceState> Job::Step() {
  const std::vector<int>& sources = task_.sources();
  for (size_t tried = 0; tried < sources.size(); ++tried) {
    const int source = sources[turn_];
    turn_ = (turn_ + 1) % sources.size();
    if (task_.ended(source)) continue;
    RT_ASSIGN(const SourceState state, task_.Poll(source));
    if (state != SourceState::kEnd) return state;
    // Input that ends because of the stop request is not over: no window may close on it.
    if (StopRequested()) return SourceState::kWait;
    RT_TRY(task_.End(source));
    return AllEnded() ? SourceState::kEnd : SourceState::kMore;
  }
  return SourceState::kEnd;
}

Result<JobEnd> Job::RunToEnd() {
  Result<JobEnd> end = Run();
  if (!end.ok()) task_.Abandon();
  return end;
}

Result<JobEnd> Job::Run() {
  size_t waiting = 0;  // polls in a row that gave nothing
  int64_t guess_millis = 1;
  while (true) {
    if (StopRequested()) {
      RT_TRY(TakeCheckpoint(CheckpointKind::kPeriodic));
      return JobEnd::kStopped;
    }
    if (options_.is_enough && options_.is_enough()) break;
    RT_TRY(LookAtCheckpoints());
    RT_ASSIGN(const bool stops, ServeRequest());
    if (stops) return JobEnd::kStopped;
    if (options_.checkpointer != nullptr && options_.checkpointer->WaitsForRoom()) {
      ::poll(nullptr, 0, kLongestWaitMillis);
      continue;
    }
    RT_TRY(TickIfDue());
    RT_ASSIGN(const SourceState state, Step());
    if (state == SourceState::kEnd) break;
    if (state == SourceState::kMore) {
      waiting = 0;
      guess_millis = 1;
    } else if (++waiting >= task_.sources().size()) {
      RT_TRY(task_.FlushSinks());
      WaitForSources(guess_millis);
      waiting = 0;
      guess_millis = std::min(guess_millis * 2, kLongestWaitMillis);
    }
  }
  RT_TRY(TakeCheckpoint(CheckpointKind::kFinal));
  RT_TRY(task_.Finish());
  return JobEnd::kEnded;
}

// `guess_millis`: for sources that do not know when they will have something.
void Job::WaitForSources(int64_t guess_millis) const {
  int64_t millis = kLongestWaitMillis;
  if (next_tick_millis_ != 0)
    millis = std::clamp<int64_t>(next_tick_millis_ - options_.clock->NowMillis(), 0, millis);
  std::vector<pollfd> descriptors;
  for (const int source : task_.sources()) {
    if (task_.ended(source)) continue;
    const SourceWakeup wakeup = task_.wakeup(source);
    if (wakeup.descriptor >= 0) descriptors.push_back({wakeup.descriptor, POLLIN, 0});
    if (wakeup.descriptor < 0 || wakeup.millis)
      millis = std::min(millis, wakeup.millis.value_or(guess_millis));
  }
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(millis));
}

Status Job::TickIfDue() {
  if (next_tick_millis_ == 0) return Status::Ok();
  const int64_t now = options_.clock->NowMillis();
  if (now < next_tick_millis_) return Status::Ok();
  next_tick_millis_ = now + options_.tick_interval_millis;
  return task_.Tick(now);
}

Result<Checkpoint> Job::Snapshot(int64_t epoch, CheckpointKind kind) {
  Checkpoint checkpoint = options_.head;
  checkpoint.epoch = epoch;
  checkpoint.kind = kind;
  if (options_.clock != nullptr) checkpoint.millis = options_.clock->NowMillis();
  checkpoint.next_source = static_cast<uint32_t>(turn_);
  RT_ASSIGN(LaneState lane, task_.Snapshot(epoch));
  checkpoint.lanes.push_back(std::move(lane));
  return checkpoint;
}

Status Job::Restore(const Checkpoint& checkpoint) {
  RT_ASSIGN(const RestorePlan plan, PlanRestore(Identities(), checkpoint, false));
  return Restore(checkpoint, plan);
}

Status Job::Restore(const Checkpoint& checkpoint, const RestorePlan& plan) {
  const std::vector<NodeState>& kept = checkpoint.lanes[0].nodes;
  std::vector<const NodeState*> states;
  for (const int from : plan.from)
    states.push_back(from < 0 ? nullptr : &kept[static_cast<size_t>(from)]);
  turn_ = checkpoint.next_source % std::max<size_t>(task_.sources().size(), 1);
  return task_.Restore(states);
}

Status Job::LookAtCheckpoints() {
  Checkpointer* const checkpointer = options_.checkpointer;
  if (checkpointer == nullptr) return Status::Ok();
  RT_ASSIGN(const std::optional<int64_t> decided, checkpointer->Outcome());
  RT_TRY(Concluded(decided));
  if (!checkpointer->IsDue()) return Status::Ok();
  RT_ASSIGN(Checkpoint checkpoint, Snapshot(checkpointer->next_epoch()));
  checkpointer->Begin(std::move(checkpoint));
  return Status::Ok();
}

Status Job::TakeCheckpoint(CheckpointKind kind) {
  Checkpointer* const checkpointer = options_.checkpointer;
  if (checkpointer == nullptr) return Status::Ok();
  if (checkpointer->is_writing()) {
    RT_ASSIGN(const std::optional<int64_t> earlier, checkpointer->Await());
    RT_TRY(Concluded(earlier));
  }
  RT_ASSIGN(Checkpoint checkpoint, Snapshot(checkpointer->next_epoch(), kind));
  checkpointer->Begin(std::move(checkpoint));
  RT_ASSIGN(const std::optional<int64_t> decided, checkpointer->Await());
  if (!decided) return Status::External("the last checkpoint could not be written");
  return Concluded(decided);
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
    RT_ASSIGN(const Checkpoint checkpoint,
              Snapshot(checkpointer->last_epoch(), CheckpointKind::kSavepoint));
    status = checkpointer->WriteSavepoint(checkpoint, request->savepoint);
  }
  const bool stops = status.ok() && request->stops;
  options_.requests->Answer(std::move(status));
  return stops;
}

Status Job::Concluded(std::optional<int64_t> epoch) {
  return epoch ? task_.Commit(*epoch) : Status::Ok();
}

}  // namespace rowtide

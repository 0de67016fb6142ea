#include "engine/runtime/lane.h"

#include <poll.h>

#include <algorithm>

namespace rowtide {

namespace {

// A stop request may come without waking the lane.
constexpr int64_t kLongestWaitMillis = 20;
// What a thread of the store has done is taken up soon.
constexpr int64_t kStoreWaitMillis = 1;

}  // namespace

Lane::Lane(JobGraph graph, bool samples_time, Ticks ticks, LaneStore* store)
    : task_(std::move(graph), samples_time), store_(store), ticks_(ticks) {
  task_.SetSignal(&signal_);
  task_.SetStore(store);
  if (ticks_.clock != nullptr && ticks_.interval_millis > 0)
    next_tick_millis_ = ticks_.clock->NowMillis() + ticks_.interval_millis;
}

bool Lane::sources_ended() const {
  return std::all_of(task_.sources().begin(), task_.sources().end(),
                     [&](int source) { return task_.ended(source); });
}

Result<SourceState> Lane::Step(bool stops, bool rests) {
  RT_ASSIGN(const bool any, task_.StepGates());
  is_ahead_ = !any && task_.should_rest();
  rests_ = is_ahead_ || (rests && !any);
  if (any) return SourceState::kMore;
  if (rests_) return SourceState::kWait;
  if (!sources_ended()) {
    RT_ASSIGN(const SourceState state, Poll(stops));
    if (state != SourceState::kEnd) return state;
  }
  return task_.all_ended() ? SourceState::kEnd : SourceState::kWait;
}

Result<SourceState> Lane::Poll(bool stops) {
  const std::vector<int>& sources = task_.sources();
  for (size_t tried = 0; tried < sources.size(); ++tried) {
    const int source = sources[turn_];
    turn_ = (turn_ + 1) % sources.size();
    if (task_.ended(source) || task_.is_held(source)) continue;
    RT_ASSIGN(const SourceState state, task_.Poll(source));
    if (state != SourceState::kEnd) return state;
    // Input that ends because of the stop request is not over: no window may close on it.
    if (stops) return SourceState::kWait;
    RT_TRY(task_.End(source));
    return sources_ended() ? SourceState::kEnd : SourceState::kMore;
  }
  return sources_ended() ? SourceState::kEnd : SourceState::kWait;  // held back by a barrier
}

Result<bool> Lane::Drain() {
  bool any = false;
  while (true) {
    RT_ASSIGN(const bool more, task_.StepGates());
    if (!more) return any;
    any = true;
  }
}

size_t Lane::polls_to_wait() const {
  return rests_ ? 1 : std::max<size_t>(task_.sources().size(), 1);
}

std::optional<Result<LaneState>> Lane::TakeSnapshot() {
  if (std::optional<LaneState> state = task_.TakeSnapshot()) without_files_ = std::move(state);
  if (!without_files_ || (store_ != nullptr && !store_->is_written())) return std::nullopt;
  LaneState state = std::move(*std::exchange(without_files_, std::nullopt));
  Status status = AddFiles(&state);
  if (!status.ok()) return status;
  return state;
}

void Lane::ForgetSnapshot() {
  (void)task_.TakeSnapshot();
  without_files_ = std::nullopt;
}

Status Lane::AddFiles(LaneState* state) {
  if (store_ == nullptr) return Status::Ok();
  RT_ASSIGN(state->files, store_->AwaitWritten());
  return Status::Ok();
}

Status Lane::TickIfDue() {
  if (next_tick_millis_ == 0) return Status::Ok();
  const int64_t now = ticks_.clock->NowMillis();
  if (now < next_tick_millis_) return Status::Ok();
  next_tick_millis_ = now + ticks_.interval_millis;
  return task_.Tick(now);
}

void Lane::Wait(int64_t guess_millis, const std::function<bool()>& has_news) {
  task_.SweepSome();
  const bool waits = store_ != nullptr && store_->is_waiting();
  int64_t millis = waits ? kStoreWaitMillis : kLongestWaitMillis;
  if (next_tick_millis_ != 0)
    millis = std::clamp<int64_t>(next_tick_millis_ - ticks_.clock->NowMillis(), 0, millis);
  signal_.Arm();
  const bool may_go_on = is_ahead_ && !task_.should_rest();
  if (has_news() || task_.gates_are_ready() || may_go_on) return;
  std::vector<pollfd> descriptors = {{signal_.descriptor(), POLLIN, 0}};
  for (const int source : task_.sources()) {
    if (rests_ || task_.ended(source) || task_.is_held(source)) continue;
    const SourceWakeup wakeup = task_.wakeup(source);
    if (wakeup.descriptor >= 0) descriptors.push_back({wakeup.descriptor, POLLIN, 0});
    if (wakeup.descriptor < 0 || wakeup.millis)
      millis = std::min(millis, wakeup.millis.value_or(std::min(guess_millis, kLongestWaitMillis)));
  }
  const auto begin = std::chrono::steady_clock::now();
  ::poll(descriptors.data(), descriptors.size(), static_cast<int>(millis));
  (rests_ ? blocked_ : idle_) += std::chrono::steady_clock::now() - begin;
}

bool Lane::ReportIsDue() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_report_) return false;
  next_report_ = now + JobBoard::kInterval;
  return true;
}

LaneReport Lane::Report() const {
  return {
      std::chrono::steady_clock::now(), task_.Stats(), idle_, blocked_, stopped_, longest_stop_};
}

void Lane::PublishProgress() {
  JobProgress progress = task_.Progress();
  const std::lock_guard lock(mutex_);
  progress_ = progress;
}

JobProgress Lane::published_progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

}  // namespace rowtide

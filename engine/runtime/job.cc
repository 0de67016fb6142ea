#include "engine/runtime/job.h"

#include <poll.h>

#include <algorithm>

namespace rowtide {

namespace {

constexpr uint32_t kSnapshotVersion = 1;
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
    if (StopRequested()) return JobEnd::kStopped;
    if (options_.is_enough && options_.is_enough()) break;
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

// | version: u32 | turn: u32 | nodes (task.cc) |
Result<std::string> Job::Snapshot() const {
  SnapshotWriter writer;
  writer.PutU32(kSnapshotVersion);
  writer.PutU32(static_cast<uint32_t>(turn_));
  RT_TRY(task_.Snapshot(writer));
  return writer.Take();
}

Status Job::Restore(std::string_view bytes) {
  SnapshotReader reader(bytes);
  RT_ASSIGN(const uint32_t version, reader.U32("version"));
  if (version != kSnapshotVersion) {
    return Status::Corruption("the snapshot has version {}, this program reads {}", version,
                              kSnapshotVersion);
  }
  RT_ASSIGN(const uint32_t turn, reader.U32("turn"));
  if (turn >= std::max<size_t>(task_.sources().size(), 1)) {
    return Status::Corruption("the snapshot says it is the turn of source {} of {}", turn,
                              task_.sources().size());
  }
  turn_ = turn;
  RT_TRY(task_.Restore(reader));
  if (!reader.AtEnd()) return Status::Corruption("{} bytes follow the snapshot", reader.left());
  return Status::Ok();
}

}  // namespace rowtide

#include "cli/monitor/job_watch.h"

#include <algorithm>

#include "engine/secrets.h"

namespace rowtide {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;

namespace {

constexpr size_t kSamplesMax = 61;

void AddLane(const LaneReport& lane, JobLook* look) {
  if (lane.nodes.empty()) return;
  if (look->nodes.empty()) {
    look->nodes = lane.nodes;
    look->oldest_report = lane.at;
  } else {
    for (size_t node = 0; node < look->nodes.size(); ++node)
      look->nodes[node].Add(lane.nodes[node]);
    look->oldest_report = std::min(look->oldest_report, lane.at);
  }
  look->idle += lane.idle;
  look->blocked += lane.blocked;
  look->stopped += lane.stopped;
  look->longest_stop = std::max(look->longest_stop, lane.longest_stop);
}

// Messages, and what connectors have given: there is nothing else that could hold a secret.
void Redact(JobLook* look) {
  look->detail = Redacted(look->detail);
  for (Wait& wait : look->waits) wait.what = Redacted(wait.what);
  for (CheckpointRecord& record : look->checkpoints.recent)
    record.failure = Redacted(record.failure);
  for (GaugeReading& reading : look->gauges) {
    for (auto& [name, value] : reading.labels) value = Redacted(value);
  }
}

JobSample SampleOf(const JobLook& look) {
  JobSample sample{steady_clock::now(), {}, look.idle.count(), look.blocked.count()};
  for (const NodeStats& node : look.nodes)
    sample.nodes.push_back({node.rows_in, node.total_out(), node.bytes, node.sampled_nanos});
  return sample;
}

}  // namespace

const char* Text(JobState state) {
  switch (state) {
    case JobState::kNone: return "none";
    case JobState::kStarting: return "starting";
    case JobState::kRunning: return "running";
    case JobState::kRestarting: return "restarting";
    case JobState::kEnded: return "ended";
    case JobState::kStopped: return "stopped";
    case JobState::kFailed: return "failed";
  }
  return "";
}

void JobWatch::Start(const std::string& name) {
  board_.Forget();
  gauges_.Retire();
  waits_.Clear();
  const std::lock_guard lock(mutex_);
  look_ = JobLook();
  look_.name = name;
  look_.state = JobState::kStarting;
  look_.job_started = steady_clock::now();
  samples_.clear();
}

void JobWatch::Begin(const JobGraph& graph, std::optional<int64_t> checkpoint_millis,
                     int64_t restarts) {
  std::vector<ShownNode> shape = ShapeOf(graph);
  const std::lock_guard lock(mutex_);
  look_.shape = std::move(shape);
  look_.checkpoint_millis = checkpoint_millis;
  look_.restarts = restarts;
  look_.state = JobState::kRunning;
  look_.detail.clear();
  samples_.clear();  // its counts go back to those of the checkpoint
}

void JobWatch::Note(JobState state, const std::string& detail) {
  if (state != JobState::kRunning) waits_.Clear();
  if (state == JobState::kRestarting) gauges_.Retire();
  const std::lock_guard lock(mutex_);
  if (look_.state == JobState::kNone) return;  // what has failed is no job
  look_.state = state;
  look_.detail = detail;
}

JobLook JobWatch::Look() const {
  JobLook look;
  {
    const std::lock_guard lock(mutex_);
    look = look_;
    look.samples.assign(samples_.begin(), samples_.end());
  }
  look.started = started_;
  const std::vector<LaneReport> lanes = board_.lanes();
  look.lanes = lanes.size();
  for (const LaneReport& lane : lanes) AddLane(lane, &look);
  look.checkpoints = board_.checkpoints();
  look.gauges = gauges_.Read();
  look.waits = waits_.All();
  Redact(&look);
  return look;
}

void JobWatch::Sample() {
  const JobLook look = Look();
  if (look.nodes.empty()) return;
  JobSample sample = SampleOf(look);
  const std::lock_guard lock(mutex_);
  samples_.push_back(std::move(sample));
  if (samples_.size() > kSamplesMax) samples_.pop_front();
}

}  // namespace rowtide

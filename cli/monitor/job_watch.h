// What the command knows of the job that it runs, over all its starts, for those who look on from
// other threads: the status page and metrics.
//
//   the command     Start(job) .. Begin(graph) .. Note(restarting) .. Begin(graph) .. Note(ended)
//   job's threads   board(), gauges(), waits(): what they put up, without waiting for anybody
//   any thread      Look(): all of it as of now; Sample(): once a second, for rates
//
// One job at a time is shown, the newest; what it shows stays until the next one starts.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cli/monitor/job_shape.h"
#include "engine/gauges.h"
#include "engine/runtime/job_board.h"
#include "engine/waits.h"

namespace rowtide {

enum class JobState : uint8_t {
  kNone,
  kStarting,
  kRunning,
  kRestarting,  // has failed, and waits for its next start
  kEnded,
  kStopped,
  kFailed,
};
const char* Text(JobState state);
inline constexpr JobState kJobStates[] = {JobState::kStarting,   JobState::kRunning,
                                          JobState::kRestarting, JobState::kEnded,
                                          JobState::kStopped,    JobState::kFailed};

// The job's totals at one moment, and those of each node.
struct JobSample {
  std::chrono::steady_clock::time_point at;
  struct Node {
    int64_t rows_in = 0;
    int64_t rows_out = 0;
    int64_t bytes = 0;
    int64_t busy_nanos = 0;
  };
  std::vector<Node> nodes;  // by their number in the graph
  int64_t idle_nanos = 0;   // of all lanes
  int64_t blocked_nanos = 0;
};

// What is known now.
struct JobLook {
  std::string name;
  JobState state = JobState::kNone;
  std::string detail;                             // why it has failed, what it waits for
  std::chrono::steady_clock::time_point started;  // the process
  std::chrono::steady_clock::time_point job_started;
  int64_t restarts = 0;
  std::optional<int64_t> checkpoint_millis;  // between two; none: the job has no checkpoints
  std::vector<ShownNode> shape;
  size_t lanes = 0;
  std::vector<NodeStats> nodes;  // of all lanes together, by number; empty: nothing is known yet
  std::chrono::steady_clock::time_point oldest_report;
  std::chrono::nanoseconds idle{0};
  std::chrono::nanoseconds blocked{0};
  std::chrono::nanoseconds stopped{0};
  std::chrono::nanoseconds longest_stop{0};
  CheckpointReport checkpoints;
  std::vector<GaugeReading> gauges;
  std::vector<Wait> waits;
  std::vector<JobSample> samples;  // of the last minute, the newest last

  const NodeStats* stats(const ShownNode& node) const {
    const auto number = static_cast<size_t>(node.number);
    return number < nodes.size() ? &nodes[number] : nullptr;
  }
};

class JobWatch {
 public:
  // `listener`: of waits.
  explicit JobWatch(Waits::Listener listener = {}) : waits_(std::move(listener)) {}

  // --- the command ---
  void Start(const std::string& name);
  // A start of it begins, with this graph.
  void Begin(const JobGraph& graph, std::optional<int64_t> checkpoint_millis, int64_t restarts);
  void Note(JobState state, const std::string& detail = "");
  JobBoard* board() { return &board_; }
  Gauges* gauges() { return &gauges_; }
  Waits* waits() { return &waits_; }
  const Waits* waits() const { return &waits_; }

  // --- any thread ---
  JobLook Look() const;
  // Once a second.
  void Sample();

 private:
  JobBoard board_;
  Gauges gauges_;
  Waits waits_;

  mutable std::mutex mutex_;
  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  JobLook look_;                   // under the mutex: what the command has said
  std::deque<JobSample> samples_;  // under the mutex
};

}  // namespace rowtide

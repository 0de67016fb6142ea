#include "engine/runtime/task.h"

#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/named_rows.h"

namespace rowtide {

// A node with what runs around it. It is the Collector of its own source or operator.
class Task::Node final : public Collector, private NamedRowsTaker {
 public:
  Node(Task* task, int number, JobNode node)
      : work(std::move(node)),
        times(std::max(work.inputs, 1)),
        number_(number),
        samples_(task->samples_),
        task_(task) {
    stats.name = work.name;
  }

  Status Emit(RowBatch batch) override {
    if (batch.rows == 0) return Status::Ok();
    stats.CountOut(batch.kinds_or_null(), batch.rows);
    if (!work.row_by_row || batch.rows == 1) return HandOn(batch);
    for (int row = 0; row < batch.rows; ++row) RT_TRY(HandOn(Slice(batch, row, 1)));
    return Status::Ok();
  }

  NamedRowsTaker* named_rows() override { return takes_names_ ? this : nullptr; }

  Status Advance(Time time) override {
    for (const JobEdge& edge : work.outputs) {
      RT_TRY(task_->nodes_[static_cast<size_t>(edge.node)]->Take(edge.input, time));
    }
    return Status::Ok();
  }

  Result<SourceState> Poll() {
    return Timed([&] { return work.source->Poll(*this); });
  }
  // A source's own time, told on its behalf.
  Status Tell(Time time) {
    return Timed([&] { return Advance(time); });
  }
  Status Finish() {
    return Timed([&] { return work.sink->Finish(); });
  }
  Result<std::string> Snapshot(int64_t epoch) const {
    if (work.sink) return work.sink->Prepare(epoch);
    SnapshotWriter writer;
    RT_TRY(work.source ? work.source->Snapshot(writer) : work.operation->Snapshot(writer));
    return writer.Take();
  }

  // All rows of the only sink there is behind this node come from here.
  void FeedAlone(const Node& sink) {
    takes_names_ = sink.work.sink->named_rows() != nullptr && !work.row_by_row;
  }

  JobNode work;
  NodeStats stats;
  TimeMerger times;
  bool ended = false;                      // sources
  int64_t watermark = Time::kNoWatermark;  // sinks

 private:
  Status HandOn(const RowBatch& batch) {
    for (const JobEdge& edge : work.outputs) {
      RT_TRY(task_->nodes_[static_cast<size_t>(edge.node)]->Take(edge.input, batch));
    }
    return Status::Ok();
  }

  Status Take(const NamedRows& rows) override {
    const int count = static_cast<int>(rows.names.size());
    stats.CountOut(rows.kinds.data(), count);
    Node& target = *task_->nodes_[static_cast<size_t>(work.outputs.front().node)];
    target.stats.rows_in += count;
    return target.Timed([&] { return target.work.sink->named_rows()->Take(rows); });
  }

  Status Take(int input, const RowBatch& batch) {
    stats.rows_in += batch.rows;
    return Timed([&] { return work.operation->Process(input, batch, *this); });
  }

  Status Take(int input, Time time) {
    if (work.inputs > 1) {
      const std::optional<Time> merged = times.Advance(input, time);
      if (!merged) return Status::Ok();
      time = *merged;
    }
    if (work.sink && time.kind == Time::Kind::kWatermark) watermark = time.millis;
    return Timed([&] { return work.operation->Advance(input, time, *this); });
  }

  template <typename Call>
  std::invoke_result_t<Call> Timed(Call call) {
    return samples_.active() ? samples_.Measured(number_, call) : call();
  }

  const int number_;
  bool takes_names_ = false;
  TimeSamples& samples_;
  Task* task_;
};

Task::Task(JobGraph graph, bool samples_time) {
  if (samples_time) samples_.SwitchOn();
  for (JobNode& node : std::move(graph).Take()) {
    RT_CHECK((node.source != nullptr) != (node.operation != nullptr));
    const int number = static_cast<int>(nodes_.size());
    if (node.source) sources_.push_back(number);
    nodes_.push_back(std::make_unique<Node>(this, number, std::move(node)));
  }
  FindLoneFeeders();
}

void Task::FindLoneFeeders() {
  std::vector<int> feeders(nodes_.size());
  for (const auto& node : nodes_) {
    for (const JobEdge& edge : node->work.outputs) ++feeders[static_cast<size_t>(edge.node)];
  }
  for (const auto& node : nodes_) {
    if (node->work.outputs.size() != 1) continue;
    const auto target = static_cast<size_t>(node->work.outputs.front().node);
    if (nodes_[target]->work.sink && feeders[target] == 1) node->FeedAlone(*nodes_[target]);
  }
}

Task::~Task() = default;

bool Task::ended(int source) const { return nodes_[static_cast<size_t>(source)]->ended; }

Result<SourceState> Task::Poll(int source) {
  Node& node = *nodes_[static_cast<size_t>(source)];
  RT_CHECK(!node.ended);
  samples_.StartPoll();
  Result<SourceState> state = node.Poll();
  samples_.EndPoll();
  return state;
}

template <typename Call>
Status Task::Rarely(Call call) {
  samples_.StartRare();
  Status status = call();
  samples_.EndRare();
  return status;
}

Status Task::End(int source) {
  Node& node = *nodes_[static_cast<size_t>(source)];
  node.ended = true;
  return Rarely([&] {
    RT_TRY(node.Tell(Time::Watermark(Time::kMaxWatermark)));
    return node.Tell(Time::End());
  });
}

Status Task::Tick(int64_t millis) {
  for (const int source : sources_) {
    Node& node = *nodes_[static_cast<size_t>(source)];
    if (!node.ended) RT_TRY(Rarely([&] { return node.Tell(Time::Tick(millis)); }));
  }
  return Status::Ok();
}

Status Task::FlushSinks() {
  for (const auto& node : nodes_) {
    if (node->work.sink) RT_TRY(node->work.sink->Flush());
  }
  return Status::Ok();
}

SourceWakeup Task::wakeup(int source) const {
  return nodes_[static_cast<size_t>(source)]->work.source->wakeup();
}

int64_t Task::rows_read() const {
  int64_t rows = 0;
  for (const int source : sources_) rows += nodes_[static_cast<size_t>(source)]->stats.total_out();
  return rows;
}

JobProgress Task::Progress() const {
  JobProgress progress;
  progress.rows_read = rows_read();
  SourceProgress bytes;
  bool all_known = true;
  std::optional<int64_t> watermark;
  for (const auto& node : nodes_) {
    progress.state_bytes += node->work.meters->state.bytes;
    if (node->work.sink) watermark = std::min(watermark.value_or(node->watermark), node->watermark);
    if (!node->work.source) continue;
    const SourceProgress one = node->work.source->progress();
    all_known &= one.bytes_total > 0;
    bytes.bytes_read += std::min(one.bytes_read, one.bytes_total);
    bytes.bytes_total += one.bytes_total;
  }
  progress.watermark = watermark.value_or(Time::kNoWatermark);
  if (all_known && bytes.bytes_total > 0) {
    progress.share = static_cast<double>(bytes.bytes_read) / static_cast<double>(bytes.bytes_total);
  }
  return progress;
}

Status Task::Finish() {
  for (const auto& node : nodes_) {
    if (node->work.sink) RT_TRY(Rarely([&] { return node->Finish(); }));
  }
  return Status::Ok();
}

void Task::Abandon() {
  for (const auto& node : nodes_) {
    if (node->work.sink) node->work.sink->Abandon();
  }
}

std::vector<std::string> Task::Summaries() const {
  std::vector<std::string> summaries;
  for (const auto& node : nodes_) {
    if (!node->work.sink) continue;
    std::string summary = node->work.sink->Summary();
    if (!summary.empty()) summaries.push_back(std::move(summary));
  }
  return summaries;
}

// times: | is over: u8 | merger of times |
Result<LaneState> Task::Snapshot(int64_t epoch) {
  LaneState lane;
  lane.nodes.reserve(nodes_.size());
  for (const auto& node : nodes_) {
    SnapshotWriter times;
    times.PutU8(node->ended);
    node->times.Snapshot(times);
    RT_ASSIGN(std::string own, node->Snapshot(epoch));
    lane.nodes.push_back({node->work.identity, times.Take(), std::move(own)});
  }
  return lane;
}

Status Task::Commit(int64_t epoch) {
  for (const auto& node : nodes_) {
    if (node->work.sink) RT_TRY(node->work.sink->Commit(epoch));
  }
  return Status::Ok();
}

std::vector<NodeIdentity> Task::Identities() const {
  std::vector<NodeIdentity> identities;
  for (const auto& node : nodes_) identities.push_back(node->work.identity);
  return identities;
}

Status Task::Restore(const std::vector<const NodeState*>& states) {
  RT_CHECK(states.size() == nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (states[i] != nullptr) {
      RT_TRY(RestoreNode(*nodes_[i], *states[i]));
    } else if (nodes_[i]->work.sink) {
      RT_TRY(nodes_[i]->work.sink->Restore(""));
    }
  }
  return Status::Ok();
}

Status Task::RestoreNode(Node& node, const NodeState& state) {
  SnapshotReader times(state.times);
  RT_ASSIGN(const uint8_t ended, times.U8("end of a source"));
  node.ended = ended != 0;
  RT_TRY(node.times.Restore(times));
  if (node.work.sink) return node.work.sink->Restore(state.bytes);
  SnapshotReader own(state.bytes);
  RT_TRY(node.work.source ? node.work.source->Restore(own) : node.work.operation->Restore(own));
  if (!times.AtEnd() || !own.AtEnd()) {
    return Status::Corruption("{} left {} bytes of its snapshot unread", node.work.name,
                              times.left() + own.left());
  }
  return Status::Ok();
}

std::vector<NodeStats> Task::Stats() const {
  std::vector<NodeStats> all;
  for (const auto& node : nodes_) {
    NodeStats stats = node->stats;
    stats.state_entries = node->work.meters->state.entries;
    stats.state_bytes = node->work.meters->state.bytes;
    for (const Counters::Named& named : node->work.meters->counters.all()) {
      stats.counters.emplace_back(named.name, *named.value);
    }
    all.push_back(std::move(stats));
  }
  for (const TimeSamples::Path& path : samples_.paths())
    all[static_cast<size_t>(path.node)].sampled_nanos += path.nanos;
  return all;
}

std::vector<std::vector<int>> Task::Routes() const {
  std::vector<std::vector<int>> routes(nodes_.size());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i]->work.source) routes[i] = {static_cast<int>(i)};
    for (const JobEdge& edge : nodes_[i]->work.outputs) {
      std::vector<int>& route = routes[static_cast<size_t>(edge.node)];
      if (!route.empty()) continue;
      route = routes[i];
      route.push_back(edge.node);
    }
  }
  return routes;
}

std::vector<PathTime> Task::TimePaths() const {
  const std::vector<std::vector<int>> routes = Routes();
  std::map<std::vector<int>, int64_t> nanos;
  std::vector<bool> met(nodes_.size());
  std::vector<std::vector<int>> calls;
  for (const TimeSamples::Path& path : samples_.paths()) {
    calls.push_back(path.caller < 0 ? std::vector<int>() : calls[static_cast<size_t>(path.caller)]);
    calls.back().push_back(path.node);
    met[static_cast<size_t>(path.node)] = true;
    // A sink is finished by the task: that is shown where its rows come in.
    const bool is_finish = path.caller < 0 && nodes_[static_cast<size_t>(path.node)]->work.sink;
    nanos[is_finish ? routes[static_cast<size_t>(path.node)] : calls.back()] += path.nanos;
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!met[i]) nanos[routes[i]] = 0;
  }
  std::vector<PathTime> all;
  for (const auto& [numbers, time] : nanos) {
    PathTime path{{}, time};
    for (const int number : numbers)
      path.nodes.push_back(nodes_[static_cast<size_t>(number)]->work.name);
    all.push_back(std::move(path));
  }
  return all;
}

}  // namespace rowtide

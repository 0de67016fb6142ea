#include "engine/runtime/task.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace rowtide {

namespace {

int64_t NowNanos() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

// A node with what runs around it. It is the Collector of its own source or operator.
class Task::Node final : public Collector {
 public:
  Node(Task* task, JobNode node)
      : work(std::move(node)), times(std::max(work.inputs, 1)), task_(task) {
    stats.name = work.name;
  }

  Status Emit(RowBatch batch) override {
    if (batch.rows == 0) return Status::Ok();
    stats.CountOut(batch);
    if (!work.row_by_row || batch.rows == 1) return HandOn(batch);
    for (int row = 0; row < batch.rows; ++row) RT_TRY(HandOn(Slice(batch, row, 1)));
    return Status::Ok();
  }

  Status Advance(Time time) override {
    for (const JobEdge& edge : work.outputs) {
      RT_TRY(task_->nodes_[static_cast<size_t>(edge.node)]->Take(edge.input, time));
    }
    return Status::Ok();
  }

  Result<SourceState> Poll() {
    if (!task_->sampling_) return work.source->Poll(*this);
    const int64_t begin = NowNanos();
    task_->inner_nanos_ = 0;
    Result<SourceState> state = work.source->Poll(*this);
    stats.sampled_nanos += NowNanos() - begin - task_->inner_nanos_;
    return state;
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

  Status Take(int input, const RowBatch& batch) {
    stats.rows_in += batch.rows;
    if (!task_->sampling_) return work.operation->Process(input, batch, *this);
    return Measured([&] { return work.operation->Process(input, batch, *this); });
  }

  Status Take(int input, Time time) {
    if (work.inputs > 1) {
      const std::optional<Time> merged = times.Advance(input, time);
      if (!merged) return Status::Ok();
      time = *merged;
    }
    if (work.sink && time.kind == Time::Kind::kWatermark) watermark = time.millis;
    if (!task_->sampling_) return work.operation->Advance(input, time, *this);
    return Measured([&] { return work.operation->Advance(input, time, *this); });
  }

  // Adds the call's own time here, and its whole time to the inner time of the caller.
  template <typename Call>
  Status Measured(Call call) {
    const int64_t outer = std::exchange(task_->inner_nanos_, 0);
    const int64_t begin = NowNanos();
    Status status = call();
    const int64_t whole = NowNanos() - begin;
    stats.sampled_nanos += whole - task_->inner_nanos_;
    task_->inner_nanos_ = outer + whole;
    return status;
  }

  Task* task_;
};

Task::Task(JobGraph graph) {
  for (JobNode& node : std::move(graph).Take()) {
    RT_CHECK((node.source != nullptr) != (node.operation != nullptr));
    if (node.source) sources_.push_back(static_cast<int>(nodes_.size()));
    nodes_.push_back(std::make_unique<Node>(this, std::move(node)));
  }
}

Task::~Task() = default;

bool Task::ended(int source) const { return nodes_[static_cast<size_t>(source)]->ended; }

Result<SourceState> Task::Poll(int source) {
  Node& node = *nodes_[static_cast<size_t>(source)];
  RT_CHECK(!node.ended);
  sampling_ = polls_++ % kPollsPerTimeSample == 0;
  sampled_polls_ += sampling_;
  RT_ASSIGN(const SourceState state, node.Poll());
  sampling_ = false;
  return state;
}

Status Task::End(int source) {
  Node& node = *nodes_[static_cast<size_t>(source)];
  node.ended = true;
  RT_TRY(node.Advance(Time::Watermark(Time::kMaxWatermark)));
  return node.Advance(Time::End());
}

Status Task::Tick(int64_t millis) {
  for (const int source : sources_) {
    Node& node = *nodes_[static_cast<size_t>(source)];
    if (!node.ended) RT_TRY(node.Advance(Time::Tick(millis)));
  }
  return Status::Ok();
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
    if (node->work.sink) RT_TRY(node->work.sink->Finish());
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

// Per node: | name | ended | times | state of the source or operator, as one byte string |
Status Task::Snapshot(SnapshotWriter& writer) const {
  writer.PutU32(static_cast<uint32_t>(nodes_.size()));
  for (const auto& node : nodes_) {
    writer.PutBytes(node->work.name);
    writer.PutU8(node->ended);
    node->times.Snapshot(writer);
    SnapshotWriter own;
    RT_TRY(node->work.source ? node->work.source->Snapshot(own)
                             : node->work.operation->Snapshot(own));
    writer.PutBytes(own.bytes());
  }
  return Status::Ok();
}

Status Task::Restore(SnapshotReader& reader) {
  RT_ASSIGN(const uint32_t count, reader.U32("number of nodes"));
  if (count != nodes_.size()) {
    return Status::Corruption("the snapshot is of a job of {} nodes, this one has {}", count,
                              nodes_.size());
  }
  for (const auto& node : nodes_) RT_TRY(RestoreNode(*node, reader));
  return Status::Ok();
}

Status Task::RestoreNode(Node& node, SnapshotReader& reader) {
  RT_ASSIGN(const std::string_view name, reader.Bytes("name of a node"));
  if (name != node.work.name) {
    return Status::Corruption("the snapshot has the node {} where the job has {}", name,
                              node.work.name);
  }
  RT_ASSIGN(const uint8_t ended, reader.U8("end of a source"));
  node.ended = ended != 0;
  RT_TRY(node.times.Restore(reader));
  RT_ASSIGN(const std::string_view own, reader.Bytes("state of a node"));
  SnapshotReader own_reader(own);
  RT_TRY(node.work.source ? node.work.source->Restore(own_reader)
                          : node.work.operation->Restore(own_reader));
  if (!own_reader.AtEnd()) {
    return Status::Corruption("{} left {} bytes of its snapshot unread", name, own_reader.left());
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
    if (sampled_polls_ > 0) stats.sampled_nanos = stats.sampled_nanos * polls_ / sampled_polls_;
    all.push_back(std::move(stats));
  }
  return all;
}

}  // namespace rowtide

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
    told.Take(time);
    for (const JobEdge& edge : work.outputs) {
      RT_TRY(task_->nodes_[static_cast<size_t>(edge.node)]->Take(edge.input, time));
    }
    return Status::Ok();
  }

  Result<SourceState> Poll() {
    return Timed([&] { return work.source->Poll(*this); });
  }
  Result<bool> StepGate() {
    return Timed([&] { return work.gate->Step(*this); });
  }
  // A source's own time, told on its behalf.
  Status Tell(Time time) {
    return Timed([&] { return Advance(time); });
  }
  Status Finish() {
    return Timed([&] { return work.sink->Finish(); });
  }
  // times: | is over: u8 | what it has told | merger of times |
  Result<NodeState> Snapshot(int64_t epoch) const {
    NodeState state{work.identity, "", "", work.table};
    if (work.is_absent) return state;
    SnapshotWriter when;
    when.PutU8(ended);
    told.Snapshot(when);
    times.Snapshot(when);
    state.times = when.Take();
    state.counts = stats.ToBytes(work.meters->counters);
    if (work.sink) {
      RT_ASSIGN(state.bytes, work.sink->Prepare(epoch));
      return state;
    }
    SnapshotWriter own;
    RT_TRY(work.source ? work.source->Snapshot(own) : work.operation->Snapshot(own));
    state.bytes = own.Take();
    return state;
  }

  // Of a source.
  Status Committed(int64_t epoch) {
    const auto found = snapshots.find(epoch);
    if (found == snapshots.end()) return Status::Ok();
    SnapshotReader reader(found->second);
    const Status status = work.source->Committed(reader);
    snapshots.erase(snapshots.begin(), std::next(found));
    return status;
  }

  // All rows of the only sink there is behind this node come from here.
  void FeedAlone(const Node& sink) {
    takes_names_ = sink.work.sink->named_rows() != nullptr && !work.row_by_row;
  }

  JobNode work;
  NodeStats stats;
  TimeMerger times;
  StreamTime told;                           // to those that it feeds
  bool ended = false;                        // sources
  bool is_at_barrier = false;                // gates
  int64_t watermark = Time::kNoWatermark;    // sinks
  std::map<int64_t, std::string> snapshots;  // sources: of epochs that are not decided yet

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
    RT_CHECK((node.source != nullptr) + (node.operation != nullptr) + (node.gate != nullptr) == 1 ||
             node.is_absent);
    const int number = static_cast<int>(nodes_.size());
    if (node.source) sources_.push_back(number);
    if (node.gate) gates_.push_back(number);
    if (node.exchange != nullptr) exchanges_.push_back(node.exchange);
    nodes_.push_back(std::make_unique<Node>(this, number, std::move(node)));
  }
  FindLoneFeeders();
  FindFragments();
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

void Task::SweepSome() {
  for (const auto& node : nodes_) {
    for (ExpiringState* const state : node->work.meters->expiring) state->SweepSome();
  }
}

SourceWakeup Task::wakeup(int source) const {
  return nodes_[static_cast<size_t>(source)]->work.source->wakeup();
}

void Task::SetSignal(LaneSignal* signal) {
  for (const int gate : gates_) nodes_[static_cast<size_t>(gate)]->work.gate->SetConsumer(signal);
  for (Exchange* exchange : exchanges_) exchange->SetProducer(signal);
}

Result<bool> Task::StepGates() {
  bool any = false;
  for (const int gate : gates_) {
    Node& node = *nodes_[static_cast<size_t>(gate)];
    if (!node.work.gate->is_ready()) continue;
    samples_.StartPoll();
    Result<bool> stepped = node.StepGate();
    samples_.EndPoll();
    if (!stepped.ok()) return stepped;
    any = true;
    const std::optional<Barrier> barrier = node.work.gate->aligned();
    if (!barrier || node.is_at_barrier) continue;
    node.is_at_barrier = true;
    RT_TRY(Meet(*barrier));
    RT_TRY(Arrive(fragment_of_[static_cast<size_t>(gate)]));
  }
  return any;
}

bool Task::gates_are_ready() const {
  return std::any_of(gates_.begin(), gates_.end(), [&](int gate) {
    return nodes_[static_cast<size_t>(gate)]->work.gate->is_ready();
  });
}

bool Task::should_rest() const {
  return std::any_of(exchanges_.begin(), exchanges_.end(),
                     [](const Exchange* exchange) { return exchange->is_over_limit(); }) ||
         std::any_of(nodes_.begin(), nodes_.end(), [](const auto& node) {
           return node->work.sink != nullptr && node->work.sink->is_full();
         });
}

bool Task::all_ended() const {
  return std::all_of(sources_.begin(), sources_.end(), [&](int source) { return ended(source); }) &&
         std::all_of(gates_.begin(), gates_.end(), [&](int gate) {
           return nodes_[static_cast<size_t>(gate)]->work.gate->ended();
         });
}

bool Task::has_sink() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const auto& node) { return node->work.sink != nullptr; });
}

int64_t Task::rows_read() const {
  int64_t rows = -rows_read_before_;
  for (const int source : sources_) rows += nodes_[static_cast<size_t>(source)]->stats.total_out();
  return rows;
}

JobProgress Task::Progress() const {
  JobProgress progress;
  progress.rows_read = rows_read();
  bool all_known = true;
  std::optional<int64_t> watermark;
  for (const auto& node : nodes_) {
    progress.state_bytes += node->work.meters->state.bytes;
    if (node->work.sink) watermark = std::min(watermark.value_or(node->watermark), node->watermark);
    if (!node->work.source || node->work.is_absent) continue;
    const SourceProgress one = node->work.source->progress();
    all_known &= one.bytes_total > 0 || node->ended;
    progress.bytes_read += std::min(one.bytes_read, one.bytes_total);
    progress.bytes_total += one.bytes_total;
  }
  progress.watermark = watermark.value_or(Time::kNoWatermark);
  progress.knows_total = all_known;
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

std::vector<std::string> Task::Summaries(const std::vector<const Task*>& lanes) {
  std::vector<std::string> summaries;
  for (size_t i = 0; i < lanes[0]->nodes_.size(); ++i) {
    std::vector<const Sink*> sinks;
    for (const Task* lane : lanes) {
      if (const Sink* sink = lane->nodes_[i]->work.sink.get()) sinks.push_back(sink);
    }
    if (sinks.empty()) continue;
    std::string summary = sinks[0]->Summary(std::span(sinks).subspan(1));
    if (!summary.empty()) summaries.push_back(std::move(summary));
  }
  return summaries;
}

Result<LaneState> Task::Snapshot(int64_t epoch) {
  LaneState lane;
  lane.nodes.reserve(kept_.size());
  if (store_ != nullptr) RT_TRY(store_->BeginCheckpoint());
  for (const int node : kept_) {
    RT_ASSIGN(NodeState state, WriteDown(*nodes_[static_cast<size_t>(node)], epoch));
    lane.nodes.push_back(std::move(state));
  }
  if (store_ != nullptr) store_->EndBarrier();
  return lane;
}

Result<NodeState> Task::WriteDown(Node& node, int64_t epoch) {
  RT_ASSIGN(NodeState state, node.Snapshot(epoch));
  if (node.work.source) node.snapshots[epoch] = state.bytes;
  if (store_ != nullptr) store_->Freeze(node.work.table);
  return state;
}

void Task::FindFragments() {
  fragment_of_.assign(nodes_.size(), -1);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const JobNode& work = nodes_[i]->work;
    if (!work.is_crossing) kept_.push_back(static_cast<int>(i));
    if (work.source || work.operation || work.gate) fragment_of_[i] = static_cast<int>(i);
  }
  // The lowest number of a fragment is its name at first.
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      for (const JobEdge& edge : nodes_[i]->work.outputs) {
        int& from = fragment_of_[i];
        int& to = fragment_of_[static_cast<size_t>(edge.node)];
        changes |= from != to;
        from = to = std::min(from, to);
      }
    }
  }
  std::vector<int> names(nodes_.size(), -1);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (fragment_of_[i] < 0) continue;
    int& name = names[static_cast<size_t>(fragment_of_[i])];
    if (name < 0) {
      name = static_cast<int>(fragments_.size());
      fragments_.emplace_back();
    }
    fragment_of_[i] = name;
    if (nodes_[i]->work.source || nodes_[i]->work.gate)
      ++fragments_[static_cast<size_t>(name)].feeders;
  }
}

Status Task::Meet(Barrier barrier) {
  if (barrier_) {
    if (barrier_->epoch == barrier.epoch) return Status::Ok();
    return Status::Internal("barrier {} comes while barrier {} is under way", barrier.epoch,
                            barrier_->epoch);
  }
  if (store_ != nullptr) RT_TRY(store_->BeginCheckpoint());
  barrier_ = barrier;
  newest_barrier_ = barrier.epoch;
  at_barrier_.nodes.assign(kept_.size(), {});
  fragments_left_ = fragments_.size();
  for (Fragment& fragment : fragments_) fragment.arrived = 0;
  for (size_t i = 0; i < kept_.size(); ++i) {  // what this lane does not have
    const auto node = static_cast<size_t>(kept_[i]);
    if (fragment_of_[node] < 0)
      at_barrier_.nodes[i] = {nodes_[node]->work.identity, "", "", nodes_[node]->work.table};
  }
  if (fragments_.empty()) return Finished();
  for (const int source : sources_) RT_TRY(Arrive(fragment_of_[static_cast<size_t>(source)]));
  return Status::Ok();
}

bool Task::is_held(int source) const {
  if (!barrier_) return false;
  const Fragment& fragment =
      fragments_[static_cast<size_t>(fragment_of_[static_cast<size_t>(source)])];
  return fragment.arrived < fragment.feeders;
}

Status Task::Arrive(int fragment) {
  Fragment& arriving = fragments_[static_cast<size_t>(fragment)];
  return ++arriving.arrived == arriving.feeders ? WriteDown(fragment) : Status::Ok();
}

Status Task::WriteDown(int fragment) {
  for (size_t i = 0; i < kept_.size(); ++i) {
    const auto node = static_cast<size_t>(kept_[i]);
    if (fragment_of_[node] != fragment) continue;
    RT_ASSIGN(at_barrier_.nodes[i], WriteDown(*nodes_[node], barrier_->epoch));
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (fragment_of_[i] != fragment) continue;
    JobNode& work = nodes_[i]->work;
    if (work.exchange != nullptr) work.exchange->Send(*barrier_);
    if (work.gate) work.gate->Release();
    nodes_[i]->is_at_barrier = false;
  }
  return --fragments_left_ > 0 ? Status::Ok() : Finished();
}

Status Task::Finished() {
  if (store_ != nullptr) store_->EndBarrier();
  barrier_ = std::nullopt;
  snapshot_ = std::move(at_barrier_);
  return Status::Ok();
}

Status Task::Commit(int64_t epoch) {
  for (const auto& node : nodes_) {
    if (node->work.sink) RT_TRY(node->work.sink->Commit(epoch));
    if (node->work.source) RT_TRY(node->Committed(epoch));
  }
  return Status::Ok();
}

std::vector<NodeIdentity> Task::Identities() const {
  std::vector<NodeIdentity> identities;
  for (const int node : kept_)
    identities.push_back(nodes_[static_cast<size_t>(node)]->work.identity);
  return identities;
}

Status Task::AddCounts(int node, const NodeState& state) {
  Node& counting = *nodes_[static_cast<size_t>(kept_[static_cast<size_t>(node)])];
  const int64_t before = counting.stats.total_out();
  RT_TRY(counting.stats.AddBytes(state.counts, &counting.work.meters->counters));
  if (counting.work.source) rows_read_before_ += counting.stats.total_out() - before;
  return Status::Ok();
}

bool Task::has(int node) const {
  return !nodes_[static_cast<size_t>(kept_[static_cast<size_t>(node)])]->work.is_absent;
}

bool Task::is_sink(int node) const {
  return nodes_[static_cast<size_t>(kept_[static_cast<size_t>(node)])]->work.sink != nullptr;
}

// Gates have told what all lanes together had told them: that is behind the barrier.
Status Task::Restore(const NodeStates& states) {
  RT_CHECK(states.size() == kept_.size());
  for (size_t i = 0; i < kept_.size(); ++i)
    RT_TRY(RestoreNode(*nodes_[static_cast<size_t>(kept_[i])], states[i]));
  for (const int gate : gates_) {
    Node& node = *nodes_[static_cast<size_t>(gate)];
    node.told = nodes_[static_cast<size_t>(node.work.gate_feeder)]->told;
    node.work.gate->RestoreTimes(node.told);
  }
  return Status::Ok();
}

// A source is over when it was in all lanes: else what is left of it is shared out anew.
Status Task::RestoreNode(Node& node, const std::vector<const NodeState*>& states) {
  std::vector<StreamTime> told;
  bool ended = true;
  for (const NodeState* state : states) {
    if (state == nullptr) {
      RT_TRY(node.work.sink->BeginAnew());
      continue;
    }
    if (state->times.empty()) {
      RT_TRY(node.work.sink->Restore(state->bytes));
      continue;
    }
    RT_TRY(RestoreState(node, *state, told.empty()));
    ended &= node.ended;
    told.push_back(node.told);
  }
  if (node.work.source && !node.work.is_absent) RT_TRY(node.work.source->Begin());
  if (told.empty()) return Status::Ok();
  node.ended = ended;
  node.told = StreamTime::Of(told);
  return Status::Ok();
}

Status Task::RestoreState(Node& node, const NodeState& state, bool is_first) {
  SnapshotReader times(state.times);
  RT_ASSIGN(const uint8_t ended, times.U8("end of a source"));
  node.ended = ended != 0;
  RT_TRY(node.told.Restore(times));
  if (node.work.is_absent) return Status::Ok();
  RT_TRY(is_first ? node.times.Restore(times) : node.times.Merge(times));
  if (node.work.sink) return node.work.sink->Restore(state.bytes);
  SnapshotReader own(state.bytes);
  if (node.work.source) {
    RT_TRY(is_first ? node.work.source->Restore(own) : node.work.source->Merge(own));
  } else {
    RT_TRY(is_first ? node.work.operation->Restore(own) : node.work.operation->Merge(own));
  }
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
    stats.bytes = node->work.meters->bytes.bytes();
    if (!node->work.is_absent) {
      if (node->work.source) stats.bytes = node->work.source->progress().bytes_read;
      stats.time = node->told;
      if (node->work.sink) stats.time->watermark = node->watermark;
    }
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
    if (nodes_[i]->work.source || nodes_[i]->work.gate) routes[i] = {static_cast<int>(i)};
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
    if (!met[i] && !routes[i].empty()) nanos[routes[i]] = 0;
  }
  std::vector<PathTime> all;
  for (const auto& [numbers, time] : nanos) {
    PathTime path{0, {}, time};
    for (const int number : numbers)
      path.nodes.push_back(nodes_[static_cast<size_t>(number)]->work.name);
    all.push_back(std::move(path));
  }
  return all;
}

}  // namespace rowtide

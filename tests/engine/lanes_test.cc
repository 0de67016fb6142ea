// Several lanes with made-up sources: order of each key, back-pressure, barriers, errors, stops.
#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "engine/runtime/job.h"
#include "tests/engine/by_key.h"
#include "tests/engine/numbered_rows.h"

namespace rowtide {
namespace {

using namespace std::chrono_literals;

// Numbers under the keys n mod `keys`, and after each batch its last number as a watermark.
class Counting final : public NumberedSource {
 public:
  Counting(int64_t count, int64_t keys, int64_t batch_rows, int64_t fails_at = -1)
      : NumberedSource(KeyAndNumber(), Keyed([keys](int64_t number) { return number % keys; }),
                       {0, count}, batch_rows),
        fails_at_(fails_at) {}
  Result<SourceState> Poll(Collector& out) override {
    if (fails_at_ >= 0 && next() >= fails_at_) return Status::DataError("a bad record");
    const int64_t before = next();
    RT_ASSIGN(const SourceState state, NumberedSource::Poll(out));
    if (next() > before) RT_TRY(out.Advance(Time::Watermark(next() - 1)));
    return state;
  }

 private:
  int64_t fails_at_;
};

// What came, in all lanes together.
struct Seen {
  std::mutex mutex;
  std::map<int64_t, std::vector<int64_t>> of_key;
  int64_t rows = 0;
  int ends = 0;
  int finished = 0;
  int abandoned = 0;
};

class SeeingSink final : public Sink {
 public:
  SeeingSink(Seen* seen, std::chrono::microseconds pause = 0us) : seen_(seen), pause_(pause) {}
  Status Write(const RowBatch& batch) override {
    if (pause_ > 0us) std::this_thread::sleep_for(pause_);
    const std::lock_guard lock(seen_->mutex);
    for (int row = 0; row < batch.rows; ++row) {
      seen_->of_key[batch.columns[0].values<int64_t>()[row]].push_back(
          batch.columns[1].values<int64_t>()[row]);
    }
    seen_->rows += batch.rows;
    return Status::Ok();
  }
  Status Finish() override {
    ++seen_->finished;
    return Status::Ok();
  }
  void Abandon() override { ++seen_->abandoned; }

 private:
  Seen* seen_;
  std::chrono::microseconds pause_;
};

// Hands rows on under another key; fails at the row of one number.
class Rekey final : public Operator {
 public:
  Rekey(int64_t keys, int64_t fails_at) : keys_(keys), fails_at_(fails_at) {}
  const Schema& output_schema() const override { return schema_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    std::vector<std::pair<int64_t, int64_t>> rows;
    for (int row = 0; row < batch.rows; ++row) {
      const int64_t number = batch.columns[1].values<int64_t>()[row];
      if (number == fails_at_) return Status::DataError("a bad row");
      rows.emplace_back(number / 7 % keys_, number);
    }
    return out.Emit(BatchOf(rows));
  }

 private:
  int64_t keys_;
  int64_t fails_at_;
  Schema schema_ = KeyAndNumber();
};

// source -> exchange ⇉ gate -> rekey -> exchange ⇉ gate -> sink, a source in each lane.
struct Shape {
  int lanes = 2;
  int64_t count = 10'000;
  int64_t keys = 16;
  int64_t batch_rows = 64;
  int64_t rows_max = Channel::kRowsMax;
  int64_t source_fails_at = -1;  // in the last lane
  int64_t row_fails_at = -1;
  std::chrono::microseconds sink_pause = 0us;
};

int Node(std::vector<JobGraph>* graphs, const std::string& name) {
  int node = 0;
  for (JobGraph& graph : *graphs) node = graph.AddNode(name);
  return node;
}

// The number of the gate.
int AddExchange(std::vector<JobGraph>* graphs, int from, int64_t rows_max) {
  const int exchange = Node(graphs, "Exchange"), gate = Node(graphs, "InputGate");
  const int lanes = static_cast<int>(graphs->size());
  std::vector<std::vector<Channel*>> targets(graphs->size());
  for (JobGraph& graph : *graphs) {
    auto made = std::make_unique<InputGate>(lanes, rows_max);
    for (int i = 0; i < lanes; ++i) targets[static_cast<size_t>(i)].push_back(made->channel(i));
    graph.SetGate(gate, std::move(made), from);
  }
  for (size_t i = 0; i < graphs->size(); ++i) {
    (*graphs)[i].SetExchange(
        exchange, std::make_unique<Exchange>(std::make_unique<ByKey>(lanes), targets[i]));
    (*graphs)[i].Connect(from, exchange, 0);
  }
  return gate;
}

std::vector<JobGraph> Build(const Shape& shape, Seen* seen) {
  std::vector<JobGraph> graphs(static_cast<size_t>(shape.lanes));
  const int source = Node(&graphs, "source");
  for (int lane = 0; lane < shape.lanes; ++lane) {
    const bool is_last = lane + 1 == shape.lanes;
    graphs[static_cast<size_t>(lane)].SetSource(
        source, std::make_unique<Counting>(shape.count, shape.keys, shape.batch_rows,
                                           is_last ? shape.source_fails_at : -1));
  }
  const int first = AddExchange(&graphs, source, shape.rows_max);
  const int rekey = Node(&graphs, "rekey");
  for (JobGraph& graph : graphs) {
    graph.SetOperator(rekey, std::make_unique<Rekey>(shape.keys, shape.row_fails_at), 1);
    graph.Connect(first, rekey, 0);
  }
  const int second = AddExchange(&graphs, rekey, shape.rows_max);
  const int sink = Node(&graphs, "sink");
  for (JobGraph& graph : graphs) {
    graph.SetSink(sink, std::make_unique<SeeingSink>(seen, shape.sink_pause));
    graph.Connect(second, sink, 0);
  }
  return graphs;
}

// source -> exchange ⇉ gate -> sink, the source in the first lane.
std::vector<JobGraph> BuildOneSource(const Shape& shape, Seen* seen) {
  std::vector<JobGraph> graphs(static_cast<size_t>(shape.lanes));
  const int source = Node(&graphs, "source");
  for (size_t lane = 0; lane < graphs.size(); ++lane) {
    graphs[lane].SetSource(source, std::make_unique<Counting>(lane == 0 ? shape.count : 0,
                                                              shape.keys, shape.batch_rows));
  }
  const int gate = AddExchange(&graphs, source, shape.rows_max);
  const int sink = Node(&graphs, "sink");
  for (JobGraph& graph : graphs) {
    graph.SetSink(sink, std::make_unique<SeeingSink>(seen, shape.sink_pause));
    graph.Connect(gate, sink, 0);
  }
  return graphs;
}

TEST(Lanes, KeepTheOrderOfEachKey) {
  Seen seen;
  Shape shape;
  shape.lanes = 3;
  Job job(BuildOneSource(shape, &seen));
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(*end, JobEnd::kEnded);
  EXPECT_EQ(seen.rows, shape.count);
  EXPECT_EQ(seen.of_key.size(), 16u);
  for (const auto& [key, numbers] : seen.of_key) {
    for (size_t i = 0; i < numbers.size(); ++i)
      ASSERT_EQ(numbers[i], key + static_cast<int64_t>(i) * shape.keys);
  }
  EXPECT_EQ(seen.finished, 3);
  EXPECT_EQ(seen.abandoned, 0);
  EXPECT_EQ(job.rows_read(), shape.count);
}

TEST(Lanes, DoNotWaitForEachOtherWithFullQueues) {
  Seen seen;
  Shape shape;
  shape.rows_max = 1;  // every channel is over its limit with one batch
  shape.batch_rows = 7;
  Job job(Build(shape, &seen));
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(seen.rows, 2 * shape.count);
}

TEST(Lanes, RestWhileALaneIsBehind) {
  Seen seen;
  Shape shape;
  shape.count = 2'000;
  shape.batch_rows = 10;
  shape.rows_max = 100;
  shape.sink_pause = 200us;
  Job job(BuildOneSource(shape, &seen));
  ASSERT_TRUE(job.RunToEnd().ok());
  EXPECT_EQ(seen.rows, shape.count);
}

TEST(Lanes, StepByStepOnOneThread) {
  Seen seen;
  Shape shape;
  shape.count = 1'000;
  Job job(Build(shape, &seen));
  int64_t read = 0;
  while (true) {
    const Result<SourceState> state = job.Step();
    ASSERT_TRUE(state.ok());
    ASSERT_EQ(seen.rows, job.rows_read());  // all that was polled has arrived
    ASSERT_GE(job.rows_read(), read);
    read = job.rows_read();
    if (*state == SourceState::kEnd) break;
  }
  EXPECT_EQ(seen.rows, 2 * shape.count);
  const std::vector<NodeStats> stats = job.Stats();
  EXPECT_EQ(stats.back().name, "sink");
  EXPECT_EQ(stats.back().rows_in, 2 * shape.count);
}

TEST(Lanes, AnErrorInOneEndsAllAndIsToldOnce) {
  for (const bool in_source : {true, false}) {
    Seen seen;
    Shape shape;
    shape.lanes = 3;
    shape.count = -1;  // the others would run for ever
    (in_source ? shape.source_fails_at : shape.row_fails_at) = 5'000;
    Job job(Build(shape, &seen));
    const Result<JobEnd> end = job.RunToEnd();
    ASSERT_FALSE(end.ok());
    EXPECT_EQ(end.status().message(), in_source ? "a bad record" : "a bad row");
    EXPECT_EQ(seen.finished, 0);
    EXPECT_EQ(seen.abandoned, 3);
  }
}

TEST(Lanes, StopWhenAsked) {
  Seen seen;
  Shape shape;
  shape.count = -1;
  std::atomic<int> stop = 0;
  JobOptions options;
  options.stop = &stop;
  Job job(Build(shape, &seen), options);
  std::thread asking([&] {
    std::this_thread::sleep_for(20ms);
    stop = 2;
  });
  const Result<JobEnd> end = job.RunToEnd();
  asking.join();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, JobEnd::kStopped);
  EXPECT_EQ(seen.finished + seen.abandoned, 0);
}

TEST(Lanes, EndWhenItIsEnough) {
  Seen seen;
  Shape shape;
  shape.count = -1;
  JobOptions options;
  Job* running = nullptr;
  options.is_enough = [&] { return running->Progress().rows_read > 1'000; };
  Job job(Build(shape, &seen), options);
  running = &job;
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, JobEnd::kEnded);
  EXPECT_EQ(seen.finished, 2);
}

// Another thread reads all the while; at the end the board has what Stats has.
TEST(Lanes, PutUpWhatTheyCount) {
  Seen seen;
  Shape shape;
  shape.count = 20'000;
  JobBoard board;
  JobOptions options;
  options.board = &board;
  Job job(Build(shape, &seen), options);
  std::atomic<bool> over = false;
  std::thread reader([&] {
    while (!over) {
      for (const LaneReport& lane : board.lanes())
        EXPECT_TRUE(lane.nodes.empty() || lane.nodes.size() == 7u);
    }
  });
  const Result<JobEnd> end = job.RunToEnd();
  over = true;
  reader.join();
  ASSERT_TRUE(end.ok());
  std::vector<NodeStats> all = board.lanes()[0].nodes;
  for (size_t node = 0; node < all.size(); ++node) all[node].Add(board.lanes()[1].nodes[node]);
  const std::vector<NodeStats> stats = job.Stats();
  ASSERT_EQ(all.size(), stats.size());
  for (size_t node = 0; node < all.size(); ++node) {
    EXPECT_EQ(all[node].rows_in, stats[node].rows_in);
    EXPECT_EQ(all[node].rows_out, stats[node].rows_out);
  }
}

TEST(Lanes, CanBeDestroyedWithRowsOnTheWay) {
  Seen seen;
  Shape shape;
  shape.count = -1;
  auto job = std::make_unique<Job>(Build(shape, &seen));
  ASSERT_TRUE(job->Step().ok());
  job = nullptr;
}

// --- checkpoints ---
// Keeps them in memory.
class Kept final : public CheckpointStore {
 public:
  Status Write(const Checkpoint& checkpoint) override {
    const std::lock_guard lock(mutex);
    all.push_back(checkpoint);
    return Status::Ok();
  }
  Status Commit(int64_t /*epoch*/) override { return Status::Ok(); }
  Status Retire(int /*kept*/) override { return Status::Ok(); }
  Status WriteSavepoint(const Checkpoint& checkpoint, const std::string& /*target*/) override {
    savepoints.push_back(checkpoint);
    return Status::Ok();
  }
  int64_t FreeBytes() const override { return 1 << 30; }
  std::string Place() const override { return "memory"; }

  std::mutex mutex;
  std::vector<Checkpoint> all;
  std::vector<Checkpoint> savepoints;
};

// Of each key how many rows came and their sum, as an operator keeps it: rows go on as they are.
class Counted final : public Operator {
 public:
  const Schema& output_schema() const override { return schema_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    for (int row = 0; row < batch.rows; ++row) {
      auto& [count, sum] = of_key_[batch.columns[0].values<int64_t>()[row]];
      ++count;
      sum += batch.columns[1].values<int64_t>()[row];
    }
    return out.Emit(batch);
  }
  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutU64(of_key_.size());
    for (const auto& [key, numbers] : of_key_) {
      writer.PutI64(key);
      writer.PutI64(numbers.first);
      writer.PutI64(numbers.second);
    }
    return Status::Ok();
  }

 private:
  std::map<int64_t, std::pair<int64_t, int64_t>> of_key_;
  Schema schema_ = KeyAndNumber();
};

// As BuildOneSource with a source in each lane, and a Counted in front of the sink.
std::vector<JobGraph> BuildCounted(const Shape& shape, Seen* seen) {
  std::vector<JobGraph> graphs(static_cast<size_t>(shape.lanes));
  const int source = Node(&graphs, "source");
  for (JobGraph& graph : graphs)
    graph.SetSource(source, std::make_unique<Counting>(shape.count, shape.keys, shape.batch_rows));
  const int gate = AddExchange(&graphs, source, shape.rows_max);
  const int counted = Node(&graphs, "counted");
  const int sink = Node(&graphs, "sink");
  for (JobGraph& graph : graphs) {
    graph.SetOperator(counted, std::make_unique<Counted>(), 1);
    graph.Connect(gate, counted, 0);
    graph.SetSink(sink, std::make_unique<SeeingSink>(seen));
    graph.Connect(counted, sink, 0);
  }
  return graphs;
}

// What all sources have given up to the checkpoint is what the operators hold, row for row.
void ExpectConsistent(const Checkpoint& checkpoint, const Shape& shape) {
  ASSERT_EQ(checkpoint.lanes.size(), static_cast<size_t>(shape.lanes));
  std::map<int64_t, std::pair<int64_t, int64_t>> want, got;
  for (const LaneState& lane : checkpoint.lanes) {
    ASSERT_EQ(lane.nodes.size(), 3u);
    SnapshotReader position(lane.nodes[0].bytes);
    const int64_t next = *position.I64("next");
    for (int64_t number = 0; number < next; ++number) {
      ++want[number % shape.keys].first;
      want[number % shape.keys].second += number;
    }
    SnapshotReader counts(lane.nodes[1].bytes);
    const uint64_t keys = *counts.U64("keys");
    for (uint64_t i = 0; i < keys; ++i) {
      const int64_t key = *counts.I64("key");
      got[key].first += *counts.I64("count");
      got[key].second += *counts.I64("sum");
    }
  }
  EXPECT_EQ(got, want) << "epoch " << checkpoint.epoch;
}

TEST(Lanes, CheckpointsHoldWhatCameBeforeTheBarrierAndNothingElse) {
  Seen seen;
  Shape shape;
  shape.lanes = 3;
  shape.count = 200'000;
  shape.batch_rows = 16;
  shape.rows_max = 64;
  Kept kept;
  CheckpointSettings settings;
  settings.interval_millis = 1;
  Checkpointer checkpointer(&kept, settings, 0, [](const std::string&) {});
  JobOptions options;
  options.checkpointer = &checkpointer;
  Job job(BuildCounted(shape, &seen), options);
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok()) << end.status().message();
  ASSERT_GT(kept.all.size(), 2u);
  for (size_t i = 0; i < kept.all.size(); ++i) {
    EXPECT_EQ(kept.all[i].epoch, static_cast<int64_t>(i) + 1);
    ExpectConsistent(kept.all[i], shape);
  }
  EXPECT_EQ(kept.all.back().kind, CheckpointKind::kFinal);
  EXPECT_EQ(seen.rows, 3 * shape.count);
}

// Rows behind a barrier wait in it until the epoch before them is decided.
class HoldingSink final : public Sink {
 public:
  static constexpr int64_t kFullRows = 100;
  explicit HoldingSink(std::atomic<int64_t>* most) : most_(most) {}
  Status Write(const RowBatch& batch) override {
    if (prepared_ > decided_) held_ += batch.rows;
    if (held_ > *most_) most_->store(held_);
    return Status::Ok();
  }
  Result<std::string> Prepare(int64_t epoch) override {
    prepared_ = epoch;
    return std::string();
  }
  Status Commit(int64_t epoch) override {
    decided_ = epoch;
    held_ = 0;
    return Status::Ok();
  }
  bool is_full() const override { return held_ > kFullRows; }

 private:
  std::atomic<int64_t>* most_;
  int64_t prepared_ = 0;
  int64_t decided_ = 0;
  std::atomic<int64_t> held_ = 0;
};

// Writing takes longer than reading would.
class SlowlyKept final : public CheckpointStore {
 public:
  Status Write(const Checkpoint& /*checkpoint*/) override {
    std::this_thread::sleep_for(5ms);
    return Status::Ok();
  }
  Status Commit(int64_t /*epoch*/) override { return Status::Ok(); }
  Status Retire(int /*kept*/) override { return Status::Ok(); }
  Status WriteSavepoint(const Checkpoint&, const std::string&) override { return Status::Ok(); }
  int64_t FreeBytes() const override { return 1 << 30; }
  std::string Place() const override { return "nowhere"; }
};

TEST(Lanes, RestWhileASinkIsFull) {
  Shape shape;
  shape.lanes = 3;
  shape.count = 100'000;
  shape.batch_rows = 16;
  shape.rows_max = 64;
  std::vector<JobGraph> graphs(static_cast<size_t>(shape.lanes));
  const int source = Node(&graphs, "source");
  for (JobGraph& graph : graphs)
    graph.SetSource(source, std::make_unique<Counting>(shape.count, shape.keys, shape.batch_rows));
  const int gate = AddExchange(&graphs, source, shape.rows_max);
  const int behind = Node(&graphs, "behind the exchange");
  const int before = Node(&graphs, "before the exchange");
  std::atomic<int64_t> most = 0;
  for (JobGraph& graph : graphs) {
    graph.SetSink(behind, std::make_unique<HoldingSink>(&most));
    graph.Connect(gate, behind, 0);
    graph.SetSink(before, std::make_unique<HoldingSink>(&most));
    graph.Connect(source, before, 0);
  }
  SlowlyKept kept;
  CheckpointSettings settings;
  settings.interval_millis = 1;
  Checkpointer checkpointer(&kept, settings, 0, [](const std::string&) {});
  JobOptions options;
  options.checkpointer = &checkpointer;
  Job job(std::move(graphs), options);
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(job.rows_read(), 3 * shape.count);
  EXPECT_GT(most, 0);
  // What was on its way when it was full: a batch, and what the channels hold.
  EXPECT_LT(most, HoldingSink::kFullRows + 3 * (shape.rows_max + 2 * shape.batch_rows));
  EXPECT_GT(checkpointer.completed(), 5);
}

TEST(Lanes, TakeACheckpointWhenTheyAreStopped) {
  Seen seen;
  Shape shape;
  shape.count = -1;
  Kept kept;
  CheckpointSettings settings;
  settings.interval_millis = 2;
  Checkpointer checkpointer(&kept, settings, 0, [](const std::string&) {});
  std::atomic<int> stop = 0;
  JobOptions options;
  options.checkpointer = &checkpointer;
  options.stop = &stop;
  Job job(BuildCounted(shape, &seen), options);
  std::thread asking([&] {
    std::this_thread::sleep_for(30ms);
    stop = 2;
  });
  const Result<JobEnd> end = job.RunToEnd();
  asking.join();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(*end, JobEnd::kStopped);
  ASSERT_FALSE(kept.all.empty());
  for (const Checkpoint& checkpoint : kept.all) ExpectConsistent(checkpoint, shape);
}

// Writes down what a Counted holds when it is frozen, some time later; fails now and then.
class MadeUpLaneStore final : public LaneStore {
 public:
  MadeUpLaneStore(const Operator* counted, int fails_each)
      : counted_(counted), fails_each_(fails_each) {}
  Status BeginCheckpoint() override {
    EXPECT_FALSE(is_open_);
    is_open_ = true;
    frozen_.clear();
    return Status::Ok();
  }
  void Freeze(uint32_t table) override {
    EXPECT_TRUE(is_open_);
    if (table != kCountedTable) return;
    SnapshotWriter writer;
    EXPECT_TRUE(counted_->Snapshot(writer).ok());
    frozen_ = writer.Take();
  }
  void EndBarrier() override {
    EXPECT_TRUE(is_open_);
    is_open_ = false;
    work_left_ = 5;
  }
  Status Work() override {
    if (work_left_ > 0 && !is_open_) --work_left_;
    return Status::Ok();
  }
  bool has_work() const override { return work_left_ > 0 && !is_open_; }
  bool is_waiting() const override { return false; }
  bool is_written() const override { return work_left_ == 0 && !is_open_; }
  Result<std::vector<CheckpointFile>> AwaitWritten() override {
    EXPECT_FALSE(is_open_);
    work_left_ = 0;
    if (fails_each_ > 0 && ++awaited_ % fails_each_ == 0) return Status::External("no room");
    return std::vector<CheckpointFile>{{"counted", frozen_, frozen_.size(), 0, true}};
  }

  static constexpr uint32_t kCountedTable = 7;

 private:
  const Operator* counted_;
  int fails_each_;
  int awaited_ = 0;
  bool is_open_ = false;
  int work_left_ = 0;
  std::string frozen_;
};

TEST(Lanes, StoresAreFrozenWithTheirOperatorsAndHandedInWhenTheyAreWritten) {
  for (const int lanes : {1, 3}) {
    for (const int fails_each : {0, 3}) {
      Seen seen;
      Shape shape;
      shape.lanes = lanes;
      shape.count = -1;  // until there are enough of them, however slow the machine is
      shape.batch_rows = 16;
      shape.rows_max = 64;
      std::vector<JobGraph> graphs = BuildCounted(shape, &seen);
      std::vector<std::unique_ptr<MadeUpLaneStore>> stores;
      JobOptions options;
      for (JobGraph& graph : graphs) {
        for (size_t node = 0; node < graph.nodes().size(); ++node) {
          if (graph.nodes()[node].name != "counted") continue;
          graph.SetTable(static_cast<int>(node), MadeUpLaneStore::kCountedTable);
          stores.push_back(std::make_unique<MadeUpLaneStore>(graph.nodes()[node].operation.get(),
                                                             stores.empty() ? fails_each : 0));
          options.stores.push_back(stores.back().get());
        }
      }
      Kept kept;
      CheckpointSettings settings;
      settings.interval_millis = 1;
      settings.tolerable_failures = 1;
      int given_up = 0;
      Checkpointer checkpointer(&kept, settings, 0, [&](const std::string&) { ++given_up; });
      options.checkpointer = &checkpointer;
      options.is_enough = [&] {
        const std::lock_guard lock(kept.mutex);
        return kept.all.size() > 4 && (given_up > 1 || fails_each == 0);
      };
      Job job(std::move(graphs), options);
      const Result<JobEnd> end = job.RunToEnd();
      // The last one may be the one that fails, and then the job does.
      if (!end.ok()) {
        ASSERT_EQ(end.status().code(), StatusCode::kExternal) << end.status().message();
        ASSERT_GT(fails_each, 0);
      }
      ASSERT_GT(kept.all.size(), 2u);
      EXPECT_EQ(given_up > 0, fails_each > 0);
      for (const Checkpoint& checkpoint : kept.all) {
        ExpectConsistent(checkpoint, shape);
        for (const LaneState& lane : checkpoint.lanes) {
          ASSERT_EQ(lane.files.size(), 1u);
          EXPECT_EQ(lane.files[0].path, lane.nodes[1].bytes) << "epoch " << checkpoint.epoch;
        }
      }
    }
  }
}

TEST(Lanes, GiveASavepointAndGoOn) {
  Seen seen;
  Shape shape;
  shape.count = -1;
  Kept kept;
  Checkpointer checkpointer(&kept, {}, 0, [](const std::string&) {});
  JobRequests requests;
  JobOptions options;
  options.checkpointer = &checkpointer;
  options.requests = &requests;
  Job job(BuildCounted(shape, &seen), options);
  Status first = Status::Ok(), second = Status::Ok();
  std::thread asking([&] {
    first = requests.Ask({"one", false});
    std::this_thread::sleep_for(5ms);
    second = requests.Ask({"two", true});
  });
  const Result<JobEnd> end = job.RunToEnd();
  requests.Close();
  asking.join();
  ASSERT_TRUE(end.ok()) << end.status().message();
  EXPECT_EQ(*end, JobEnd::kStopped);
  EXPECT_TRUE(first.ok() && second.ok()) << first.message() << second.message();
  ASSERT_EQ(kept.savepoints.size(), 2u);
  for (const Checkpoint& savepoint : kept.savepoints) ExpectConsistent(savepoint, shape);
}

// --- channels and gates alone ---
class Events final : public Collector {
 public:
  Status Emit(RowBatch batch) override {
    for (int row = 0; row < batch.rows; ++row)
      texts.push_back(std::to_string(batch.columns[1].values<int64_t>()[row]));
    return Status::Ok();
  }
  Status Advance(Time time) override {
    switch (time.kind) {
      case Time::Kind::kWatermark: texts.push_back("W " + std::to_string(time.millis)); break;
      case Time::Kind::kTick: texts.push_back("T " + std::to_string(time.millis)); break;
      case Time::Kind::kIdle: texts.push_back("idle"); break;
      case Time::Kind::kEnd: texts.push_back("end"); break;
    }
    return Status::Ok();
  }
  std::vector<std::string> Take() { return std::exchange(texts, {}); }
  std::vector<std::string> texts;
};

using Texts = std::vector<std::string>;

void StepAll(InputGate* gate, Collector* out) {
  while (true) {
    const Result<bool> stepped = gate->Step(*out);
    ASSERT_TRUE(stepped.ok());
    if (!*stepped) return;
  }
}

TEST(InputGate, MergesTheTimesOfItsChannels) {
  InputGate gate(2);
  Events out;
  gate.channel(0)->Push(Time::Watermark(5));
  StepAll(&gate, &out);
  EXPECT_EQ(out.Take(), Texts());
  gate.channel(1)->Push(Time::Watermark(3));
  StepAll(&gate, &out);
  EXPECT_EQ(out.Take(), Texts({"W 3"}));
  gate.channel(1)->Push(Time::Idle());
  StepAll(&gate, &out);
  EXPECT_EQ(out.Take(), Texts({"W 5"}));
  gate.channel(0)->Push(Time::Watermark(Time::kMaxWatermark));
  gate.channel(0)->Push(Time::End());
  StepAll(&gate, &out);
  EXPECT_FALSE(gate.ended());
  out.Take();
  gate.channel(1)->Push(Time::End());
  StepAll(&gate, &out);
  EXPECT_EQ(out.Take(), Texts({"end"}));
  EXPECT_TRUE(gate.ended());
}

TEST(InputGate, HoldsAChannelBackUntilAllHaveBroughtTheBarrier) {
  InputGate gate(2);
  Events out;
  gate.channel(0)->Push(BatchOf({{0, 1}}));
  gate.channel(0)->Push(Barrier{7});
  gate.channel(0)->Push(BatchOf({{0, 3}}));
  gate.channel(0)->Push(Time::Watermark(3));
  gate.channel(1)->Push(BatchOf({{0, 2}}));
  StepAll(&gate, &out);
  EXPECT_EQ(out.Take(), Texts({"1", "2"}));
  EXPECT_FALSE(gate.aligned());
  EXPECT_FALSE(gate.is_ready());
  gate.channel(1)->Push(Barrier{7});
  gate.channel(1)->Push(Time::Watermark(4));
  EXPECT_TRUE(gate.is_ready());
  StepAll(&gate, &out);
  ASSERT_TRUE(gate.aligned());
  EXPECT_EQ(gate.aligned()->epoch, 7);
  EXPECT_EQ(out.Take(), Texts());
  gate.Release();
  StepAll(&gate, &out);
  EXPECT_EQ(out.Take(), Texts({"3", "W 3"}));
  EXPECT_FALSE(gate.aligned());
}

TEST(InputGate, RefusesABarrierOfAnotherEpoch) {
  InputGate gate(2);
  Events out;
  gate.channel(0)->Push(Barrier{7});
  gate.channel(1)->Push(Barrier{8});
  Result<bool> stepped = true;
  while (stepped.ok() && *stepped) stepped = gate.Step(out);
  EXPECT_FALSE(stepped.ok());
}

TEST(Channel, WakesWhoWaits) {
  LaneSignal consumer, producer;
  const auto is_set = [](LaneSignal& signal) {
    pollfd ready = {signal.descriptor(), POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  };
  Channel channel(2);
  channel.SetConsumer(&consumer);
  channel.SetProducer(&producer);
  consumer.Arm();
  EXPECT_FALSE(is_set(consumer));
  channel.Push(BatchOf({{0, 1}, {0, 2}, {0, 3}}));
  EXPECT_TRUE(is_set(consumer));
  EXPECT_TRUE(channel.is_over_limit());
  channel.Push(Time::Watermark(1));
  producer.Arm();
  ASSERT_NE(channel.Front(), nullptr);
  channel.Pop();
  EXPECT_TRUE(is_set(producer));
  EXPECT_FALSE(channel.is_over_limit());
  EXPECT_FALSE(channel.is_empty());
  ASSERT_NE(channel.Front(), nullptr);
  channel.Pop();
  EXPECT_EQ(channel.Front(), nullptr);
  consumer.Arm();
  EXPECT_FALSE(is_set(consumer));
}

}  // namespace
}  // namespace rowtide

// The runtime with made-up sources and operators: order of rows, merging of time, stop, snapshots,
// counts.
#include "engine/runtime/job.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

#include "engine/named_rows.h"
#include "tests/engine/numbered_rows.h"

namespace rowtide {
namespace {

Schema Numbers() { return Schema({{"n", Type::BigInt()}}); }

std::string TextOf(Time time) {
  switch (time.kind) {
    case Time::Kind::kWatermark:
      return time.millis == Time::kMaxWatermark ? "W max" : "W " + std::to_string(time.millis);
    case Time::Kind::kTick: return "T " + std::to_string(time.millis);
    case Time::Kind::kIdle: return "idle";
    case Time::Kind::kEnd: return "end";
  }
  return "";
}

// Numbers first, first + 1, … in batches of `batch_rows`.
class Counting final : public NumberedSource {
 public:
  Counting(int64_t first, int64_t count, int64_t batch_rows)
      : NumberedSource(
            Numbers(), [](int64_t number) { return std::vector<Value>{Value(number)}; },
            {first, first + count}, batch_rows) {}
};

// The sum of all rows so far, as -U and +U.
class RunningSum final : public Operator {
 public:
  RunningSum() : schema_(Numbers()) {}
  const Schema& output_schema() const override { return schema_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    std::vector<std::pair<RowKind, std::vector<Value>>> rows;
    for (int row = 0; row < batch.rows; ++row) {
      if (sum_ != 0) rows.push_back({RowKind::kUpdateBefore, {Value(sum_)}});
      sum_ += batch.columns[0].values<int64_t>()[row];
      rows.push_back({RowKind::kUpdateAfter, {Value(sum_)}});
    }
    return out.Emit(BatchOf(schema_, rows));
  }
  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutI64(sum_);
    return Status::Ok();
  }
  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(sum_, reader.I64("sum"));
    return Status::Ok();
  }

 private:
  int64_t sum_ = 0;
  Schema schema_;
};

// Hands everything on and notes it.
class Noting final : public Operator {
 public:
  explicit Noting(std::vector<std::string>* notes, bool fails = false)
      : notes_(notes), fails_(fails), schema_(Numbers()) {}
  const Schema& output_schema() const override { return schema_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override {
    if (fails_) return Status::DataError("a bad row");
    std::string note = std::to_string(input) + ":";
    for (int row = 0; row < batch.rows; ++row) {
      note += std::string(" ") + Text(batch.kind(row)) +
              std::to_string(batch.columns[0].values<int64_t>()[row]);
    }
    notes_->push_back(note);
    return out.Emit(batch);
  }
  Status Advance(int /*input*/, Time time, Collector& out) override {
    notes_->push_back(TextOf(time));
    return out.Advance(time);
  }

 private:
  std::vector<std::string>* notes_;
  bool fails_;
  Schema schema_;
};

class NotingSink final : public Sink {
 public:
  explicit NotingSink(std::vector<std::string>* notes) : notes_(notes) {}
  Status Write(const RowBatch& batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      notes_->push_back(Text(batch.kind(row)) +
                        std::to_string(batch.columns[0].values<int64_t>()[row]));
    }
    return Status::Ok();
  }
  Status Finish() override {
    notes_->push_back("finished");
    return Status::Ok();
  }
  void Abandon() override { notes_->push_back("abandoned"); }
  std::string Summary(std::span<const Sink* const> /*others*/) const override { return "noted"; }

 private:
  std::vector<std::string>* notes_;
};

using Notes = std::vector<std::string>;

JobGraph SumIntoSink(int64_t count, int64_t batch_rows, Notes* notes) {
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int sum = graph.AddNode("sum");
  const int sink = graph.AddNode("sink");
  graph.SetSource(source, std::make_unique<Counting>(1, count, batch_rows));
  graph.SetOperator(sum, std::make_unique<RunningSum>(), 1);
  graph.SetSink(sink, std::make_unique<NotingSink>(notes));
  graph.Connect(source, sum, 0);
  graph.Connect(sum, sink, 0);
  return graph;
}

TEST(TimeMerger, TellsTheMinimumOfActiveInputsOnce) {
  TimeMerger merger(2);
  EXPECT_FALSE(merger.Advance(0, Time::Watermark(5)));
  EXPECT_EQ(merger.Advance(1, Time::Watermark(7))->millis, 5);
  EXPECT_EQ(merger.Advance(0, Time::Watermark(9))->millis, 7);
  EXPECT_EQ(merger.Advance(1, Time::Idle())->millis, 9);
  EXPECT_FALSE(merger.Advance(1, Time::Watermark(8)));
  EXPECT_EQ(merger.watermark(), 9);
  EXPECT_EQ(merger.Advance(0, Time::Tick(1))->kind, Time::Kind::kTick);
  EXPECT_FALSE(merger.Advance(1, Time::Tick(1)));
  EXPECT_FALSE(merger.Advance(0, Time::Watermark(Time::kMaxWatermark)));
  EXPECT_FALSE(merger.Advance(0, Time::End()));
  EXPECT_EQ(merger.Advance(1, Time::Watermark(12))->millis, 9 + 3);
  EXPECT_EQ(merger.Advance(1, Time::End())->kind, Time::Kind::kEnd);
}

// The clock of the machine was set back between two processes.
TEST(TimeMerger, TellsAnEarlierTickAfterARestore) {
  TimeMerger merger(1);
  EXPECT_TRUE(merger.Advance(0, Time::Tick(7'200'000)));
  EXPECT_FALSE(merger.Advance(0, Time::Tick(3'600'000)));
  SnapshotWriter writer;
  merger.Snapshot(writer);
  const std::string bytes = writer.Take();
  TimeMerger restored(1);
  SnapshotReader reader(bytes);
  ASSERT_TRUE(restored.Restore(reader).ok());
  EXPECT_EQ(restored.Advance(0, Time::Tick(3'600'000))->millis, 3'600'000);
  EXPECT_FALSE(restored.Advance(0, Time::Tick(3'600'000)));
}

TEST(TimeMerger, IsIdleWhenAllInputsAre) {
  TimeMerger merger(2);
  EXPECT_FALSE(merger.Advance(0, Time::Idle()));
  EXPECT_EQ(merger.Advance(1, Time::Idle())->kind, Time::Kind::kIdle);
  EXPECT_FALSE(merger.Advance(1, Time::Idle()));
  EXPECT_EQ(merger.Advance(1, Time::Watermark(3))->millis, 3);
}

TEST(Job, RunsSourcesRoundRobinAndEndsThem) {
  Notes notes;
  JobGraph graph;
  const int left = graph.AddNode("left");
  const int right = graph.AddNode("right");
  const int both = graph.AddNode("both");
  graph.SetSource(left, std::make_unique<Counting>(1, 2, 1));
  graph.SetSource(right, std::make_unique<Counting>(10, 3, 1));
  graph.SetOperator(both, std::make_unique<Noting>(&notes), 2);
  graph.Connect(left, both, 0);
  graph.Connect(right, both, 1);
  Job job(std::move(graph));
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, JobEnd::kEnded);
  EXPECT_EQ(notes, (Notes{"0: +I1", "1: +I10", "0: +I2", "1: +I11", "1: +I12", "W max", "end"}));
}

TEST(Job, FeedsMeetingBranchesRowByRow) {
  Notes notes;
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int both = graph.AddNode("both");
  graph.SetSource(source, std::make_unique<Counting>(1, 3, 3));
  graph.SetOperator(both, std::make_unique<Noting>(&notes), 2);
  graph.Connect(source, both, 0);
  graph.Connect(source, both, 1);
  graph.MarkMeetingFanOuts();
  Job job(std::move(graph));
  ASSERT_TRUE(job.RunToEnd().ok());
  EXPECT_EQ(notes,
            (Notes{"0: +I1", "1: +I1", "0: +I2", "1: +I2", "0: +I3", "1: +I3", "W max", "end"}));
}

TEST(Job, LeavesBranchesThatDoNotMeetInBatches) {
  Notes first;
  Notes second;
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int one = graph.AddNode("one");
  const int two = graph.AddNode("two");
  graph.SetSource(source, std::make_unique<Counting>(1, 2, 2));
  graph.SetOperator(one, std::make_unique<Noting>(&first), 1);
  graph.SetOperator(two, std::make_unique<Noting>(&second), 1);
  graph.Connect(source, one, 0);
  graph.Connect(source, two, 0);
  graph.MarkMeetingFanOuts();
  Job job(std::move(graph));
  ASSERT_TRUE(job.RunToEnd().ok());
  EXPECT_EQ(first, (Notes{"0: +I1 +I2", "W max", "end"}));
  EXPECT_EQ(second, first);
}

TEST(Job, GoesOnFromASnapshotAsIfNothingHadHappened) {
  Notes whole;
  Job plain(SumIntoSink(5, 1, &whole));
  ASSERT_TRUE(plain.RunToEnd().ok());

  Notes pieces;
  Checkpoint kept;
  for (int round = 0; round < 5; ++round) {
    Job job(SumIntoSink(5, 1, &pieces));
    if (round > 0) {
      ASSERT_TRUE(job.Restore(kept).ok());
    }
    ASSERT_TRUE(job.Step().ok());
    Result<Checkpoint> taken = job.Snapshot();
    ASSERT_TRUE(taken.ok());
    kept = *taken;
  }
  Job last(SumIntoSink(5, 1, &pieces));
  ASSERT_TRUE(last.Restore(kept).ok());
  ASSERT_TRUE(last.RunToEnd().ok());
  EXPECT_EQ(pieces, whole);
}

TEST(Job, RefusesASnapshotOfAnotherJob) {
  Notes notes;
  Job job(SumIntoSink(5, 1, &notes));
  Result<Checkpoint> kept = job.Snapshot();
  ASSERT_TRUE(kept.ok());
  JobGraph other;
  other.SetSource(other.AddNode("source"), std::make_unique<Counting>(1, 1, 1));
  Job one_node(std::move(other));
  const Status refused = one_node.Restore(*kept);
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused.message(),
            "the query does not fit the state that is to be restored:\n"
            "  the query no longer has sum");
  for (NodeState& node : kept->lanes[0].nodes) node.bytes.resize(node.bytes.size() / 2);
  EXPECT_EQ(job.Restore(*kept).code(), StatusCode::kCorruption);
}

// Every number twice, by name where that is wanted.
class Twice final : public Operator {
 public:
  Twice() : schema_(Numbers()) {}
  const Schema& output_schema() const override { return schema_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& out) override {
    NamedRowsTaker* const taker = out.named_rows();
    if (taker == nullptr) {
      RT_TRY(out.Emit(batch));
      return out.Emit(batch);
    }
    struct Named final : NamedRows {
      RowBatch Values(std::span<const int32_t> rows) const override {
        RowBatch values;
        values.rows = static_cast<int>(rows.size());
        return values;
      }
    } named;
    const std::vector<uint64_t> names(2, 1);
    const std::vector<RowKind> kinds = {RowKind::kInsert, RowKind::kUpdateBefore};
    const std::vector<int64_t> numbers(2, batch.columns[0].values<int64_t>()[0]);
    named.names = names;
    named.kinds = kinds;
    named.numbers = numbers;
    return taker->Take(named);
  }

 private:
  Schema schema_;
};

class NotingNames final : public Sink, private NamedRowsTaker {
 public:
  explicit NotingNames(Notes* notes) : notes_(notes) {}
  Status Write(const RowBatch& batch) override {
    notes_->push_back(std::to_string(batch.rows) + " by value");
    return Status::Ok();
  }
  NamedRowsTaker* named_rows() override { return this; }

 private:
  Status Take(const NamedRows& rows) override {
    notes_->push_back(std::to_string(rows.names.size()) + " by name");
    return Status::Ok();
  }
  Notes* notes_;
};

// Two numbers, each twice, into one or more sinks.
std::vector<NodeStats> RunTwice(std::vector<std::unique_ptr<Sink>> sinks, bool second_way) {
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int twice = graph.AddNode("twice");
  graph.SetSource(source, std::make_unique<Counting>(1, 2, 1));
  graph.SetOperator(twice, std::make_unique<Twice>(), 1);
  graph.Connect(source, twice, 0);
  for (std::unique_ptr<Sink>& sink : sinks) {
    const int node = graph.AddNode("sink");
    graph.SetSink(node, std::move(sink));
    graph.Connect(twice, node, 0);
    if (second_way) graph.Connect(source, node, 0);
  }
  Job job(std::move(graph));
  EXPECT_TRUE(job.RunToEnd().ok());
  return job.Stats();
}

TEST(Job, RowsGoByNameToTheOnlySinkThatAllComeFromHere) {
  Notes notes;
  std::vector<std::unique_ptr<Sink>> sinks;
  sinks.push_back(std::make_unique<NotingNames>(&notes));
  const std::vector<NodeStats> stats = RunTwice(std::move(sinks), false);
  EXPECT_EQ(notes, (Notes{"2 by name", "2 by name"}));
  EXPECT_EQ(stats[1].rows_out[0], 2);
  EXPECT_EQ(stats[1].rows_out[1], 2);
  EXPECT_EQ(stats[2].rows_in, 4);

  notes.clear();
  sinks.clear();
  sinks.push_back(std::make_unique<NotingNames>(&notes));
  RunTwice(std::move(sinks), true);
  EXPECT_EQ(notes, Notes(6, "1 by value"));

  notes.clear();
  sinks.clear();
  for (int i = 0; i < 2; ++i) sinks.push_back(std::make_unique<NotingNames>(&notes));
  RunTwice(std::move(sinks), false);
  EXPECT_EQ(notes, Notes(8, "1 by value"));

  Notes plain;
  sinks.clear();
  sinks.push_back(std::make_unique<NotingSink>(&plain));
  RunTwice(std::move(sinks), false);
  EXPECT_EQ(plain, (Notes{"+I1", "+I1", "+I2", "+I2", "finished"}));
}

TEST(Job, AbandonsSinksAfterAFailure) {
  Notes notes;
  Notes written;
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int fails = graph.AddNode("fails");
  const int sink = graph.AddNode("sink");
  graph.SetSource(source, std::make_unique<Counting>(1, 2, 1));
  graph.SetOperator(fails, std::make_unique<Noting>(&notes, true), 1);
  graph.SetSink(sink, std::make_unique<NotingSink>(&written));
  graph.Connect(source, fails, 0);
  graph.Connect(fails, sink, 0);
  Job job(std::move(graph));
  const Result<JobEnd> end = job.RunToEnd();
  EXPECT_EQ(end.status().message(), "a bad row");
  EXPECT_EQ(written, (Notes{"abandoned"}));
}

TEST(Job, StopsOnRequestWithoutFinishing) {
  Notes notes;
  std::atomic<int> stop{0};
  JobOptions options;
  options.stop = &stop;
  Job job(SumIntoSink(1000, 1, &notes), options);
  ASSERT_TRUE(job.Step().ok());
  stop = 2;
  const Result<JobEnd> end = job.RunToEnd();
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(*end, JobEnd::kStopped);
  EXPECT_EQ(notes, (Notes{"+U1"}));
}

// One row, then nothing until `reply` has a byte: it waits for whoever reads its rows.
class Asking final : public Source {
 public:
  explicit Asking(int reply) : reply_(reply), schema_(Numbers()) {}
  const Schema& output_schema() const override { return schema_; }
  Result<SourceState> Poll(Collector& out) override {
    switch (polls_++) {
      case 0: RT_TRY(out.Emit(BatchOf(schema_, {{RowKind::kInsert, {Value(int64_t{1})}}}))); break;
      case 1: return SourceState::kWait;
      case 2: return SourceState::kEnd;
    }
    return SourceState::kMore;
  }
  SourceWakeup wakeup() const override { return {reply_, std::nullopt}; }
  Status Snapshot(SnapshotWriter& /*writer*/) const override { return Status::Ok(); }
  Status Restore(SnapshotReader& /*reader*/) override { return Status::Ok(); }

 private:
  int reply_;
  int polls_ = 0;
  Schema schema_;
};

// Notes a flush, and answers it.
class AnsweringSink final : public Sink {
 public:
  AnsweringSink(int reply, Notes* notes) : reply_(reply), notes_(notes) {}
  Status Write(const RowBatch& batch) override {
    notes_->push_back(std::to_string(batch.rows));
    return Status::Ok();
  }
  Status Flush() override {
    notes_->push_back("flush");
    return ::write(reply_, "!", 1) == 1 ? Status::Ok() : Status::Internal("a broken pipe");
  }

 private:
  int reply_;
  Notes* notes_;
};

TEST(Job, FlushesSinksBeforeItWaitsForInput) {
  int reply[2];
  ASSERT_EQ(::pipe(reply), 0);
  Notes notes;
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int sink = graph.AddNode("sink");
  graph.SetSource(source, std::make_unique<Asking>(reply[0]));
  graph.SetSink(sink, std::make_unique<AnsweringSink>(reply[1], &notes));
  graph.Connect(source, sink, 0);
  Job job(std::move(graph));
  ASSERT_TRUE(job.RunToEnd().ok());
  EXPECT_EQ(notes, (Notes{"1", "flush", "flush", "flush"}));  // the wait, the watermark, the end
  ::close(reply[0]);
  ::close(reply[1]);
}

TEST(Job, TicksWhenProcessingTimeHasComeSoFar) {
  Notes notes;
  ManualClock clock(1000);
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int note = graph.AddNode("note");
  graph.SetSource(source, std::make_unique<Counting>(1, 1, 1));
  graph.SetOperator(note, std::make_unique<Noting>(&notes), 1);
  graph.Connect(source, note, 0);
  Job job(std::move(graph), {&clock, 100, nullptr});
  clock.Advance(150);
  ASSERT_TRUE(job.RunToEnd().ok());
  EXPECT_EQ(notes, (Notes{"T 1150", "0: +I1", "W max", "end"}));
}

TEST(Job, CountsRowsByKindAndAmplification) {
  Notes notes;
  Job job(SumIntoSink(4, 2, &notes));
  ASSERT_TRUE(job.RunToEnd().ok());
  const std::vector<NodeStats> stats = job.Stats();
  ASSERT_EQ(stats.size(), 3u);
  EXPECT_EQ(stats[0].total_out(), 4);
  EXPECT_EQ(stats[1].rows_in, 4);
  EXPECT_EQ(stats[1].rows_out[1], 3);
  EXPECT_EQ(stats[1].rows_out[2], 4);
  EXPECT_DOUBLE_EQ(stats[1].amplification(), 1.75);
  EXPECT_EQ(stats[2].rows_in, 7);
  EXPECT_EQ(job.Summaries(), (Notes{"noted"}));
  EXPECT_EQ(job.rows_read(), 4);
}

TEST(Job, SaysWhereTheTimeGoesWhenAskedTo) {
  for (const bool samples_time : {false, true}) {
    Notes notes;
    JobOptions options;
    options.samples_time = samples_time;
    Job job(SumIntoSink(2000, 2, &notes), std::move(options));
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(job.RunToEnd().ok());
    const int64_t took = (std::chrono::steady_clock::now() - begin) / std::chrono::nanoseconds(1);
    int64_t of_paths = 0, of_nodes = 0;
    Notes paths;
    for (const PathTime& path : job.TimePaths()) {
      paths.push_back(fmt::format("{}", fmt::join(path.nodes, " ")));
      of_paths += path.nanos;
      EXPECT_EQ(path.nanos > 0, samples_time) << paths.back();
    }
    for (const NodeStats& node : job.Stats()) of_nodes += node.sampled_nanos;
    EXPECT_EQ(paths, (Notes{"source", "source sum", "source sum sink"}));
    EXPECT_EQ(of_paths, of_nodes);
    EXPECT_LT(of_paths, 10 * took);
  }
}

// What measuring costs decides how often it is done.
TEST(TimeSamples, MeasuresAllLongPollsAndFewShortOnes) {
  for (const int64_t nanos : {0, 200000}) {
    TimeSamples samples;
    samples.SwitchOn();
    const int polls = nanos == 0 ? 20000 : 50;
    int measured = 0;
    for (int i = 0; i < polls; ++i) {
      samples.StartPoll();
      measured += samples.active();
      const auto poll = [&] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanos);
        while (std::chrono::steady_clock::now() < end) {
        }
        return true;
      };
      EXPECT_TRUE(samples.active() ? samples.Measured(0, poll) : poll());
      samples.EndPoll();
      EXPECT_FALSE(samples.active());
    }
    EXPECT_GT(measured, nanos == 0 ? 0 : polls - 5);
    if (nanos == 0) {
      EXPECT_LT(measured, polls / 20);
    }
    ASSERT_EQ(samples.paths().size(), 1u);
    EXPECT_EQ(samples.paths()[0].caller, TimeSamples::kNone);
    EXPECT_GE(samples.paths()[0].nanos, nanos * (polls - 5));
  }
}

// Rows come to the sink along two ways, and the time of each is told.
TEST(Job, TellsTimeByTheWayThatRowsTake) {
  Notes notes;
  JobGraph graph;
  const int source = graph.AddNode("source");
  const int left = graph.AddNode("left"), right = graph.AddNode("right");
  const int sink = graph.AddNode("sink"), other = graph.AddNode("other");
  graph.SetSource(source, std::make_unique<Counting>(1, 4, 2));
  graph.SetOperator(left, std::make_unique<Noting>(&notes), 1);
  graph.SetOperator(right, std::make_unique<Noting>(&notes), 1);
  graph.SetOperator(sink, std::make_unique<Noting>(&notes), 2);
  graph.SetOperator(other, std::make_unique<Noting>(&notes), 1);
  graph.Connect(source, left, 0);
  graph.Connect(source, right, 0);
  graph.Connect(left, sink, 0);
  graph.Connect(right, sink, 1);
  graph.Connect(sink, other, 0);
  JobOptions options;
  options.samples_time = true;
  Job job(std::move(graph), std::move(options));
  const auto paths = [&] {
    Notes all;
    for (const PathTime& path : job.TimePaths())
      all.push_back(fmt::format("{}", fmt::join(path.nodes, " ")));
    return all;
  };
  EXPECT_EQ(paths(), (Notes{"source", "source left", "source left sink", "source left sink other",
                            "source right"}));
  ASSERT_TRUE(job.RunToEnd().ok());
  EXPECT_EQ(paths(), (Notes{"source", "source left", "source left sink", "source left sink other",
                            "source right", "source right sink", "source right sink other"}));
}

}  // namespace
}  // namespace rowtide

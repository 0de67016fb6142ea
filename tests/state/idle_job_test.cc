// A job to which no rows come: what has expired goes by the clock alone, in memory as over RocksDB.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "engine/runtime/job.h"
#include "state/ordered_state.h"
#include "tests/engine/numbered_rows.h"
#include "tests/state/state_context.h"

namespace rowtide {
namespace {

constexpr int64_t kTtlMillis = 1000;

// Keeps every number it has seen.
class Keeping final : public Operator {
 public:
  explicit Keeping(const OperatorContext& context) : state_(context) {}
  const Schema& output_schema() const override { return schema_; }
  Status Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) override {
    keys_.Clear();
    for (int row = 0; row < batch.rows; ++row)
      keys_.Add(std::to_string(batch.columns[1].values<int64_t>()[row]));
    RT_TRY(state_.FindOrCreate(keys_, &entries_));
    for (const Entry entry : entries_) state_.Assign(entry, "kept");
    return Status::Ok();
  }

 private:
  ValueState state_;
  KeyBatch keys_;
  std::vector<Entry> entries_;
  Schema schema_;
};

class Nowhere final : public Sink {
 public:
  Status Write(const RowBatch& /*batch*/) override { return Status::Ok(); }
};

// Its numbers, and then nothing for a long time, in which the clock moves once, to `millis`. It is
// over when the state is empty, or has been waited for in vain.
class Pausing final : public Source {
 public:
  static constexpr int kWaitsMax = 500;
  Pausing(int64_t rows, int64_t millis, ManualClock* clock, const StateSize* size)
      : rows_(KeyAndNumber(), NumberedSource::Keyed([](int64_t number) { return number; }),
              {0, rows}, 512),
        millis_(millis),
        clock_(clock),
        size_(size) {}
  const Schema& output_schema() const override { return rows_.output_schema(); }
  Result<SourceState> Poll(Collector& out) override {
    if (waits_ == 0) {
      RT_ASSIGN(const SourceState state, rows_.Poll(out));
      if (state == SourceState::kMore) return state;
      EXPECT_GT(size_->entries, 0);
    }
    if (++waits_ == 2) clock_->Set(millis_);
    return waits_ > kWaitsMax || size_->entries == 0 ? SourceState::kEnd : SourceState::kWait;
  }
  SourceWakeup wakeup() const override { return {-1, 0}; }
  Status Snapshot(SnapshotWriter& /*writer*/) const override { return Status::Ok(); }
  Status Restore(SnapshotReader& /*reader*/) override { return Status::Ok(); }

 private:
  NumberedSource rows_;
  int64_t millis_;
  ManualClock* clock_;
  const StateSize* size_;
  int waits_ = 0;
};

// What is left when the job is over.
int64_t EntriesLeft(int64_t rows, int64_t millis) {
  ManualClock clock(0);
  JobGraph graph;
  const int source = graph.AddNode("source"), keep = graph.AddNode("keep"),
            sink = graph.AddNode("sink");
  NodeMeters* const meters = graph.meters(keep);
  OperatorContext context;
  context.clock = &clock;
  context.counters = &meters->counters;
  context.state_size = &meters->state;
  context.expiring = &meters->expiring;
  context.state_ttl_millis = kTtlMillis;
  graph.SetSource(source, std::make_unique<Pausing>(rows, millis, &clock, &meters->state));
  graph.SetOperator(keep, std::make_unique<Keeping>(context), 1);
  graph.SetSink(sink, std::make_unique<Nowhere>());
  graph.Connect(source, keep, 0);
  graph.Connect(keep, sink, 0);
  Job job(std::move(graph));
  EXPECT_TRUE(job.RunToEnd().ok());
  return job.Stats()[static_cast<size_t>(keep)].state_entries;
}

TEST(IdleJob, StateInMemoryExpiresByTheClock) {
  EXPECT_EQ(EntriesLeft(100'000, kTtlMillis), 0);
  EXPECT_EQ(EntriesLeft(100'000, kTtlMillis - 1), 100'000);
}

int64_t ResidentBytes() {
  long pages = 0, resident = 0;
  FILE* const file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%ld %ld", &pages, &resident), 2);
  std::fclose(file);
  return resident * ::sysconf(_SC_PAGESIZE);
}

// Rows in order lie beside the entries of their keys: all of it goes, and so does its memory.
TEST(IdleJob, WhatHasExpiredGivesItsMemoryBack) {
  constexpr int64_t kKeys = 200'000;
  StateContext context(kTtlMillis);
  OrderedState state(context.context);
  KeyBatch keys;
  std::vector<Entry> entries;
  const int64_t before = ResidentBytes();
  const std::string row(200, 'r');
  for (int64_t key = 0; key < kKeys; key += 1000) {
    keys.Clear();
    for (int64_t i = key; i < key + 1000; ++i) keys.Add(std::to_string(i));
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    for (const Entry entry : entries) state.Insert(entry, {SortPrefixOf("s"), "s"}, row);
  }
  const int64_t full = ResidentBytes();
  ASSERT_GT(full - before, kKeys * 200);
  context.clock.Set(kTtlMillis - 1);
  for (int i = 0; i < 1000; ++i) context.Rest();
  EXPECT_EQ(context.size.entries, kKeys);
  context.clock.Set(kTtlMillis);
  for (int i = 0; i < 1000; ++i) context.Rest();
  EXPECT_EQ(context.size.entries, 0);
  EXPECT_EQ(context.size.bytes, 0);
  EXPECT_LT(ResidentBytes() - before, (full - before) / 4);
}

// A round that has found nothing is not begun again before something can have expired; a clock that
// was set back, and new rows, are seen all the same.
TEST(IdleJob, TheSweepFollowsTheClock) {
  StateContext context(kTtlMillis);
  ValueState state(context.context);
  const auto keep = [&](const std::string& key) {
    KeyBatch keys;
    keys.Clear();
    keys.Add(key);
    std::vector<Entry> entries;
    ASSERT_TRUE(state.FindOrCreate(keys, &entries).ok());
    state.Assign(entries[0], "kept");
  };
  context.clock.Set(5000);
  keep("a");
  context.Rest();
  context.clock.Set(5500);
  keep("b");
  context.clock.Set(6000);
  context.Rest();
  EXPECT_EQ(context.size.entries, 1);
  context.clock.Set(100);  // b is young again
  keep("c");
  context.Rest();
  context.clock.Set(1100);
  context.Rest();
  EXPECT_EQ(context.size.entries, 1);
  context.clock.Set(6500);
  context.Rest();
  EXPECT_EQ(context.size.entries, 0);
}

}  // namespace
}  // namespace rowtide

// A source on a thread of its own gives what it gives without: rows, times, errors, positions and
// counts, poll by poll.
#include "engine/runtime/source_thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/batch_builder.h"
#include "engine/runtime/job.h"

namespace rowtide {
namespace {

using Notes = std::vector<std::string>;

Schema Numbers() { return Schema({{"n", Type::BigInt()}}); }

// Numbers 1 to `end`, so many in a batch as the batch's number says; every tenth is rejected and
// counted. Fails after `fails_after`.
class Numbering final : public Source {
 public:
  Numbering(int64_t end, Counters* counters, int64_t fails_after = -1, int pause_micros = 0)
      : end_(end),
        fails_after_(fails_after),
        pause_micros_(pause_micros),
        counters_(counters),
        read_(counters->Find("records_read")),
        rejected_(counters->Find("rejected")),
        schema_(Numbers()) {}
  const Schema& output_schema() const override { return schema_; }
  Result<SourceState> Poll(Collector& out) override {
    if (pause_micros_ > 0) ::usleep(static_cast<useconds_t>(pause_micros_));
    std::vector<std::pair<RowKind, std::vector<Value>>> rows;
    for (int64_t i = ++polls_ % 5; i >= 0 && number_ < end_; --i) {
      ++*read_;
      if (++number_ % 10 == 0) {
        ++*rejected_;
        ++*counters_->Find("tens");  // a name that is not known from the beginning
      } else {
        rows.push_back({RowKind::kInsert, {Value(number_)}});
      }
    }
    if (!rows.empty()) RT_TRY(out.Emit(BatchOf(schema_, rows)));
    if (polls_ % 3 == 0) RT_TRY(out.Advance(Time::Watermark(number_)));
    if (fails_after_ >= 0 && number_ >= fails_after_) return Status::DataError("no more numbers");
    return number_ == end_ ? SourceState::kEnd : SourceState::kMore;
  }
  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutI64(number_);
    writer.PutI64(polls_);
    return Status::Ok();
  }
  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(number_, reader.I64("number"));
    RT_ASSIGN(polls_, reader.I64("polls"));
    return Status::Ok();
  }
  SourceProgress progress() const override { return {number_, end_}; }

 private:
  int64_t number_ = 0;
  int64_t polls_ = 0;
  int64_t end_;
  int64_t fails_after_;
  int pause_micros_;
  Counters* counters_;
  int64_t* read_;
  int64_t* rejected_;
  Schema schema_;
};

// Two sources beside each other, and all that comes out of them, in order.
struct NotedJob {
  explicit NotedJob(bool threads, int64_t fails_after = -1, int pause_micros = 0) {
    JobGraph graph;
    const int left = graph.AddNode("left"), right = graph.AddNode("right");
    const int note = graph.AddNode("note");
    const auto set = [&](int node, int64_t end, int64_t fails, int pause) {
      Counters* const counted = &graph.meters(node)->counters;
      auto own = std::make_unique<Counters>();
      if (!threads) {
        graph.SetSource(node, std::make_unique<Numbering>(end, counted, fails, pause));
        return;
      }
      auto inner = std::make_unique<Numbering>(end, own.get(), fails, pause);
      graph.SetSource(node,
                      std::make_unique<SourceThread>(std::move(inner), std::move(own), counted));
    };
    set(left, 200, fails_after, 0);
    set(right, 300, -1, pause_micros);
    graph.SetSink(note, std::make_unique<NotingSink>(&notes));
    graph.Connect(left, note, 0);
    graph.Connect(right, note, 0);
    job = std::make_unique<Job>(std::move(graph));
  }

  class NotingSink final : public Sink {
   public:
    explicit NotingSink(Notes* notes) : notes_(notes) {}
    Status Write(const RowBatch& batch) override {
      std::string note;
      for (int row = 0; row < batch.rows; ++row)
        note += std::to_string(batch.columns[0].values<int64_t>()[row]) + " ";
      notes_->push_back(note);
      return Status::Ok();
    }
    Status Flush() override {
      notes_->push_back("time");
      return Status::Ok();
    }
    Result<std::string> Prepare(int64_t /*epoch*/) override { return std::string(); }

   private:
    Notes* notes_;
  };

  std::string Counts() const {
    std::string text;
    for (const NodeStats& node : job->Stats()) {
      text += node.name + " " + std::to_string(node.total_out());
      for (const auto& [name, count] : node.counters) text += fmt::format(" {}={}", name, count);
      text += "\n";
    }
    return text;
  }

  Notes notes;
  std::unique_ptr<Job> job;
};

TEST(SourceThread, GivesRowsTimesAndCountsPollByPoll) {
  NotedJob plain(false), threads(true, -1, 50);
  while (true) {
    const Result<SourceState> want = plain.job->Step(), got = threads.job->Step();
    ASSERT_TRUE(want.ok() && got.ok());
    ASSERT_EQ(*want, *got);
    ASSERT_EQ(plain.notes, threads.notes);
    ASSERT_EQ(plain.Counts(), threads.Counts());
    ASSERT_EQ(plain.job->Progress().share(), threads.job->Progress().share());
    if (*want == SourceState::kEnd) break;
  }
}

TEST(SourceThread, ASnapshotHasThePositionOfWhatWasTaken) {
  NotedJob plain(false);
  std::optional<Checkpoint> kept;
  Notes pieces;
  for (bool ends = false; !ends;) {
    NotedJob life(true);
    if (kept) {
      ASSERT_TRUE(life.job->Restore(*kept).ok());
      ASSERT_EQ(life.job->Snapshot()->lanes, kept->lanes);
    }
    for (int i = 0; i < 3 && !ends; ++i) {
      ends = *life.job->Step() == SourceState::kEnd;
      ASSERT_TRUE(plain.job->Step().ok());
    }
    const Result<Checkpoint> taken = life.job->Snapshot();
    ASSERT_TRUE(taken.ok());
    kept = *taken;
    ASSERT_EQ(kept->lanes, plain.job->Snapshot()->lanes);  // whatever was decoded ahead
    pieces.insert(pieces.end(), life.notes.begin(), life.notes.end());
  }
  EXPECT_EQ(pieces, plain.notes);
}

TEST(SourceThread, AnErrorComesBehindTheRowsBeforeIt) {
  NotedJob plain(false, 150), threads(true, 150);
  const Result<JobEnd> want = plain.job->RunToEnd(), got = threads.job->RunToEnd();
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().message(), want.status().message());
  EXPECT_EQ(threads.notes, plain.notes);
  EXPECT_EQ(threads.Counts(), plain.Counts());
}

TEST(SourceThread, EndsWithItsObjectWhateverTheReaderWaitsFor) {
  NotedJob full(true);  // for room: nobody takes what it has decoded
  ASSERT_TRUE(full.job->Step().ok());
  NotedJob unused(true);  // for nothing: it was never asked
}

// A row for each byte of a pipe.
class PipeSource final : public Source {
 public:
  explicit PipeSource(int pipe) : pipe_(pipe), schema_(Numbers()) {}
  const Schema& output_schema() const override { return schema_; }
  Result<SourceState> Poll(Collector& out) override {
    pollfd input = {pipe_, POLLIN, 0};
    if (::poll(&input, 1, 0) == 0) return SourceState::kWait;
    char byte = 0;
    if (::read(pipe_, &byte, 1) == 0) return SourceState::kEnd;
    ++bytes_;
    RT_TRY(out.Emit(BatchOf(schema_, {{RowKind::kInsert, {Value(int64_t{byte})}}})));
    return SourceState::kMore;
  }
  SourceWakeup wakeup() const override { return {pipe_, std::nullopt}; }
  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutI64(bytes_);
    return Status::Ok();
  }
  Status Restore(SnapshotReader& /*reader*/) override { return Status::Ok(); }

 private:
  int pipe_;
  int64_t bytes_ = 0;
  Schema schema_;
};

TEST(SourceThread, WaitsAsTheSourceDoesAndWakesWithIt) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  Counters counted;
  {
    SourceThread source(std::make_unique<PipeSource>(pipe[0]), std::make_unique<Counters>(),
                        &counted);
    class Taking final : public Collector {
     public:
      Status Emit(RowBatch batch) override {
        text += static_cast<char>(batch.columns[0].values<int64_t>()[0]);
        return Status::Ok();
      }
      Status Advance(Time /*time*/) override { return Status::Ok(); }
      std::string text;
    } out;
    for (const char byte : {'a', 'b', 'c'}) {
      while (*source.Poll(out) != SourceState::kWait) continue;
      ASSERT_EQ(*source.Poll(out), SourceState::kWait);  // having seen that nothing is there
      pollfd ready = {source.wakeup().descriptor, POLLIN, 0};
      ASSERT_EQ(::poll(&ready, 1, 0), 0) << "awake without a row";
      ASSERT_EQ(::write(pipe[1], &byte, 1), 1);
      ASSERT_EQ(::poll(&ready, 1, 60'000), 1) << "asleep with a row";
      ASSERT_EQ(*source.Poll(out), SourceState::kMore);
      EXPECT_EQ(out.text.back(), byte);
    }
    while (*source.Poll(out) != SourceState::kWait) continue;
    EXPECT_EQ(out.text, "abc");
  }  // the reader waits for the pipe, and ends
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(BoundedQueue, HandsOverInOrderAndKeepsTheProducerBack) {
  BoundedQueue<int> queue(4);
  constexpr int kValues = 20000;
  std::thread producer([&] {
    for (int value = 0; value < kValues; ++value) {
      *queue.Room() = value;
      queue.Push();
    }
  });
  for (int value = 0; value < kValues; ++value) {
    ASSERT_EQ(queue.AwaitFront(), value);
    queue.Pop();
  }
  EXPECT_EQ(queue.Front(), nullptr);
  producer.join();
  queue.Close();
  EXPECT_EQ(queue.Room(), nullptr);
}

}  // namespace
}  // namespace rowtide

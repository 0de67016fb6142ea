// A sink on a thread of its own writes what it writes without, in the same order.
#include "engine/runtime/sink_thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/batch_builder.h"

namespace rowtide {
namespace {

using Notes = std::vector<std::string>;

RowBatch Number(int64_t number) {
  return BatchOf(Schema({{"n", Type::BigInt()}}), {{RowKind::kInsert, {Value(number)}}});
}

// Notes every call, slowly; cannot write the number `bad`.
class SlowSink final : public Sink {
 public:
  SlowSink(Notes* notes, int64_t bad) : notes_(notes), bad_(bad) {}
  Status Write(const RowBatch& batch) override {
    ::usleep(100);
    const int64_t number = batch.columns[0].values<int64_t>()[0];
    if (number == bad_) return Status::External("the disk is full");
    return Note(std::to_string(number));
  }
  Status Flush() override { return Note("flush"); }
  Result<std::string> Prepare(int64_t epoch) override {
    RT_TRY(Note("prepare " + std::to_string(epoch)));
    return std::string("staged");
  }
  Status Commit(int64_t epoch) override { return Note("commit " + std::to_string(epoch)); }
  Status Finish() override { return Note("finish"); }
  void Abandon() override { (void)Note("abandon").ok(); }
  std::string Summary(std::span<const Sink* const> /*others*/) const override {
    return std::to_string(notes_->size());
  }

 private:
  Status Note(std::string text) {
    notes_->push_back(std::move(text));
    return Status::Ok();
  }
  Notes* notes_;
  int64_t bad_;
};

constexpr int64_t kNone = -1;

TEST(SinkThread, WritesInTheOrderOfTheCalls) {
  Notes notes, wanted;
  SinkThread sink(std::make_unique<SlowSink>(&notes, kNone));
  for (int64_t number = 0; number < 50; ++number) {
    ASSERT_TRUE(sink.Write(Number(number)).ok());
    wanted.push_back(std::to_string(number));
    if (number % 7 != 0) continue;
    ASSERT_TRUE(sink.Flush().ok());
    wanted.push_back("flush");
  }
  ASSERT_TRUE(sink.Prepare(7).ok());
  ASSERT_TRUE(sink.Commit(7).ok());
  ASSERT_TRUE(sink.Write(Number(50)).ok());
  ASSERT_TRUE(sink.Finish().ok());
  for (const char* call : {"prepare 7", "commit 7", "50", "finish"}) wanted.push_back(call);
  EXPECT_EQ(notes, wanted);
  EXPECT_EQ(sink.Summary(), std::to_string(wanted.size()));
}

TEST(SinkThread, TellsAnErrorAndWritesNothingBehindIt) {
  Notes notes;
  SinkThread sink(std::make_unique<SlowSink>(&notes, 3));
  Status status = Status::Ok();
  for (int64_t number = 0; status.ok(); ++number) status = sink.Write(Number(number));
  EXPECT_EQ(status.message(), "the disk is full");
  EXPECT_EQ(sink.Finish().message(), "the disk is full");
  sink.Abandon();
  EXPECT_EQ(notes, (Notes{"0", "1", "2", "abandon"}));
}

TEST(SinkThread, AnErrorInTheLastRowsIsTheOneOfTheEnd) {
  Notes notes;
  SinkThread sink(std::make_unique<SlowSink>(&notes, 1));
  ASSERT_TRUE(sink.Write(Number(0)).ok());
  ASSERT_TRUE(sink.Write(Number(1)).ok());
  EXPECT_EQ(sink.Finish().message(), "the disk is full");
}

TEST(SinkThread, WritesWhatItWasGivenBeforeItEnds) {
  Notes notes;
  {
    SinkThread sink(std::make_unique<SlowSink>(&notes, kNone));
    for (int64_t number = 0; number < 5; ++number) ASSERT_TRUE(sink.Write(Number(number)).ok());
  }
  EXPECT_EQ(notes.size(), 5u);
  SinkThread unused(std::make_unique<SlowSink>(&notes, kNone));
}

}  // namespace
}  // namespace rowtide

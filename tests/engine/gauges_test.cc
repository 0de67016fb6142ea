#include "engine/gauges.h"

#include <gtest/gtest.h>

#include "engine/runtime/job_board.h"
#include "engine/waits.h"

namespace rowtide {
namespace {

constexpr GaugeName kLag = {"lag_records", "Records that wait"};
constexpr GaugeName kQueue = {"queue_records", "Records in a queue"};

TEST(Gauges, OneOfEachNameAndLabels) {
  Gauges gauges;
  Gauge* const zero = gauges.Find(kLag, {{"partition", "0"}});
  gauges.Find(kQueue, {})->Set(5);
  gauges.Find(kLag, {{"partition", "1"}})->Set(7);
  EXPECT_EQ(gauges.Find(kLag, {{"partition", "0"}}), zero);
  zero->Set(3);
  const std::vector<GaugeReading> readings = gauges.Read();
  ASSERT_EQ(readings.size(), 3u);  // those of one name beside each other
  EXPECT_STREQ(readings[0].name.name, "lag_records");
  EXPECT_EQ(readings[0].value, 3);
  EXPECT_EQ(readings[1].labels, (GaugeLabels{{"partition", "1"}}));
  EXPECT_STREQ(readings[2].name.name, "queue_records");
}

TEST(Gauges, RetiredOnesAreShownWhenFoundAgain) {
  Gauges gauges;
  Gauge* const lag = gauges.Find(kLag, {});
  gauges.Retire();
  EXPECT_TRUE(gauges.Read().empty());
  lag->Set(1);  // of a thread that has not ended yet: it stays put
  EXPECT_EQ(gauges.Find(kLag, {}), lag);
  EXPECT_EQ(gauges.Read().size(), 1u);
}

TEST(Waits, AreToldOnceAndWhenTheyAreOver) {
  std::vector<std::string> told;
  Waits waits([&](const Wait& wait) {
    told.push_back((wait.is_over ? "over: " : "") + wait.who + " " + wait.what);
  });
  waits.End("t");
  waits.Begin("t", "broker a (try 1)");
  waits.Begin("t", "broker a (try 2)");  // too soon for another line
  waits.Begin("s", "broker b");
  ASSERT_EQ(waits.All().size(), 2u);
  EXPECT_EQ(waits.All()[0].what, "broker a (try 2)");
  waits.End("t");
  waits.Clear();
  waits.End("s");
  EXPECT_EQ(told, (std::vector<std::string>{"t broker a (try 1)", "s broker b",
                                            "over: t broker a (try 2)"}));
  EXPECT_TRUE(waits.All().empty());
}

TEST(JobBoard, CheckpointsOfEarlierStartsStay) {
  JobBoard board;
  board.Begin(1);
  CheckpointReport report;
  report.completed = 2;
  report.failed = 1;
  report.recent = {{1}, {2}, {3}};
  board.Publish(report);
  board.Begin(2);
  EXPECT_EQ(board.lanes().size(), 2u);
  EXPECT_TRUE(board.lanes()[0].nodes.empty());
  report.recent = {{4}};
  board.Publish(report);
  const CheckpointReport all = board.checkpoints();
  EXPECT_EQ(all.completed, 4);
  EXPECT_EQ(all.failed, 2);
  ASSERT_EQ(all.recent.size(), 4u);
  EXPECT_EQ(all.recent.back().epoch, 4);
  board.Forget();
  EXPECT_EQ(board.checkpoints().completed, 0);
}

}  // namespace
}  // namespace rowtide

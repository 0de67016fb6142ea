#include "engine/runtime/checkpointer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace rowtide {
namespace {

using Texts = std::vector<std::string>;

// A store that does as it is told.
class MadeUpStore final : public CheckpointStore {
 public:
  Status Write(const Checkpoint& checkpoint) override {
    while (is_slow) std::this_thread::yield();
    calls.push_back("write " + std::to_string(checkpoint.epoch));
    return failures-- > 0 ? Status::External("cannot write x: No space left on device")
                          : Status::Ok();
  }
  Status Commit(int64_t epoch) override {
    calls.push_back("commit " + std::to_string(epoch));
    return Status::Ok();
  }
  Status Retire(int kept) override {
    calls.push_back("keep " + std::to_string(kept));
    return Status::Ok();
  }
  Status WriteSavepoint(const Checkpoint& /*checkpoint*/, const std::string& target) override {
    calls.push_back("savepoint " + target);
    return Status::Ok();
  }
  int64_t FreeBytes() const override { return free_bytes; }
  std::string Place() const override { return "/made/up"; }

  Texts calls;
  int failures = 0;
  std::atomic<bool> is_slow{false};
  int64_t free_bytes = int64_t{1} << 40;
};

Checkpoint Epoch(int64_t epoch) {
  Checkpoint checkpoint;
  checkpoint.epoch = epoch;
  return checkpoint;
}

class CheckpointerTest : public testing::Test {
 protected:
  Checkpointer Make(CheckpointSettings settings, int64_t last_epoch = 0) {
    return Checkpointer(&store_, settings, last_epoch,
                        [this](const std::string& text) { said_.push_back(text); });
  }
  MadeUpStore store_;
  Texts said_;
};

TEST_F(CheckpointerTest, WritesDecidesAndRetiresInThatOrder) {
  CheckpointSettings settings;
  settings.kept = 3;
  Checkpointer checkpointer = Make(settings, 6);
  ASSERT_EQ(checkpointer.next_epoch(), 7);
  checkpointer.Begin(Epoch(7));
  const Result<std::optional<int64_t>> decided = checkpointer.Await();
  ASSERT_TRUE(decided.ok());
  EXPECT_EQ(*decided, 7);
  EXPECT_EQ(store_.calls, (Texts{"write 7", "commit 7", "keep 3"}));
  EXPECT_EQ(checkpointer.next_epoch(), 8);
  EXPECT_EQ(checkpointer.completed(), 1);
}

TEST_F(CheckpointerTest, IsDueAfterItsIntervalAndNotWhileOneIsWritten) {
  Checkpointer never = Make({});
  EXPECT_FALSE(never.IsDue());
  CheckpointSettings settings;
  settings.interval_millis = 1;
  Checkpointer checkpointer = Make(settings);
  while (!checkpointer.IsDue()) std::this_thread::yield();
  store_.is_slow = true;
  checkpointer.Begin(Epoch(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_FALSE(checkpointer.IsDue());
  const Result<std::optional<int64_t>> early = checkpointer.Outcome();
  ASSERT_TRUE(early.ok());
  EXPECT_EQ(*early, std::nullopt);
  store_.is_slow = false;
  ASSERT_TRUE(checkpointer.Await().ok());
}

TEST_F(CheckpointerTest, FailuresAreToleratedAsManyInARowAsIsSaid) {
  CheckpointSettings settings;
  settings.tolerable_failures = 1;
  Checkpointer checkpointer = Make(settings);
  store_.failures = 1;
  checkpointer.Begin(Epoch(1));
  const Result<std::optional<int64_t>> first = checkpointer.Await();
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(*first, std::nullopt);
  EXPECT_EQ(said_, (Texts{"checkpoint 1 was given up: cannot write x: No space left on device; the "
                          "next one holds its rows as well"}));
  checkpointer.Begin(Epoch(2));
  EXPECT_EQ(**checkpointer.Await(), 2);
  store_.failures = 2;
  checkpointer.Begin(Epoch(3));
  ASSERT_TRUE(checkpointer.Await().ok());
  checkpointer.Begin(Epoch(4));
  const Result<std::optional<int64_t>> last = checkpointer.Await();
  ASSERT_FALSE(last.ok());
  EXPECT_EQ(last.status().code(), StatusCode::kExternal);
  EXPECT_EQ(last.status().message(), "checkpoint 4: cannot write x: No space left on device");
  EXPECT_EQ(checkpointer.failed(), 3);
}

TEST_F(CheckpointerTest, OneThatTakesTooLongIsNotDecided) {
  CheckpointSettings settings;
  settings.timeout_millis = 0;
  settings.tolerable_failures = 1;
  Checkpointer checkpointer = Make(settings);
  store_.is_slow = true;
  checkpointer.Begin(Epoch(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ASSERT_TRUE(checkpointer.Outcome().ok());  // notices
  store_.is_slow = false;
  const Result<std::optional<int64_t>> outcome = checkpointer.Await();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(*outcome, std::nullopt);
  EXPECT_EQ(store_.calls, (Texts{"write 1"}));
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(CheckpointerTest, TakesNoInputWhileTheDiskIsFullAndSaysSoOnce) {
  CheckpointSettings settings;
  settings.disk_reserve_bytes = 256 << 20;
  settings.interval_millis = 1;
  Checkpointer checkpointer = Make(settings);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(checkpointer.IsDue());
  store_.free_bytes = 100 << 20;
  EXPECT_TRUE(checkpointer.WaitsForRoom());
  EXPECT_TRUE(checkpointer.WaitsForRoom());
  EXPECT_EQ(said_, (Texts{"the disk of /made/up has 100 MiB left, below the reserve of 256 MiB: no "
                          "input is taken until there is room"}));
  EXPECT_FALSE(checkpointer.IsDue());  // less than half of the reserve is left
  store_.free_bytes = int64_t{1} << 30;
  while (checkpointer.WaitsForRoom()) std::this_thread::yield();
  EXPECT_EQ(said_.back(), "there is room on the disk again: the job goes on");
  EXPECT_TRUE(checkpointer.IsDue());
}

}  // namespace
}  // namespace rowtide

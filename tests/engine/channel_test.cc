// What is on its way between two lanes is bounded by rows and by bytes, and memory goes home.
#include "engine/runtime/channel.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <deque>

namespace rowtide {
namespace {

constexpr int64_t kTextBytes = 100'000;
constexpr int64_t kBytesMax = 10 * kTextBytes;

RowBatch Heavy(const BlockPointer& block) {
  RowBatch batch;
  batch.rows = 1;
  batch.blocks.push_back(block);
  return batch;
}

// Blocks of which somebody holds the memory.
class Blocks {
 public:
  BlockPointer Next() {
    auto block = std::make_shared<const Block>(static_cast<size_t>(kTextBytes));
    made_.push_back(block);
    return block;
  }
  int64_t bytes_held() const {
    return kTextBytes * std::count_if(made_.begin(), made_.end(),
                                      [](const auto& block) { return !block.expired(); });
  }

 private:
  std::deque<std::weak_ptr<const Block>> made_;
};

// However slowly the other side reads, or how many batches it takes at once.
TEST(ChannelTest, ItsBytesAreBoundedUntilTheyAreFreed) {
  for (const int pops : {1, 3, 9, 100}) {
    Channel channel;
    channel.LimitBytes(kBytesMax);
    Blocks blocks;
    int64_t most = 0;
    for (int round = 0; round < 100; ++round) {
      while (!channel.is_over_limit()) channel.Push(Heavy(blocks.Next()));
      most = std::max(most, blocks.bytes_held());
      for (int i = 0; i < pops && channel.Front() != nullptr; ++i) channel.Pop();
    }
    EXPECT_GT(most, kBytesMax - kTextBytes) << pops;
    EXPECT_LE(most, kBytesMax + kTextBytes) << pops;
  }
}

TEST(ChannelTest, TheProducerIsWokenWhenHalfOfTheBytesAreFree) {
  LaneSignal signal;
  const auto is_woken = [&] {
    pollfd one = {signal.descriptor(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1;
  };
  Channel channel;
  channel.LimitBytes(kBytesMax);
  channel.SetProducer(&signal);
  Blocks blocks;
  int pushed = 0;
  for (; !channel.is_over_limit(); ++pushed) channel.Push(Heavy(blocks.Next()));
  signal.Arm();
  int popped = 0;
  for (; !is_woken(); ++popped) {
    ASSERT_NE(channel.Front(), nullptr);
    channel.Pop();
  }
  EXPECT_GE(popped, pushed / 2);
  EXPECT_LT(popped, pushed);
  EXPECT_FALSE(channel.is_over_limit());
}

// A block of the input is shared by the batches that were read from it.
TEST(ChannelTest, ABlockCountsOnceForBatchesThatFollowEachOther) {
  Channel channel;
  channel.LimitBytes(kBytesMax);
  Blocks blocks;
  const BlockPointer one = blocks.Next();
  for (int i = 0; i < 1000; ++i) channel.Push(Heavy(one));
  EXPECT_FALSE(channel.is_over_limit());
  for (int i = 0; i < 10; ++i) channel.Push(Heavy(blocks.Next()));
  EXPECT_TRUE(channel.is_over_limit());
}

}  // namespace
}  // namespace rowtide

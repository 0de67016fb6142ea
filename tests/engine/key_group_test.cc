#include "engine/key_group.h"

#include <gtest/gtest.h>

#include <string>

namespace rowtide {
namespace {

// These are in checkpoints: they must never change.
TEST(KeyGroup, OfAKeyIsMurmur3Modulo128) {
  std::string bytes(16, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i);
  EXPECT_EQ(KeyGroupOf(""), 0);
  EXPECT_EQ(KeyGroupOf("a"), 50);
  EXPECT_EQ(KeyGroupOf("hello"), 71);                                        // 0x248bfa47
  EXPECT_EQ(KeyGroupOf("hello, world"), 127);                                // 0x149bbb7f
  EXPECT_EQ(KeyGroupOf("The quick brown fox jumps over the lazy dog"), 35);  // 0x2e4ff723
  EXPECT_EQ(KeyGroupOf(bytes), 93);
  EXPECT_EQ(KeyGroupOf("\xff\xfe\xfd"), 92);
}

TEST(KeyGroup, LanesShareTheGroupsAsInFlink) {
  EXPECT_EQ(KeyGroupsOfLane(0, 1), KeyGroupRange{});
  EXPECT_EQ(KeyGroupsOfLane(0, 3), (KeyGroupRange{0, 42}));
  EXPECT_EQ(KeyGroupsOfLane(1, 3), (KeyGroupRange{43, 85}));
  EXPECT_EQ(KeyGroupsOfLane(2, 3), (KeyGroupRange{86, 127}));
  for (int lanes = 1; lanes <= kKeyGroups; ++lanes) {
    int next = 0;
    for (int lane = 0; lane < lanes; ++lane) {
      const KeyGroupRange range = KeyGroupsOfLane(lane, lanes);
      EXPECT_EQ(range.first, next);
      EXPECT_GE(range.last, range.first);
      for (int group = range.first; group <= range.last; ++group)
        EXPECT_EQ(LaneOfKeyGroup(group, lanes), lane);
      next = range.last + 1;
    }
    EXPECT_EQ(next, kKeyGroups);
  }
}

TEST(KeyGroup, ARangeHasTheKeysOfItsGroups) {
  EXPECT_TRUE(KeyGroupRange{}.HasKey("anything"));
  EXPECT_TRUE((KeyGroupRange{50, 50}.HasKey("a")));
  EXPECT_FALSE((KeyGroupRange{51, 127}.HasKey("a")));
}

}  // namespace
}  // namespace rowtide

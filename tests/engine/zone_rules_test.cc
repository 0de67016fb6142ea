#include "engine/zone_rules.h"

#include <gtest/gtest.h>

#include "engine/value_text.h"

namespace rowtide {
namespace {

int64_t Seconds(int64_t year, int month, int day, int hour = 0, int minute = 0) {
  return DaysFromCivil(year, month, day) * 86'400 + hour * 3600 + minute * 60;
}

TEST(ZoneRules, NewYorkInALaterYear) {
  const auto rules = ZoneRules::Parse("EST5EDT,M3.2.0,M11.1.0");
  ASSERT_TRUE(rules);
  // The second Sunday of March 2099 is the 8th, the first of November the 1st.
  EXPECT_EQ(-5 * 3600, rules->OffsetAtInstant(Seconds(2099, 3, 8, 6, 59)));
  EXPECT_EQ(-4 * 3600, rules->OffsetAtInstant(Seconds(2099, 3, 8, 7)));
  EXPECT_EQ(-4 * 3600, rules->OffsetAtInstant(Seconds(2099, 11, 1, 5, 59)));
  EXPECT_EQ(-5 * 3600, rules->OffsetAtInstant(Seconds(2099, 11, 1, 6)));
  // In the gap from two to three, and in the hour that comes twice, the clock before counts.
  EXPECT_EQ(-5 * 3600, rules->OffsetAtLocal(Seconds(2099, 3, 8, 2, 30)));
  EXPECT_EQ(-4 * 3600, rules->OffsetAtLocal(Seconds(2099, 3, 8, 3)));
  EXPECT_EQ(-4 * 3600, rules->OffsetAtLocal(Seconds(2099, 11, 1, 1, 30)));
  EXPECT_EQ(-5 * 3600, rules->OffsetAtLocal(Seconds(2099, 11, 1, 2)));
}

TEST(ZoneRules, SouthernSummerSpansTheNewYear) {
  const auto rules = ZoneRules::Parse("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0");
  ASSERT_TRUE(rules);
  EXPECT_EQ(11 * 3600, rules->OffsetAtInstant(Seconds(2099, 1, 1)));
  EXPECT_EQ(10 * 3600 + 1800, rules->OffsetAtInstant(Seconds(2099, 7, 1)));
  EXPECT_EQ(11 * 3600, rules->OffsetAtInstant(Seconds(2099, 12, 31)));
}

TEST(ZoneRules, WinterTimeMayBeTheException) {
  const auto rules = ZoneRules::Parse("IST-1GMT0,M10.5.0,M3.5.0/1");  // Dublin
  ASSERT_TRUE(rules);
  EXPECT_EQ(3600, rules->OffsetAtInstant(Seconds(2050, 7, 1)));
  EXPECT_EQ(0, rules->OffsetAtInstant(Seconds(2050, 12, 1)));
  EXPECT_EQ(3600, rules->OffsetAtLocal(Seconds(2050, 10, 30, 1, 30)));
  EXPECT_EQ(0, rules->OffsetAtLocal(Seconds(2050, 10, 30, 2)));
}

TEST(ZoneRules, DaysOfTheYear) {
  const auto rules = ZoneRules::Parse("XST-1XDT,J60/0,300/0");
  ASSERT_TRUE(rules);
  EXPECT_EQ(3600, rules->OffsetAtLocal(Seconds(2052, 2, 29, 12)));  // J60 is always March 1
  EXPECT_EQ(7200, rules->OffsetAtLocal(Seconds(2052, 3, 1, 12)));
  EXPECT_EQ(3600, rules->OffsetAtLocal(Seconds(2051, 10, 28, 12)));
}

TEST(ZoneRules, WhatIsNoRule) {
  EXPECT_EQ(19'800, ZoneRules::Parse("IST-5:30")->OffsetAtInstant(0));
  for (const char* line : {"", "5", "EST", "EST5EDT,M3.2.0", "EST5EDT,M13.2.0,M11.1.0",
                           "EST5EDT,M3.2.0,M11.1.0x", "<EST5"}) {
    EXPECT_FALSE(ZoneRules::Parse(line)) << line;
  }
  EXPECT_FALSE(ZoneRules::Read("No/Such_Zone"));
  EXPECT_FALSE(ZoneRules::Read("../../../etc/hostname"));
}

TEST(ZoneRules, TheSessionsZoneFollowsThem) {
  int64_t offset;
  ASSERT_TRUE(ZoneOffsetAtInstant("Europe/Berlin", Seconds(2099, 7, 1) * 1000, &offset));
  EXPECT_EQ(7'200'000, offset);
  ASSERT_TRUE(ZoneOffsetAtLocal("Europe/Berlin", Seconds(2099, 1, 1) * 1000, &offset));
  EXPECT_EQ(3'600'000, offset);
}

}  // namespace
}  // namespace rowtide

#include "operators/exact_sum.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace rowtide {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ExactSum, AHugeValueThatLeftIsForgotten) {
  ExactSum sum;
  sum.Add(18014398509481984.0);
  sum.Add(1.0);
  EXPECT_EQ(sum.Rounded(), 18014398509481984.0);
  sum.Subtract(18014398509481984.0);
  EXPECT_EQ(sum.Rounded(), 1.0);
}

TEST(ExactSum, NansAndInfinitiesLeaveWithoutATrace) {
  ExactSum sum;
  sum.Add(1.5);
  sum.Add(kInfinity);
  EXPECT_EQ(sum.Rounded(), kInfinity);
  sum.Add(-kInfinity);
  EXPECT_TRUE(std::isnan(sum.Rounded()));
  sum.Subtract(kInfinity);
  EXPECT_EQ(sum.Rounded(), -kInfinity);
  sum.Subtract(-kInfinity);
  sum.Add(std::nan(""));
  EXPECT_TRUE(std::isnan(sum.Rounded()));
  sum.Subtract(std::nan(""));
  EXPECT_EQ(sum.Rounded(), 1.5);
}

TEST(ExactSum, TheEndsOfTheRange) {
  ExactSum sum;
  sum.Add(std::numeric_limits<double>::denorm_min());
  sum.Add(-std::numeric_limits<double>::max());
  sum.Add(-std::numeric_limits<double>::max());
  EXPECT_EQ(sum.Rounded(), -kInfinity);
  sum.Subtract(-std::numeric_limits<double>::max());
  EXPECT_EQ(sum.Rounded(), -std::numeric_limits<double>::max());
  sum.Subtract(-std::numeric_limits<double>::max());
  EXPECT_EQ(sum.Rounded(), std::numeric_limits<double>::denorm_min());
  sum.Subtract(std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(sum.Rounded(), 0.0);
}

// Against 128-bit integers, whose conversion rounds to the nearest double, ties to even.
TEST(ExactSum, RoundsAsIntegersDo) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 2000; ++round) {
    ExactSum sum;
    __int128 expected = 0;
    for (int i = 0; i < 1 + round % 5; ++i) {
      const int64_t mantissa = static_cast<int64_t>(random() >> (11 + random() % 50));
      const int exponent = static_cast<int>(random() % 60);
      const __int128 value = static_cast<__int128>(random() % 2 ? mantissa : -mantissa) << exponent;
      sum.Add(static_cast<double>(value));
      expected += value;
    }
    ASSERT_EQ(sum.Rounded(), static_cast<double>(expected)) << "round " << round;
  }
}

TEST(ExactSum, EqualSumsHaveEqualBytesInAnyOrderAndParts) {
  std::mt19937_64 random(11);
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) {
    uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof(value));
    values.push_back(value);
  }
  ExactSum forward, back, left, right;
  for (double value : values) forward.Add(value);
  for (auto value = values.rbegin(); value != values.rend(); ++value) back.Add(*value);
  for (size_t i = 0; i < values.size(); ++i) (i % 3 == 0 ? left : right).Add(values[i]);
  left.Merge(right);
  EXPECT_EQ(std::memcmp(&forward, &back, sizeof(forward)), 0);
  EXPECT_EQ(std::memcmp(&forward, &left, sizeof(forward)), 0);
  for (double value : values) forward.Subtract(value);
  const ExactSum nothing;
  EXPECT_EQ(std::memcmp(&forward, &nothing, sizeof(forward)), 0);
}

}  // namespace
}  // namespace rowtide

#include "connectors/formats/quick_values.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace rowtide {
namespace {

// A text that is a quick integer, nearly one, or none.
std::string AnyText(std::mt19937_64& random) {
  static constexpr char kOthers[] = "-+ 0/:a.\"\x80\xff";
  std::string text;
  for (size_t left = random() % 20; left > 0; --left)
    text += static_cast<char>('0' + random() % 10);
  if (random() % 4 == 0 && !text.empty())
    text[random() % text.size()] = kOthers[random() % (sizeof(kOthers) - 1)];
  return text;
}

TEST(QuickIntegerPair, AgreesWithOneByOne) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "no AVX2";
  std::mt19937_64 random(7);
  int quick = 0;
  for (int round = 0; round < 200'000; ++round) {
    // Fields of two records; the first mark stands before the text.
    const size_t stride = 1 + random() % 4;
    std::string text;
    std::vector<uint32_t> marks = {~0u};
    for (size_t i = 0; i < 2 * stride; ++i) {
      text += AnyText(random);
      marks.push_back(static_cast<uint32_t>(text.size()));
      text += ',';
    }
    text.append(32, '7');
    const size_t field = random() % stride;
    int64_t both[2] = {-1, -2};
    const bool is_quick = QuickIntegerPair(text.data(), marks.data() + 1 + field, stride, both);
    int64_t each[2] = {-1, -2};
    bool all_quick = true;
    for (size_t i = 0; i < 2; ++i) {
      const uint32_t* const mark = marks.data() + 1 + field + i * stride;
      const uint32_t begin = mark[-1] + 1;
      all_quick &= QuickInteger(text.data() + begin, *mark - begin, &each[i]);
    }
    ASSERT_EQ(is_quick, all_quick) << text;
    if (!is_quick) continue;
    ++quick;
    EXPECT_EQ(both[0], each[0]) << text;
    EXPECT_EQ(both[1], each[1]) << text;
  }
  EXPECT_GT(quick, 10'000);
}

}  // namespace
}  // namespace rowtide

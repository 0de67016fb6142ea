// Counted numbers against std::map, with random changes of which most are noted only.
#include "state/counted_numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "tests/state/state_context.h"

namespace rowtide {
namespace {

using Model = std::map<int64_t, int64_t>;

// Returns by how much there are more numbers below zero.
int64_t Bump(Model* model, int64_t number, int64_t delta) {
  int64_t& count = (*model)[number];
  const int64_t more = (count + delta < 0 ? 1 : 0) - (count < 0 ? 1 : 0);
  count += delta;
  if (count == 0) model->erase(number);
  return more;
}

std::string BytesOf(const CountedNumbers& numbers) {
  SnapshotWriter writer;
  numbers.Snapshot(writer);
  return writer.Take();
}

// What a snapshot of one key holds, read by its drawing.
Model Read(const std::string& bytes) {
  SnapshotReader reader(bytes);
  Model model;
  const uint64_t keys = *reader.U64("entries");
  EXPECT_LE(keys, 1u);
  EXPECT_EQ(*reader.U8("clocked"), 0);
  if (keys == 0) return model;
  EXPECT_EQ(*reader.Bytes("key"), "k");
  const uint64_t count = *reader.U64("numbers");
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t number = *reader.I64("number");
    model[number] = *reader.I64("count");
  }
  EXPECT_TRUE(reader.AtEnd());
  return model;
}

struct Universe {
  const char* name;
  int64_t numbers;  // random ones below; 0 = ever higher ones
  unsigned removed_of_10;
  int changes;
};

class CountedNumbersTest : public testing::TestWithParam<Universe> {};

TEST_P(CountedNumbersTest, DoesWhatAMapDoes) {
  const Universe& universe = GetParam();
  StateContext context;
  {
    CountedNumbers numbers(context.context, Ttl());
    Model model;
    std::mt19937_64 random(11);
    KeyBatch keys;
    keys.Add("k");
    std::vector<Entry> entries;
    ASSERT_TRUE(numbers.FindOrCreate(keys, &entries).ok());
    int64_t highest = 0;
    int64_t negatives = 0;
    // Grows, then shrinks until all is gone, then is let lie.
    for (int i = 0; i < 2 * universe.changes; ++i) {
      const bool grows = i < universe.changes;
      const unsigned removed = grows ? universe.removed_of_10 : 10 - universe.removed_of_10;
      const bool removes = random() % 10 < removed;
      int64_t number = universe.numbers > 0 ? static_cast<int64_t>(random()) % universe.numbers
                                            : (highest += 1 + static_cast<int64_t>(random() % 3));
      // Mostly what is there is removed, now and then the lowest one; sometimes what never was.
      if (removes && random() % 50 != 0 && !model.empty()) {
        const auto from = model.lower_bound(number);
        number = from == model.end() || random() % 8 == 0 ? model.begin()->first : from->first;
      }
      if (random() % 400 == 0)
        number = random() % 2 == 0 ? std::numeric_limits<int64_t>::min()
                                   : std::numeric_limits<int64_t>::max();
      negatives += Bump(&model, number, removes ? -1 : 1);
      if (random() % 20 == 0) {
        numbers.Fold(entries[0]);
        const int64_t count = numbers.Change(entries[0], number, removes);
        const auto at = model.find(number);
        ASSERT_EQ(count, at == model.end() ? 0 : at->second);
        ASSERT_EQ(numbers.negatives(entries[0]), negatives);
        ASSERT_EQ(numbers.positives(entries[0]), static_cast<int64_t>(model.size()) - negatives);
        ASSERT_EQ(numbers.has_numbers(entries[0]), !model.empty());
        if (!model.empty()) {
          ASSERT_EQ(numbers.Lowest(entries[0]).number, model.begin()->first);
          ASSERT_EQ(numbers.Lowest(entries[0]).count, model.begin()->second);
          ASSERT_EQ(numbers.Highest(entries[0]).number, model.rbegin()->first);
          ASSERT_EQ(numbers.Highest(entries[0]).count, model.rbegin()->second);
        }
      } else {
        numbers.Note(entries[0], number, removes);
      }
      if (random() % 4000 != 0) continue;
      const std::string bytes = BytesOf(numbers);
      ASSERT_EQ(Read(bytes), model);
      StateContext other;
      CountedNumbers restored(other.context, Ttl());
      SnapshotReader reader(bytes);
      ASSERT_TRUE(restored.Restore(reader).ok());
      ASSERT_EQ(BytesOf(restored), bytes);
      ASSERT_TRUE(numbers.FindOrCreate(keys, &entries).ok());
    }
    ASSERT_EQ(Read(BytesOf(numbers)), model);
    // What cancels leaves nothing behind, whether folded number by number or at once.
    ASSERT_TRUE(numbers.FindOrCreate(keys, &entries).ok());
    const Model rest = model;
    for (const auto& [number, count] : rest) {
      for (int64_t i = 0; i < std::abs(count); ++i) numbers.Note(entries[0], number, count > 0);
    }
    EXPECT_TRUE(Read(BytesOf(numbers)).empty());
    EXPECT_EQ(context.size.entries, 0);
    EXPECT_EQ(context.size.bytes, 0);
  }
  EXPECT_EQ(context.size.bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Universes, CountedNumbersTest,
                         testing::Values(Universe{"Few", 5, 4, 20'000},  // counts of more than 127
                                         Universe{"Some", 300, 4, 20'000},
                                         Universe{"Many", 1'000'000, 2, 60'000},
                                         Universe{"Rising", 0, 3, 60'000}),
                         [](const auto& each) { return each.param.name; });

TEST(CountedNumbersTest, EraseAllGivesEverythingBack) {
  StateContext context;
  CountedNumbers numbers(context.context, Ttl());
  KeyBatch keys;
  keys.Add("a");
  keys.Add("b");
  std::vector<Entry> entries;
  ASSERT_TRUE(numbers.FindOrCreate(keys, &entries).ok());
  for (int i = 0; i < 50'000; ++i)
    numbers.Note(entries[i % 2 == 0 ? 0 : 1], i * 7919 % 50'021, false);
  for (const Entry key : entries) numbers.EraseAll(key);
  numbers.Settle();
  EXPECT_EQ(context.size.entries, 0);
  EXPECT_EQ(context.size.bytes, 0);
}

TEST(CountedNumbersTest, AnExpiredKeyTakesItsNumbersAlong) {
  StateContext context(1000);
  CountedNumbers numbers(context.context, Ttl(context.context));
  KeyBatch keys;
  keys.Add("k");
  std::vector<Entry> entries;
  ASSERT_TRUE(numbers.FindOrCreate(keys, &entries).ok());
  for (int i = 0; i < 10'000; ++i) numbers.Note(entries[0], i, false);
  numbers.Touch(entries[0]);
  context.clock.Set(5000);
  ASSERT_TRUE(numbers.FindOrCreate(keys, &entries).ok());
  EXPECT_FALSE(numbers.has_numbers(entries[0]));
  numbers.Settle();
  EXPECT_EQ(context.size.bytes, 0);
}

TEST(CountedNumbersTest, ASnapshotIsNotTrusted) {
  const auto restored = [](std::initializer_list<int64_t> numbers_and_counts) {
    SnapshotWriter writer;
    writer.PutU64(1);
    writer.PutU8(0);
    writer.PutBytes("k");
    writer.PutU64(numbers_and_counts.size() / 2);
    for (const int64_t each : numbers_and_counts) writer.PutI64(each);
    StateContext context;
    CountedNumbers numbers(context.context, Ttl());
    SnapshotReader reader(writer.bytes());
    return numbers.Restore(reader).ToString();
  };
  EXPECT_EQ(restored({1, 1, 2, 300}), Status::Ok().ToString());
  EXPECT_NE(restored({2, 1, 1, 1}).find("not in order"), std::string::npos);
  EXPECT_NE(restored({2, 1, 2, 1}).find("not in order"), std::string::npos);
  EXPECT_NE(restored({2, 0}).find("count 0"), std::string::npos);
  EXPECT_NE(restored({}).find("no numbers"), std::string::npos);
}

}  // namespace
}  // namespace rowtide

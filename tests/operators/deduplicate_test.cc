// Deduplicate as traces: `k1a@5` is a row of key 1 with payload a and row time 5.
#include <gtest/gtest.h>

#include "operators/deduplicate.h"
#include "tests/oracle/harness.h"

namespace rowtide {
namespace {

Schema Events() {
  return Schema({{"k", Type::Int()},
                 {"v", Type::String()},
                 {"ts", Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime)}});
}

DeduplicateSpec Spec(bool rowtime, bool keeps_last) {
  DeduplicateSpec spec;
  spec.schema = Events();
  spec.keys = {0};
  spec.rowtime = rowtime;
  spec.order_column = rowtime ? 2 : -1;
  spec.keeps_last = keeps_last;
  return spec;
}

TestRow Event(int key, const std::string& word) {
  const size_t at = word.find('@');
  Value time =
      at == std::string::npos ? Value(int64_t{0}) : Value(int64_t{std::stoi(word.substr(at + 1))});
  return {RowKind::kInsert, {int64_t{key}, word.substr(0, at), time}};
}

std::string Words(const TestRows& rows) {
  std::string text;
  for (const TestRow& row : rows) {
    text += (text.empty() ? "" : " ") + std::string(Text(row.kind)) + " " +
            std::get<std::string>(row.values[1]);
  }
  return text.empty() ? "-" : text;
}

Harness::Factory Factory(const DeduplicateSpec& spec) {
  return [spec](const OperatorContext& context) { return Create(spec, context); };
}

// Words of one key; `W4` is a watermark, `F` flushes the bundle (a tick).
std::string Trace(const DeduplicateSpec& spec, const std::string& input,
                  OperatorContext settings = {}) {
  Harness harness(Factory(spec), spec.schema, settings);
  std::string trace;
  size_t at = 0;
  while (at < input.size()) {
    const size_t end = std::min(input.find(' ', at), input.size());
    const std::string word = input.substr(at, end - at);
    at = end + 1;
    if (word[0] == 'W') {
      EXPECT_TRUE(harness.Watermark(std::stoi(word.substr(1))).ok());
    } else if (word == "F") {
      EXPECT_TRUE(harness.AdvanceTime(Time::Tick(0)).ok());
    } else {
      EXPECT_TRUE(harness.Process({Event(1, word)}).ok());
    }
    trace += (trace.empty() ? "" : " | ") + Words(harness.Take());
    harness.Restore();
  }
  return trace;
}

TEST(DeduplicateTest, ProctimeFirst) {
  EXPECT_EQ(Trace(Spec(false, false), "a a b"), "+I a | - | -");
}

// flink-rank-dedup.md 11.
TEST(DeduplicateTest, ProctimeLast) {
  DeduplicateSpec spec = Spec(false, true);
  EXPECT_EQ(Trace(spec, "a a b b"), "+I a | - | -U a +U b | -");
  spec.emits_update_before = false;
  EXPECT_EQ(Trace(spec, "a a b b"), "+I a | - | +U b | -");
  spec.insert_update_after_sensitive = false;
  EXPECT_EQ(Trace(spec, "a a b b"), "+U a | +U a | +U b | +U b");
}

TEST(DeduplicateTest, RowtimeLast) {
  DeduplicateSpec spec = Spec(true, true);
  EXPECT_EQ(Trace(spec, "a@5 b@7 c@6 d@7 d@7"), "+I a | -U a +U b | - | -U b +U d | -U d +U d");
  spec.emits_update_before = false;
  EXPECT_EQ(Trace(spec, "a@5 b@7 c@6 d@7 d@7"), "+I a | +U b | - | +U d | +U d");
  spec.insert_update_after_sensitive = false;
  EXPECT_EQ(Trace(spec, "a@5 b@7"), "+U a | +U b");
}

TEST(DeduplicateTest, RowtimeFirstEager) {
  EXPECT_EQ(Trace(Spec(true, false), "a@5 b@7 c@3 d@3"), "+I a | - | -U a +U c | -");
}

TEST(DeduplicateTest, RowtimeFirstWaitsForTheWatermark) {
  DeduplicateSpec spec = Spec(true, false);
  spec.outputs_insert_only = true;
  EXPECT_EQ(Trace(spec, "a@5 c@3 d@3 W4 e@1 f@9 W10"), "- | - | - | +I c | - | - | -");
  EXPECT_EQ(Trace(spec, "a@5 W4 b@4 W4 W5 W6"), "- | - | - | - | +I b | -");
}

TEST(DeduplicateTest, TimersFireByTimeThenByFirstArrival) {
  DeduplicateSpec spec = Spec(true, false);
  spec.outputs_insert_only = true;
  Harness harness(Factory(spec), spec.schema);
  ASSERT_TRUE(harness
                  .Process({Event(1, "a@9"), Event(2, "b@5"), Event(3, "c@5"), Event(1, "d@5"),
                            Event(4, "e@1")})
                  .ok());
  harness.Restore();
  ASSERT_TRUE(harness.Watermark(100).ok());
  EXPECT_EQ(Words(harness.Take()), "+I e +I d +I b +I c");
  EXPECT_EQ(harness.watermarks(), 1);
  ASSERT_TRUE(harness.Process({Event(9, "z@99")}).ok());
  EXPECT_EQ(harness.count("late"), 1);
  EXPECT_EQ(harness.size().entries, 4);
}

TEST(DeduplicateTest, BundlesOfProcessingTime) {
  DeduplicateSpec spec = Spec(false, true);
  spec.mini_batch.size = 3;
  EXPECT_EQ(Trace(spec, "a b c d F"), "- | - | +I c | - | -U c +U d");
  spec.keeps_last = false;
  EXPECT_EQ(Trace(spec, "a b c d W1"), "- | - | +I a | - | -");
}

TEST(DeduplicateTest, BundlesOfRowTime) {
  DeduplicateSpec spec = Spec(true, true);
  spec.mini_batch.size = 100;
  EXPECT_EQ(Trace(spec, "a@5 b@7 c@6 W1 d@8 e@9 W2"),
            "- | - | - | +I a -U a +U b | - | - | -U b +U d -U d +U e");
  spec.compacts_changes = true;
  EXPECT_EQ(Trace(spec, "a@5 b@7 c@6 W1 d@8 e@9 W2"), "- | - | - | +I b | - | - | -U b +U e");
}

TEST(DeduplicateTest, BundlesVisitKeysInOrderOfArrivalAndCountAllRows) {
  DeduplicateSpec spec = Spec(false, true);
  spec.mini_batch.size = 4;
  Harness harness(Factory(spec), spec.schema);
  ASSERT_TRUE(harness.Process({Event(7, "a"), Event(3, "b"), Event(7, "c")}).ok());
  harness.Restore();
  ASSERT_TRUE(harness.Process({Event(5, "d"), Event(3, "e")}).ok());
  EXPECT_EQ(Words(harness.Take()), "+I c +I b +I d");
  ASSERT_TRUE(harness.AdvanceTime(Time::End()).ok());
  EXPECT_EQ(Words(harness.Take()), "-U b +U e");
}

TEST(DeduplicateTest, TheClockMovesAsThePageSays) {
  OperatorContext settings;
  settings.state_ttl_millis = 10;
  const auto trace = [&](const DeduplicateSpec& spec) {
    Harness harness(Factory(spec), spec.schema, settings);
    std::string text;
    for (int i = 0; i < 4; ++i) {
      EXPECT_TRUE(harness.Process({Event(1, "a@5")}).ok());
      text += (text.empty() ? "" : " | ") + Words(harness.Take());
      harness.clock().Advance(6);
      harness.Restore();
    }
    return text;
  };
  // first emission only
  EXPECT_EQ(trace(Spec(false, false)), "+I a | - | +I a | -");
  // every row
  EXPECT_EQ(trace(Spec(false, true)), "+I a | -U a +U a | -U a +U a | -U a +U a");
  // every kept row
  EXPECT_EQ(trace(Spec(true, false)), "+I a | - | +I a | -");
}

TEST(DeduplicateTest, NullAndEqualKeys) {
  DeduplicateSpec spec = Spec(false, false);
  Harness harness(Factory(spec), spec.schema);
  TestRow null_key = Event(0, "n");
  null_key.values[0] = Value();
  ASSERT_TRUE(harness.Process({null_key, Event(0, "z"), null_key, Event(0, "y")}).ok());
  EXPECT_EQ(Words(harness.Take()), "+I n +I z");
}

TEST(DeduplicateTest, RefusesWhatItCannotTake) {
  Harness harness(Factory(Spec(true, true)), Events());
  TestRow row = Event(1, "a@1");
  row.kind = RowKind::kDelete;
  EXPECT_EQ(harness.Process({row}).code(), StatusCode::kDataError);
  row = Event(1, "a@1");
  row.values[2] = Value();
  EXPECT_EQ(harness.Process({row}).code(), StatusCode::kDataError);
}

// One row in a hundred waits for a year: the blocks of its neighbours must not wait with it.
TEST(Deduplicate, RowsThatWaitLongDoNotKeepTheRest) {
  DeduplicateSpec spec = Spec(true, false);
  spec.outputs_insert_only = true;
  Harness harness(Factory(spec), spec.schema);
  const std::string text(2000, 'x');
  const auto patient = [](int key) { return key % 100 == 7; };
  constexpr int kRows = 20000, kYear = 1000000;
  TestRows out;
  for (int first = 0; first < kRows; first += 500) {
    TestRows rows;
    for (int key = first; key < first + 500; ++key) {
      const int64_t millis = patient(key) ? kYear + key : key;
      rows.push_back({RowKind::kInsert, {int64_t{key}, text + std::to_string(key), millis}});
    }
    ASSERT_TRUE(harness.Process(rows).ok());
    ASSERT_TRUE(harness.Watermark(first + 500).ok());
    if (first == 10000) harness.Restore();
    const TestRows taken = harness.Take();
    out.insert(out.end(), taken.begin(), taken.end());
  }
  // What waits, and as much again for its keys and numbers.
  EXPECT_LT(harness.size().bytes, 2 * 2000 * kRows / 100 + 100 * kRows);
  ASSERT_TRUE(harness.Watermark(2 * kYear).ok());
  const TestRows last = harness.Take();
  ASSERT_EQ(last.size(), size_t{kRows / 100});
  out.insert(out.end(), last.begin(), last.end());
  ASSERT_EQ(out.size(), size_t{kRows});
  std::vector<bool> seen(kRows);
  for (const TestRow& row : out) {
    const auto key = static_cast<size_t>(std::get<int64_t>(row.values[0]));
    EXPECT_FALSE(seen[key]);
    seen[key] = true;
    ASSERT_EQ(std::get<std::string>(row.values[1]), text + std::to_string(key));
  }
}

}  // namespace
}  // namespace rowtide

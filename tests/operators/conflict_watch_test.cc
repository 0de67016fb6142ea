// The watch around a Deduplicate: what it counts, that the changelog stays the same, its samples.
#include "operators/conflict_watch.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tests/oracle/harness.h"

namespace rowtide {
namespace {

Schema Events() {
  return Schema({{"k", Type::Int()},
                 {"v", Type::String()},
                 {"ts", Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime)}});
}

struct Form {
  const char* name;
  bool rowtime;
  bool keeps_last;
  bool once;
  int64_t mini_batch;
};
constexpr Form kForms[] = {{"proctime first", false, false, false, 0},
                           {"proctime last", false, true, false, 0},
                           {"proctime last, mini-batch", false, true, false, 3},
                           {"rowtime first, once", true, false, true, 0},
                           {"rowtime first, eager", true, false, false, 0},
                           {"rowtime last", true, true, false, 0},
                           {"rowtime last, mini-batch", true, true, false, 3}};

DeduplicateSpec SpecOf(const Form& form) {
  DeduplicateSpec spec;
  spec.schema = Events();
  spec.keys = {0};
  spec.rowtime = form.rowtime;
  spec.order_column = form.rowtime ? 2 : -1;
  spec.keeps_last = form.keeps_last;
  spec.outputs_insert_only = form.once;
  spec.mini_batch.size = form.mini_batch;
  return spec;
}

struct Lines final : ConflictLog {
  explicit Lines(std::string* to) : text(to) {}
  Status Write(const std::string& line) override {
    *text += line;
    return Status::Ok();
  }
  std::string* text;
};

Harness::Factory Watched(const Form& form, std::string* samples) {
  return [form, samples](const OperatorContext& context) {
    ConflictWatchSpec spec;
    spec.deduplicate = SpecOf(form);
    if (samples != nullptr) spec.log = std::make_unique<Lines>(samples);
    return CreateWatched(std::move(spec), context);
  };
}

TestRow Event(int key, const std::string& word, int64_t millis) {
  return {RowKind::kInsert, {int64_t{key}, word, millis}};
}

TEST(ConflictWatch, TellsResendsFromRowsThatDiffer) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    Harness harness(Watched(form, nullptr), Events());
    ASSERT_TRUE(harness
                    .Process({Event(1, "a", 5), Event(2, "b", 5), Event(1, "a", 5),
                              Event(1, "c", 5), Event(2, "b", 5)})
                    .ok());
    ASSERT_TRUE(harness.AdvanceTime(Time::Tick(0)).ok());
    EXPECT_EQ(harness.count("identical"), 2);
    EXPECT_EQ(harness.count("duplicate"), 1);
  }
}

// What is met is the kept row: the first, the last, the earliest or the latest.
TEST(ConflictWatch, ComparesWithTheKeptRow) {
  const auto counts = [](const Form& form) {
    Harness harness(Watched(form, nullptr), Events());
    EXPECT_TRUE(
        harness.Process({Event(1, "a", 5), Event(1, "b", 7), Event(1, "a", 5), Event(1, "b", 7)})
            .ok());
    return std::pair(harness.count("identical"), harness.count("duplicate"));
  };
  EXPECT_EQ(counts(kForms[0]), std::pair(int64_t{1}, int64_t{2}));  // always with a
  EXPECT_EQ(counts(kForms[1]), std::pair(int64_t{0}, int64_t{3}));  // each with the one before
  EXPECT_EQ(counts(kForms[5]), std::pair(int64_t{1}, int64_t{2}));  // with b from the second on
}

TEST(ConflictWatch, LeavesLateRowsToTheOperator) {
  Harness harness(Watched(kForms[3], nullptr), Events());
  ASSERT_TRUE(harness.Process({Event(1, "a", 5)}).ok());
  ASSERT_TRUE(harness.Watermark(6).ok());
  ASSERT_TRUE(harness.Process({Event(1, "a", 5), Event(1, "b", 8)}).ok());
  EXPECT_EQ(harness.count("late"), 1);
  EXPECT_EQ(harness.count("identical"), 0);
  EXPECT_EQ(harness.count("duplicate"), 1);
}

TEST(ConflictWatch, WritesSamples) {
  std::string samples;
  Harness harness(Watched(kForms[5], &samples), Events());
  ASSERT_TRUE(
      harness.Process({Event(1, "a", 5), Event(1, "a", 5), Event(2, "x", 6), Event(1, "b", 7)})
          .ok());
  EXPECT_EQ(samples,
            "{\"key\":{\"k\":1},\"kept\":{\"k\":1,\"v\":\"a\",\"ts\":\"1970-01-01 00:00:00.005\"},"
            "\"other\":{\"k\":1,\"v\":\"b\",\"ts\":\"1970-01-01 00:00:00.007\"},"
            "\"kept_input_row\":2,\"input_row\":4}\n");
}

// The same changelog, state size and lateness as without it, over any cuts and restores; every row
// is accounted for.
TEST(ConflictWatch, ChangesNothing) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    std::mt19937 random(7);
    Harness plain([form](const OperatorContext& context) { return Create(SpecOf(form), context); },
                  Events());
    Harness watched(Watched(form, nullptr), Events());
    std::set<int> keys;
    int64_t rows = 0;
    for (int step = 0; step < 200; ++step) {
      TestRows batch;
      for (auto left = random() % 5; left > 0; --left) {
        batch.push_back(Event(static_cast<int>(random() % 6), std::string(1, "abc"[random() % 3]),
                              static_cast<int64_t>(step + random() % 10)));
      }
      rows += static_cast<int64_t>(batch.size());
      ASSERT_TRUE(plain.Process(batch).ok());
      ASSERT_TRUE(watched.Process(batch).ok());
      if (random() % 4 == 0) {
        const Time time = form.rowtime ? Time::Watermark(step) : Time::Tick(step);
        ASSERT_TRUE(plain.AdvanceTime(time).ok());
        ASSERT_TRUE(watched.AdvanceTime(time).ok());
      }
      for (const TestRow& row : batch)
        keys.insert(static_cast<int>(std::get<int64_t>(row.values[0])));
      if (random() % 8 == 0) watched.Restore();
      ASSERT_EQ(watched.TakeText(), plain.TakeText());
      ASSERT_EQ(watched.size().entries, plain.size().entries);
    }
    EXPECT_EQ(watched.count("late"), plain.count("late"));
    EXPECT_EQ(static_cast<int64_t>(keys.size()) + watched.count("identical") +
                  watched.count("duplicate") + watched.count("late"),
              rows);
  }
}

}  // namespace
}  // namespace rowtide

// The watch in a Deduplicate: what it counts, that changelog and state stay the same, its samples.
#include "operators/conflict_watch.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "operators/deduplicate.h"
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
    std::unique_ptr<ConflictLog> log;
    if (samples != nullptr) log = std::make_unique<Lines>(samples);
    auto watch = std::make_unique<ConflictWatch>(Events(), std::vector<int>{0}, std::move(log),
                                                 context.counters);
    return Create(SpecOf(form), context, std::move(watch));
  };
}

Harness::Factory Plain(const Form& form) {
  return [form](const OperatorContext& context) { return Create(SpecOf(form), context); };
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
            "\"kept_at\":null,\"other_at\":null}\n");
}

RowBatch FromFile(const TestRows& rows, int64_t first_line) {
  std::vector<std::pair<RowKind, std::vector<Value>>> pairs;
  for (const TestRow& row : rows) pairs.emplace_back(row.kind, row.values);
  RowBatch batch = BatchOf(Events(), pairs);
  const auto block = [](const void* bytes, size_t size) {
    auto made = std::make_shared<Block>(size);
    std::memcpy(made->data(), bytes, size);
    return made;
  };
  std::vector<RowPlace> places;
  for (int64_t line = first_line; line < first_line + batch.rows; ++line)
    places.push_back({line, line * 10});
  batch.places = block(places.data(), places.size() * sizeof(RowPlace));
  batch.file = block("a.csv", 5);
  return batch;
}

// Of every form without a bundle, within a batch and across.
TEST(ConflictWatch, SamplesNameThePlacesOfRowsFromFiles) {
  for (const Form& form : kForms) {
    if (form.mini_batch > 0) continue;
    SCOPED_TRACE(form.name);
    std::string samples;
    Harness harness(Watched(form, &samples), Events());
    const auto place = [](const char* name, int line) {
      return fmt::format("\"{}\":{{\"file\":\"a.csv\",\"line\":{},\"byte\":{}}}", name, line,
                         line * 10);
    };
    const auto process = [&](const TestRows& rows, int64_t line) {
      samples.clear();
      ASSERT_TRUE(harness.op().Process(0, FromFile(rows, line), harness).ok());
    };
    process({Event(2, "x", 5), Event(1, "a", 5), Event(1, "b", 5)}, 1);
    EXPECT_NE(samples.find(place("kept_at", 2) + "," + place("other_at", 3)), samples.npos)
        << samples;
    process({Event(1, "c", 5)}, 4);
    EXPECT_NE(samples.find(place("kept_at", form.keeps_last ? 3 : 2) + "," + place("other_at", 4)),
              samples.npos)
        << samples;
  }
}

// Where the first row is out and gone, a note stands for it; a snapshot made without a watch has
// none.
TEST(ConflictWatch, RestoresWithAndWithoutAWatch) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    const bool notes = !form.keeps_last && (!form.rowtime || form.once);
    std::string samples;
    Harness plain(Plain(form), Events());
    Harness watched(Watched(form, nullptr), Events());
    Harness sampling(Watched(form, &samples), Events());
    for (Harness* one : {&plain, &watched, &sampling}) {
      ASSERT_TRUE(one->Process({Event(1, "a", 5), Event(2, "b", 5)}).ok());
      ASSERT_TRUE(one->AdvanceTime(form.rowtime ? Time::Watermark(5) : Time::Tick(5)).ok());
    }
    const std::string bytes = plain.SnapshotBytes();
    EXPECT_EQ(watched.SnapshotBytes() == bytes, !notes);
    EXPECT_EQ(sampling.SnapshotBytes() == bytes, !notes);

    const auto restore = [](Harness& to, const std::string& from) {
      SnapshotReader reader(from);
      const Status status = to.op().Restore(reader);
      EXPECT_TRUE(status.ok()) << status.ToString();
      EXPECT_TRUE(reader.AtEnd());
    };
    for (const Harness* from : {&watched, &sampling}) {  // without a watch notes are dropped
      Harness to(Plain(form), Events());
      restore(to, from->SnapshotBytes());
      EXPECT_EQ(to.SnapshotBytes(), bytes);
    }
    struct Wanted {
      const Harness* from;
      bool samples;
      bool compares;
    };
    const Wanted cases[] = {{&plain, false, !notes},  {&plain, true, !notes},
                            {&watched, false, true},  {&watched, true, true},
                            {&sampling, false, true}, {&sampling, true, true}};
    for (const Wanted& wanted : cases) {
      samples.clear();
      Harness to(Watched(form, wanted.samples ? &samples : nullptr), Events());
      restore(to, wanted.from->SnapshotBytes());
      ASSERT_TRUE(to.Process({Event(1, "a", 5), Event(2, "c", 5)}).ok());
      ASSERT_TRUE(to.AdvanceTime(Time::Tick(6)).ok());
      EXPECT_EQ(to.count("identical"), wanted.compares ? 1 : 0);
      EXPECT_EQ(to.count("duplicate"), wanted.compares ? 1 : 0);
      EXPECT_EQ(to.count("uncompared"), wanted.compares ? 0 : 2);
      const bool has_kept = !notes || wanted.from == &sampling;
      EXPECT_EQ(samples.find("\"kept\":null") != samples.npos,
                wanted.samples && wanted.compares && !has_kept);
    }
  }
}

// Without state there is nothing to compare with, and that is said.
TEST(ConflictWatch, CountsWhatItCannotCompare) {
  Harness harness(
      [](const OperatorContext& context) {
        DeduplicateSpec spec = SpecOf(kForms[1]);
        spec.emits_update_before = spec.insert_update_after_sensitive = false;
        return Create(spec, context,
                      std::make_unique<ConflictWatch>(Events(), std::vector<int>{0}, nullptr,
                                                      context.counters));
      },
      Events());
  ASSERT_TRUE(harness.Process({Event(1, "a", 5), Event(1, "a", 5)}).ok());
  EXPECT_EQ(harness.count("uncompared"), 2);
  EXPECT_EQ(harness.count("identical") + harness.count("duplicate"), 0);
}

// The same changelog, state size and lateness as without it, over any cuts and restores; every row
// is accounted for.
TEST(ConflictWatch, ChangesNothing) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name);
    std::mt19937 random(7);
    Harness plain(Plain(form), Events());
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

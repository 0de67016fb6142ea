// Ranks of one partition, written as traces: `a5` is a row with id a and sort key 5, `a5:1` the
// same with rank 1.
#include <gtest/gtest.h>

#include "operators/rank.h"
#include "tests/oracle/harness.h"

namespace rowtide {
namespace {

Schema Offers() {
  return Schema({{"g", Type::String()}, {"id", Type::String()}, {"v", Type::Int()}});
}

RankSpec Spec(RankSpec::Strategy strategy, int64_t start, int64_t end, bool number, bool before) {
  RankSpec spec;
  spec.input = Offers();
  spec.output = spec.input;
  if (number) spec.output.Add({"rn", Type::BigInt().NotNull()});
  spec.partition = {0};
  spec.order = {{2, false, true}};
  spec.start = start;
  spec.end = end;
  spec.strategy = strategy;
  if (strategy == RankSpec::Strategy::kUpdateFast) spec.row_key = {1};
  spec.emits_update_before = before;
  return spec;
}

// "a5 -D:b7" as rows of partition x.
TestRows Rows(const std::string& text) {
  TestRows rows;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    std::string word = text.substr(at, end - at);
    at = end + 1;
    TestRow row;
    if (word[0] == '-' || word[0] == '+') {
      const std::string kind = word.substr(0, 2);
      row.kind = kind == "-D" ? RowKind::kDelete : kind == "-U" ? RowKind::kUpdateBefore
                 : kind == "+U"                                 ? RowKind::kUpdateAfter
                                                                : RowKind::kInsert;
      word = word.substr(2);
    }
    row.values = {std::string("x"), word.substr(0, 1), int64_t{std::stoi(word.substr(1))}};
    rows.push_back(row);
  }
  return rows;
}

std::string Words(const TestRows& rows, bool keys, const char* number_mark) {
  std::string text;
  for (const TestRow& row : rows) {
    if (!text.empty()) text += " ";
    text += std::string(Text(row.kind)) + " " + std::get<std::string>(row.values[1]);
    if (keys) text += std::to_string(std::get<int64_t>(row.values[2]));
    if (row.values.size() == 4)
      text += number_mark + std::to_string(std::get<int64_t>(row.values[3]));
  }
  return text.empty() ? "-" : text;
}

// What each input row gives, in any cut into batches and with a restore after any row.
std::string Trace(const RankSpec& spec, const std::string& input, bool keys = false,
                  OperatorContext settings = {}) {
  const auto factory = [&](const OperatorContext& context) { return Create(spec, context); };
  const char* mark = keys ? ":" : "";
  Harness by_row(factory, spec.input, settings);
  Harness at_once(factory, spec.input, settings);
  std::string trace;
  TestRows all;
  for (const TestRow& row : Rows(input)) {
    EXPECT_TRUE(by_row.Process({row}).ok());
    const TestRows emitted = by_row.Take();
    all.insert(all.end(), emitted.begin(), emitted.end());
    trace += (trace.empty() ? "" : " | ") + Words(emitted, keys, mark);
    by_row.Restore();
  }
  EXPECT_TRUE(at_once.Process(Rows(input)).ok());
  EXPECT_EQ(Words(at_once.Take(), keys, mark), Words(all, keys, mark));
  return trace;
}

constexpr auto kAppend = RankSpec::Strategy::kAppendFast;
constexpr auto kUpdate = RankSpec::Strategy::kUpdateFast;
constexpr auto kRetract = RankSpec::Strategy::kRetract;

// flink-rank-dedup.md 11, input A.
TEST(RankTest, AppendsGiveTheGoldenTracesByBothAlgorithms) {
  const std::string a = "a5 b7 c5 d9 e3 f5 h2";
  for (const auto strategy : {kAppend, kRetract}) {
    EXPECT_EQ(Trace(Spec(strategy, 1, 3, false, true), a),
              "+I a | +I b | +I c | - | -D b +I e | - | -D c +I h");
    EXPECT_EQ(Trace(Spec(strategy, 1, 3, true, true), a),
              "+I a1 | +I b2 | -U b2 +U c2 +I b3 | - | -U a1 +U e1 -U c2 +U a2 -U b3 +U c3 | - | "
              "-U e1 +U h1 -U a2 +U e2 -U c3 +U a3");
    EXPECT_EQ(Trace(Spec(strategy, 1, 3, true, false), a),
              "+I a1 | +I b2 | +U c2 +I b3 | - | +U e1 +U a2 +U c3 | - | +U h1 +U e2 +U a3");
    EXPECT_EQ(Trace(Spec(strategy, 2, 3, false, true), a),
              "- | +I b | -U b +U c +I b | - | -U c +U a -U b +U c | - | -U a +U e -U c +U a");
  }
  EXPECT_EQ(Trace(Spec(kAppend, 1, 1, false, true), a),
            "+I a | - | - | - | -U a +U e | - | -U e +U h");
  EXPECT_EQ(Trace(Spec(kAppend, 1, 1, true, true), a),
            "+I a1 | - | - | - | -U a1 +U e1 | - | -U e1 +U h1");
}

// Input B.
TEST(RankTest, RetractionsGiveTheGoldenTraces) {
  const std::string b = "a5 b7 c5 d9 -Da5 e1 -Uc5 +Uc8 -Dd9";
  EXPECT_EQ(Trace(Spec(kRetract, 1, 2, false, true), b),
            "+I a | +I b | -D b +I c | - | -D a +I b | -D b +I e | -D c +I b | - | -");
  EXPECT_EQ(Trace(Spec(kRetract, 1, 2, true, true), b),
            "+I a1 | +I b2 | -U b2 +U c2 | - | -U a1 +U c1 -U c2 +U b2 | -U c1 +U e1 -U b2 +U c2 | "
            "-U c2 +U b2 | - | -");
  EXPECT_EQ(Trace(Spec(kRetract, 1, 1, false, true), b),
            "+I a | - | - | - | -D a +I c | -D c +I e | - | - | -");
}

// Input C.
TEST(RankTest, UpsertsGiveTheGoldenTraces) {
  const std::string c = "a9 b8 a7 c9 b7 c5 c5 d6";
  EXPECT_EQ(
      Trace(Spec(kUpdate, 1, 2, false, true), c, true),
      "+I a9 | +I b8 | -U a9 +U a7 | - | -U b8 +U b7 | -D b7 +I c5 | -U c5 +U c5 | -D a7 +I d6");
  EXPECT_EQ(
      Trace(Spec(kUpdate, 1, 2, true, true), c, true),
      "+I a9:1 | -U a9:1 +U b8:1 +I a9:2 | -U b8:1 -U a9:2 +U a7:1 +U b8:2 | - | -U b8:2 +U b7:2 | "
      "-U a7:1 +U c5:1 -U b7:2 +U a7:2 | -U c5:1 +U c5:1 | -U a7:2 +U d6:2");
}

TEST(RankTest, ARowWhoseKeyGotWorseStaysAndSinks) {
  EXPECT_EQ(Trace(Spec(kUpdate, 1, 3, true, true), "a1 b2 c3 a9", true),
            "+I a1:1 | +I b2:2 | +I c3:3 | -U a1:1 -U b2:2 +U b2:1 -U c3:3 +U c3:2 +U a9:3");
}

// 15.2: the incumbent's other columns changed.
TEST(RankTest, TopOneFollowsTheIncumbentsRow) {
  RankSpec spec = Spec(kUpdate, 1, 1, false, true);
  spec.order = {{0, false, true}};
  EXPECT_EQ(Trace(spec, "a5 a6 a6 b1", true), "+I a5 | -U a5 +U a6 | - | -");
  OperatorContext flink;
  flink.flink_compat = true;
  EXPECT_EQ(Trace(spec, "a5 a6 a6 b1", true, flink), "+I a5 | - | - | -");
}

TEST(RankTest, RetractingAnUnknownRowChangesNothing) {
  const RankSpec spec = Spec(kRetract, 1, 3, true, true);
  EXPECT_EQ(Trace(spec, "a5 -Dz5 -Dz6 b7 c8"), "+I a1 | - | - | +I b2 | +I c3");
  Harness harness([&](const OperatorContext& context) { return Create(spec, context); },
                  spec.input);
  ASSERT_TRUE(harness.Process(Rows("a5 -Dz5 -Dz6")).ok());
  EXPECT_EQ(harness.count("unmatched_retraction"), 2);
  OperatorContext flink;
  flink.flink_compat = true;
  EXPECT_EQ(Trace(spec, "a5 -Dz5 -Dz6 b7 c8", false, flink), "+I a1 | - | - | +I b1 | +I c2");
}

TEST(RankTest, OfEqualRowsTheFirstIsTakenBack) {
  EXPECT_EQ(Trace(Spec(kRetract, 1, 2, true, true), "a5 b5 a5 -Da5"),
            "+I a1 | +I b2 | - | -U a1 +U b1 -U b2 +U a2");
}

TEST(RankTest, StateIsGoneWithTheLastRow) {
  const RankSpec spec = Spec(kRetract, 1, 2, false, true);
  Harness harness([&](const OperatorContext& context) { return Create(spec, context); },
                  spec.input);
  const int64_t floor = harness.size().bytes;
  TestRows rows;
  for (int i = 0; i < 5000; ++i)
    rows.push_back(
        {RowKind::kInsert, {std::string("x"), std::to_string(i), int64_t{i * 7 % 5000}}});
  ASSERT_TRUE(harness.Process(rows).ok());
  EXPECT_EQ(harness.size().entries, 1);
  for (TestRow& row : rows) row.kind = RowKind::kDelete;
  ASSERT_TRUE(harness.Process(rows).ok());
  EXPECT_EQ(harness.size().entries, 0);
  EXPECT_EQ(harness.size().bytes, floor);
}

// Ends that come from a column: the first row of a partition fixes it.
TEST(RankTest, AVariableEndIsFixedByTheFirstRow) {
  RankSpec spec;
  spec.input = Schema(
      {{"g", Type::String()}, {"id", Type::String()}, {"v", Type::Int()}, {"n", Type::BigInt()}});
  spec.output = spec.input;
  spec.partition = {0};
  spec.order = {{2, false, true}};
  spec.variable_end = 3;
  spec.strategy = kAppend;
  Harness harness([&](const OperatorContext& context) { return Create(spec, context); },
                  spec.input);
  const auto row = [](const char* g, const char* id, int v, Value n) {
    return TestRow{RowKind::kInsert, {std::string(g), std::string(id), int64_t{v}, n}};
  };
  ASSERT_TRUE(harness
                  .Process({row("x", "a", 5, int64_t{2}), row("x", "b", 4, int64_t{2}),
                            row("x", "c", 3, int64_t{1}), row("y", "d", 9, int64_t{1}),
                            row("y", "e", 8, int64_t{5}), row("z", "f", 1, Value()),
                            row("z", "g", 1, int64_t{3})})
                  .ok());
  EXPECT_EQ(Words(harness.Take(), false, ""), "+I a2 +I b2 -D a2 +I c1 +I d1 -D d1 +I e5");
  EXPECT_EQ(harness.count("invalid_top_size"), 3);
}

Schema Arrivals() {
  return Schema(
      {{"g", Type::String()},
       {"id", Type::String()},
       {"v", Type::Int()},
       {"p", Type::TimestampLtz(3).NotNull().WithTimeAttribute(TimeAttribute::kProctime)}});
}

RankSpec ByArrival(bool descending, bool number) {
  RankSpec spec;
  spec.input = Arrivals();
  spec.output = spec.input;
  if (number) spec.output.Add({"rn", Type::BigInt().NotNull()});
  spec.partition = {0};
  spec.order = {{3, descending, !descending}};
  spec.start = 1;
  spec.end = 2;
  spec.strategy = kAppend;
  return spec;
}

std::string ArrivalTrace(const RankSpec& spec, bool flink_compat) {
  OperatorContext settings;
  settings.flink_compat = flink_compat;
  Harness harness([&](const OperatorContext& context) { return Create(spec, context); }, spec.input,
                  settings);
  std::string trace;
  for (const char* id : {"a", "b", "c"}) {
    EXPECT_TRUE(harness
                    .Process({{RowKind::kInsert,
                               {std::string("x"), std::string(id), int64_t{1}, int64_t{7}}}})
                    .ok());
    trace += (trace.empty() ? "" : " | ");
    const TestRows rows = harness.Take();
    std::string words;
    for (const TestRow& row : rows) {
      words += (words.empty() ? "" : " ") + std::string(Text(row.kind)) + " " +
               std::get<std::string>(row.values[1]);
      if (row.values.size() == 5) words += std::to_string(std::get<int64_t>(row.values[4]));
    }
    trace += words.empty() ? "-" : words;
    harness.Restore();
  }
  return trace;
}

// 15.20: by processing time, a later row is the greater one.
TEST(RankTest, ProcessingTimeSortsByArrival) {
  EXPECT_EQ(ArrivalTrace(ByArrival(false, false), false), "+I a | +I b | -");
  EXPECT_EQ(ArrivalTrace(ByArrival(false, true), false), "+I a1 | +I b2 | -");
  EXPECT_EQ(ArrivalTrace(ByArrival(true, true), false),
            "+I a1 | -U a1 +U b1 +I a2 | -U b1 +U c1 -U a2 +U b2");
  EXPECT_EQ(ArrivalTrace(ByArrival(true, true), true), "+I a1 | +I b2 | -");
}

TEST(RankTest, AnEmptyPartitionAndSortOrderIsALimit) {
  RankSpec spec = Spec(kRetract, 1, 2, false, true);
  spec.partition = {};
  spec.order = {};
  EXPECT_EQ(Trace(spec, "a9 b1 c5 -Da9"), "+I a | +I b | - | -D a +I c");
  spec.strategy = kAppend;
  EXPECT_EQ(Trace(spec, "a9 b1 c5"), "+I a | +I b | -");
}

TEST(RankTest, StateExpiresWithAllRowsOfAKey) {
  const RankSpec spec = Spec(kRetract, 1, 2, false, true);
  OperatorContext settings;
  settings.state_ttl_millis = 1000;
  Harness harness([&](const OperatorContext& context) { return Create(spec, context); }, spec.input,
                  settings);
  ASSERT_TRUE(harness.Process(Rows("a5 b6 c7")).ok());
  harness.clock().Advance(999);
  ASSERT_TRUE(harness.Process(Rows("-Dc7")).ok());  // moves the clock
  harness.clock().Advance(999);
  harness.Take();
  ASSERT_TRUE(harness.Process(Rows("d1")).ok());
  EXPECT_EQ(Words(harness.Take(), false, ""), "-D b +I d");
  harness.clock().Advance(1000);
  ASSERT_TRUE(harness.Process(Rows("-Dd1 e9")).ok());
  EXPECT_EQ(Words(harness.Take(), false, ""), "+I e");
  EXPECT_EQ(harness.count("expired"), 1);
  EXPECT_EQ(harness.count("unmatched_retraction"), 1);
}

}  // namespace
}  // namespace rowtide

// Scripts as text: blocks, what is expected, skips, and how answers are compared.
#include "cli/script/script.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "cli/script/deviations.h"
#include "cli/script/expected.h"
#include "cli/script/skips.h"

namespace rowtide {
namespace {

using Lines = std::vector<std::string>;

constexpr const char* kScript = R"(# Head.
--- sql
CREATE TABLE t (k STRING);

--- rows t data.csv

--- query one
SELECT k FROM t

--- flink-differs 15.9 order: NaN
--- changelog unordered
+I ["b"]
+I ["a"]

--- rowtide table
["a"]
)";

TEST(Script, HasBlocksWithWhatIsExpectedOfThem) {
  const Result<Script> script = ParseTestScript("x.test", kScript);
  ASSERT_TRUE(script.ok()) << script.status().message();
  EXPECT_EQ(script->head, (Lines{"# Head."}));
  ASSERT_EQ(script->blocks.size(), 3u);
  EXPECT_EQ(script->blocks[1].arguments, "t data.csv");
  EXPECT_EQ(script->units(), 1);
  const ScriptBlock& query = script->blocks[2];
  EXPECT_EQ(query.kind, BlockKind::kQuery);
  EXPECT_EQ(query.arguments, "one");
  EXPECT_EQ(query.line, 7);
  EXPECT_EQ(query.lines, (Lines{"SELECT k FROM t"}));
  EXPECT_EQ(query.differs->row, "9");
  EXPECT_EQ(query.differs->reason, "order: NaN");
  ASSERT_EQ(query.expected.size(), 2u);
  EXPECT_TRUE(query.expected[0].unordered);
  EXPECT_FALSE(query.expected[0].rowtide);
  EXPECT_EQ(query.Find(ExpectKind::kTable, true)->lines, (Lines{"[\"a\"]"}));
  EXPECT_EQ(query.Find(ExpectKind::kTable, false), nullptr);
}

TEST(Script, IsWrittenBackAsItWas) {
  const std::string text =
      "# h\n--- sql\nSET 'a' = 'b';\n\n--- query\nSELECT 1\n\n--- changelog\n+I [1]\n";
  EXPECT_EQ(ToText(*ParseTestScript("x.test", text)), text);
}

TEST(Script, NamesTheLineOfAnUnknownBlock) {
  EXPECT_EQ(ParseTestScript("x.test", "--- sql\n\n--- oops\n").status().message(),
            "x.test:3: 'oops' needs a query, insert, write, explain or error block before it");
  EXPECT_EQ(ParseTestScript("x.test", "--- query\n--- oops\n").status().message(),
            "x.test:2: unknown block 'oops'");
}

SinkChangelog Changes(std::vector<int> key) {
  return {"s",
          {{RowKind::kInsert, "[\"a,]\",1]"},
           {RowKind::kInsert, "[\"b\",1]"},
           {RowKind::kUpdateAfter, "[\"a,]\",2]"},
           {RowKind::kDelete, "[\"b\",7]"}},
          std::move(key)};
}

TEST(Expected, FoldsAnUpsertSinkByItsKey) {
  UnitAnswer answer;
  AddChangelog({Changes({0})}, &answer);
  EXPECT_EQ(answer.Lines(ExpectKind::kTable), (Lines{"[\"a,]\",2]"}));
  EXPECT_EQ(answer.Lines(ExpectKind::kCounts), (Lines{"+I 2", "-U 0", "+U 1", "-D 1"}));
}

TEST(Expected, FoldsOtherSinksToABag) {
  UnitAnswer answer;
  AddChangelog({Changes({})}, &answer);
  EXPECT_EQ(answer.Lines(ExpectKind::kTable),
            (Lines{"[\"a,]\",1]", "[\"a,]\",2]", "[\"b\",1]", "missing [\"b\",7]"}));
}

TEST(Expected, ComparesOnlyTheChosenStagesOfAPlan) {
  Expectation plan;
  plan.kind = ExpectKind::kPlan;
  plan.lines = {"== Abstract Syntax Tree ==",     "A", "", "== Optimized Physical Plan ==", "P", "",
                "== Optimized Execution Plan ==", "E"};
  UnitAnswer answer;
  answer.lines[ExpectKind::kPlan] = {
      "== Abstract Syntax Tree ==",     "B", "", "== Optimized Physical Plan ==", "P", "",
      "== Optimized Execution Plan ==", "E", "", "== Deviations From Flink ==",   "D"};
  EXPECT_FALSE(Compare(plan, answer, PlanStages{}));
  EXPECT_TRUE(Compare(plan, answer, PlanStages{true, true, true}));
  EXPECT_FALSE(SameAst(plan, answer));
}

TEST(Expected, ComparesTheKindOfAnError) {
  EXPECT_EQ(KindOfMessage("TableException: Sort on"), ErrorKind::kPlan);
  EXPECT_EQ(KindOfMessage("IllegalArgumentException: Unrecognized option x"), ErrorKind::kValidate);
  EXPECT_EQ(KindOfMessage("IllegalArgumentException: other"), ErrorKind::kRun);
  EXPECT_EQ(KindOfMessage("SqlParserException: x"), ErrorKind::kParse);
  Expectation message;
  message.kind = ExpectKind::kMessage;
  message.lines = {"TableException: x"};
  UnitAnswer answer;
  EXPECT_TRUE(Compare(message, answer, {}));
  answer.failure = Status::Plan("y");
  EXPECT_FALSE(Compare(message, answer, {}));
  answer.failure = Status::DataError("y");
  EXPECT_TRUE(Compare(message, answer, {}));
}

TEST(Expected, NamesTheFirstDifferingLine) {
  Expectation changelog;
  changelog.lines = {"+I [1]", "+I [2]"};
  UnitAnswer answer;
  answer.lines[ExpectKind::kChangelog] = {"+I [1]", "+I [3]"};
  EXPECT_EQ(
      *Compare(changelog, answer, {}),
      "    first difference in line 2\n      same +I [1]\n      want +I [2]\n      got  +I [3]\n");
}

TEST(Deviations, ReadThePartOfARow) {
  EXPECT_EQ(*CompatAnswerOf({"9", "zeros as keys: one group"}), CompatAnswer::kFlink);
  EXPECT_EQ(*CompatAnswerOf({"9", "order: NaN"}), CompatAnswer::kSame);
  EXPECT_FALSE(CompatAnswerOf({"99", ""}).ok());
}

class SkipsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "rowtide-skips-test";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "a");
    std::ofstream(folder_ / "a" / "x.test") << "";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& text) { std::ofstream(folder_ / "skips") << text; }

  std::filesystem::path folder_;
};

TEST_F(SkipsTest, NameUnitsOrWholeScripts) {
  Write("# comment\na/x.test:2   regular join\na/y.test OVER\n");
  SkipList skips;
  ASSERT_TRUE(skips.ReadAround(folder_ / "a" / "x.test").ok());
  EXPECT_EQ(skips.Find(folder_ / "a" / "x.test", 1), nullptr);
  EXPECT_EQ(*skips.Find(folder_ / "a" / "x.test", 2), "regular join");
  EXPECT_EQ(*skips.Find(folder_ / "a" / "y.test", 7), "OVER");
  EXPECT_TRUE(skips.Check(folder_ / "a" / "x.test", 2).ok());
  EXPECT_FALSE(skips.Check(folder_ / "a" / "x.test", 1).ok());
  EXPECT_FALSE(skips.CheckScriptsExist().ok());
}

TEST_F(SkipsTest, NeedAConstruct) {
  Write("a/x.test\n");
  SkipList skips;
  EXPECT_FALSE(skips.Read(folder_ / "skips").ok());
}

}  // namespace
}  // namespace rowtide

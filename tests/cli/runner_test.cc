// Whole scripts through the runner: verdicts, skips, deviations, recording.
#include "cli/script/runner.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace rowtide {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTables = R"(--- sql
CREATE TABLE t (k STRING, v INT) WITH ('connector'='rows');

--- input
t +I ["a",1]
# a comment
t +I ["b",2]
t +I ["a",3]
)";

class RunnerTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "rowtide-runner-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  ScriptReport Run(const std::string& blocks, RunMode mode = RunMode::kCompare) {
    Write("x.test", kTables + std::string("\n") + blocks);
    SkipList skips;
    EXPECT_TRUE(skips.ReadAround(folder_ / "x.test").ok());
    RunnerOptions options;
    options.mode = mode;
    return RunScript(folder_ / "x.test", skips, options);
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string Read(const std::string& name) {
    std::ifstream in(folder_ / name);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }

  fs::path folder_;
};

constexpr const char* kSum = "--- query\nSELECT k, SUM(v) AS s FROM t GROUP BY k\n\n";
constexpr const char* kSums =
    "--- changelog\n+I [\"a\",1]\n+I [\"b\",2]\n-U [\"a\",1]\n+U [\"a\",4]\n";

TEST_F(RunnerTest, PassesWhatIsAsExpected) {
  const ScriptReport report =
      Run(std::string(kSum) + kSums + "\n--- table\n[\"a\",4]\n[\"b\",2]\n");
  EXPECT_EQ(report.Count(UnitVerdict::kPassed), 1) << report.text;
  EXPECT_EQ(report.text, "");
}

TEST_F(RunnerTest, ShowsTheFirstRowThatDiffers) {
  const ScriptReport report = Run(std::string(kSum) + "--- table\n[\"a\",5]\n[\"b\",2]\n");
  EXPECT_EQ(report.Count(UnitVerdict::kFailed), 1);
  EXPECT_NE(report.text.find("x.test:10 query"), std::string::npos) << report.text;
  EXPECT_NE(report.text.find("want [\"a\",5]"), std::string::npos) << report.text;
  EXPECT_NE(report.text.find("got  [\"a\",4]"), std::string::npos) << report.text;
}

TEST_F(RunnerTest, SkipsWhatTheListNames) {
  Write("skips", "x.test:2  regular join\n");
  const ScriptReport report =
      Run(std::string(kSum) + kSums + "\n--- query\nSELECT * FROM nowhere\n");
  EXPECT_EQ(report.Count(UnitVerdict::kPassed), 1) << report.text;
  EXPECT_EQ(report.Count(UnitVerdict::kSkipped), 1);
  EXPECT_EQ(report.units[1].construct, "regular join");
}

TEST_F(RunnerTest, FailsWhatABrokenScriptDidNotReach) {
  const ScriptReport report = Run("--- sql\nCREATE TABEL x;\n\n" + std::string(kSum) + kSums);
  EXPECT_EQ(report.Count(UnitVerdict::kFailed), 1);
  EXPECT_NE(report.text.find("the sql block in line 10 fails"), std::string::npos) << report.text;
}

TEST_F(RunnerTest, ComparesKindsOfErrors) {
  const ScriptReport report =
      Run("--- error\nSELECT nope FROM t\n\n--- message\nSqlValidatorException: whatever\n\n"
          "--- error\nSELECT 1 / (v - v) FROM t\n\n--- message\nArithmeticException: / by zero\n\n"
          "--- error\nSELECT k FROM t\n\n--- message\nTableException: it does not fail\n");
  EXPECT_EQ(report.Count(UnitVerdict::kPassed), 2) << report.text;
  EXPECT_EQ(report.Count(UnitVerdict::kFailed), 1);
}

TEST_F(RunnerTest, RunsADeviationTwice) {
  const std::string differs = "--- flink-differs 15.7 equal rows\n\n";
  const std::string other = "--- table\n[\"a\",0]\n\n--- rowtide table\n[\"a\",4]\n[\"b\",2]\n";
  const ScriptReport same = Run(kSum + differs + other);
  EXPECT_EQ(same.Count(UnitVerdict::kPassed), 1) << same.text;
  const ScriptReport flinks = Run(std::string(kSum) + "--- flink-differs 15.1 ranks\n\n" + other);
  EXPECT_EQ(flinks.Count(UnitVerdict::kFailed), 1);
  EXPECT_NE(flinks.text.find("under rowtide.flink-compat"), std::string::npos) << flinks.text;
}

TEST_F(RunnerTest, RecordsWhatComesOut) {
  const ScriptReport report = Run(kSum, RunMode::kRecord);
  EXPECT_EQ(report.Count(UnitVerdict::kPassed), 1) << report.text;
  EXPECT_EQ(Read("x.test"),
            kTables + std::string("\n") + kSum + kSums + "\n--- table\n[\"a\",4]\n[\"b\",2]\n");
  EXPECT_EQ(Run(Read("x.test").substr(std::string(kTables).size() + 1)).Count(UnitVerdict::kPassed),
            1);
}

TEST_F(RunnerTest, LeavesRecordingToFlinkWhereAMarkerSaysSo) {
  Write("recorded-by-flink", "");
  const ScriptReport report = Run(kSum, RunMode::kRecord);
  EXPECT_EQ(report.Count(UnitVerdict::kFailed), 1);
  EXPECT_EQ(Read("x.test").find("--- changelog"), std::string::npos);
}

TEST_F(RunnerTest, ShowsFilesThatAWriteHasAdded) {
  const ScriptReport report =
      Run("--- sql\nCREATE TABLE f (k STRING, v INT) WITH "
          "('connector'='filesystem','path'='${TMP}/out','format'='csv');\n\n"
          "--- write\nINSERT INTO f SELECT k, v FROM t\n\n"
          "--- files\nout/part-*: a,1\nout/part-*: a,3\nout/part-*: b,2\n");
  EXPECT_EQ(report.Count(UnitVerdict::kPassed), 1) << report.text;
}

TEST_F(RunnerTest, ReadsRowsFromAFile) {
  Write("rows.csv", "x,7\n,8\n");
  const ScriptReport report =
      Run("--- rows t rows.csv\n\n--- query\nSELECT k, v FROM t\n\n"
          "--- changelog\n+I [\"x\",7]\n+I [null,8]\n");
  EXPECT_EQ(report.Count(UnitVerdict::kPassed), 1) << report.text;
}

}  // namespace
}  // namespace rowtide

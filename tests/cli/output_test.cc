// How rows, tables, stats and errors are printed.
#include "cli/output.h"

#include <gtest/gtest.h>

#include "cli/error.h"
#include "cli/progress.h"
#include "cli/shell/statement_text.h"
#include "cli/stats_table.h"
#include "cli/text_table.h"
#include "engine/batch_builder.h"

namespace rowtide {
namespace {

Schema Schema2() { return Schema({{"id", Type::Int()}, {"name", Type::String()}}); }

RowBatch Rows() {
  return BatchOf(Schema2(),
                 {{RowKind::kInsert, {Value(int64_t{2}), Value(std::string("a,\"b\""))}},
                  {RowKind::kInsert, {Value(int64_t{1}), Value()}},
                  {RowKind::kDelete, {Value(int64_t{2}), Value(std::string("a,\"b\""))}}});
}

std::string Printed(OutputMode mode, bool terminated = false,
                    std::optional<int64_t> rows_max = {}) {
  char* bytes = nullptr;
  size_t size = 0;
  std::FILE* file = open_memstream(&bytes, &size);
  ResultOptions options;
  options.mode = mode;
  options.rows_max = rows_max;
  const std::unique_ptr<ResultSink> sink = ResultSink::Create(options, Schema2(), file);
  EXPECT_TRUE(sink->Write(Rows()).ok());
  EXPECT_TRUE((terminated ? sink->Terminate() : sink->Finish()).ok());
  std::fclose(file);
  std::string text(bytes, size);
  std::free(bytes);
  return text;
}

TEST(Output, ChangelogIsScriptText) {
  EXPECT_EQ(Printed(OutputMode::kChangelog),
            "+I [2,\"a,\\\"b\\\"\"]\n+I [1,null]\n-D [2,\"a,\\\"b\\\"\"]\n");
}

TEST(Output, JsonHasOneObjectARow) {
  EXPECT_EQ(Printed(OutputMode::kJson, false, 1),
            "{\"op\":\"+I\",\"row\":{\"id\":2,\"name\":\"a,\\\"b\\\"\"}}\n");
}

TEST(Output, CsvHasTheKindFirst) {
  EXPECT_EQ(Printed(OutputMode::kCsv),
            "op,id,name\n+I,2,\"a,\"\"b\"\"\"\n+I,1,\n-D,2,\"a,\"\"b\"\"\"\n");
}

TEST(Output, TableIsWhatTheChangelogFoldsTo) {
  EXPECT_EQ(Printed(OutputMode::kTable),
            "+----+--------+\n"
            "| id |   name |\n"
            "+----+--------+\n"
            "|  1 | <NULL> |\n"
            "+----+--------+\n"
            "1 row in set\n");
}

TEST(Output, TableauIsFlinks) {
  EXPECT_EQ(Printed(OutputMode::kTableau, true, 2),
            "+----+-------------+--------------------------------+\n"
            "| op |          id |                           name |\n"
            "+----+-------------+--------------------------------+\n"
            "| +I |           2 |                          a,\"b\" |\n"
            "| +I |           1 |                         <NULL> |\n"
            "+----+-------------+--------------------------------+\n"
            "Query terminated, received a total of 2 rows\n");
}

TEST(TextTable, CountsFullWidthCharactersTwice) {
  EXPECT_EQ(DisplayWidth("aé漢字"), 6);
  std::string text;
  TableLayout({6}).AppendRow({"漢字漢字"}, Align::kLeft, &text);
  EXPECT_EQ(text, "| 漢...  |\n");
}

TEST(TextTable, CountsWhatTheTerminalShows) {
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);             // a combining accent
  EXPECT_EQ(DisplayWidth("\u200d\u2764\ufe0f"), 1);  // a joiner, a heart, a variation selector
  EXPECT_EQ(DisplayWidth("\U0001f600"), 2);
  EXPECT_EQ(DisplayWidth("\uff21\uff71"), 3);  // a full-width and a half-width letter
  EXPECT_EQ(DisplayWidth("a\xff"), 2);         // a stray byte
}

TEST(TextTable, ShowsControlCharacters) {
  std::string text;
  TableLayout({12}).AppendRow({"a\n\x1b[31m\t"}, Align::kLeft, &text);
  EXPECT_EQ(text, "| a\\n\\x1b[3... |\n");
}

TEST(TextTable, FitsTheTerminal) {
  std::vector<int> widths = {2, 30, 20, 30};
  FitWidths({2, 4, 20, 8}, 60, &widths);
  EXPECT_EQ(widths, (std::vector<int>{2, 12, 20, 13}));
  FitWidths({2, 4, 20, 8}, 10, &widths);  // never below what may be cut
  EXPECT_EQ(widths, (std::vector<int>{2, 6, 20, 8}));
}

TEST(Progress, SaysWhatIsKnown) {
  JobProgress progress;
  progress.rows_read = 12345678;
  EXPECT_EQ(ProgressText(progress, 10, 0), "12,345,678 rows  1.2 M rows/s");
  progress.bytes_read = 337;
  progress.bytes_total = 1000;
  progress.watermark = 1767225603000;
  progress.state_bytes = 12897485;
  EXPECT_EQ(ProgressText(progress, 10, 0),
            "12,345,678 rows  1.2 M rows/s  34 %  watermark 2026-01-01 00:00:03.000  state 12.3 "
            "MiB");
  EXPECT_EQ(ProgressText(progress, 10, 20).size(), 19u);
}

TEST(StatementText, EndsWhereItsSemicolonIs) {
  EXPECT_EQ(LookAt(" -- nothing ;\n /* ; */"), Typed::kNothing);
  EXPECT_EQ(LookAt("SELECT 1"), Typed::kStatement);
  EXPECT_EQ(LookAt("SELECT 1; -- done"), Typed::kComplete);
  EXPECT_EQ(LookAt("SELECT 1; SELECT"), Typed::kStatement);
  EXPECT_EQ(LookAt("SELECT 'a;"), Typed::kString);
  EXPECT_EQ(LookAt("SELECT 'it''s;"), Typed::kString);
  EXPECT_EQ(LookAt("SELECT `a;"), Typed::kName);
  EXPECT_EQ(LookAt("SELECT /* ;"), Typed::kComment);
  EXPECT_EQ(LookAt("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1;"), Typed::kStatement);
  EXPECT_EQ(LookAt("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN b THEN 1 END;"),
            Typed::kStatement);
  EXPECT_EQ(LookAt("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END;"), Typed::kComplete);
}

TEST(StatementText, IsRememberedOnOneLine) {
  EXPECT_EQ(OnOneLine("SELECT a, -- the key\n  'x  -- y'\n/* no */ FROM t;\n"),
            "SELECT a, 'x  -- y' FROM t;");
}

TEST(TextTable, SaysWhenNothingIsThere) {
  EXPECT_EQ(ResultTable({"a"}, {}, Align::kRight), "Empty set\n");
}

TEST(Error, PointsAtTheWord) {
  const Status error = Status::Validate({2, 8, 2, 12}, "column 'amout' not found")
                           .WithHint("did you mean 'amount'?");
  EXPECT_EQ(ErrorText(error, "job.sql", "SELECT 1;\nSELECT amout FROM t"),
            "error[RT2000]: column 'amout' not found\n"
            "  --> job.sql:2:8\n"
            "   |\n"
            " 2 | SELECT amout FROM t\n"
            "   |        ^^^^^\n"
            "  = hint: did you mean 'amount'?\n");
  EXPECT_EQ(ExitCodeOf(error), 2);
  EXPECT_EQ(ExitCodeOf(Status::DataError("x")), 3);
  EXPECT_EQ(ExitCodeOf(Status::External("x")), 4);
  EXPECT_EQ(ExitCodeOf(Status::Internal("x")), 1);
}

TEST(Error, ShowsALongLineAroundThePlace) {
  const std::string line = std::string(300, 'a') + "é BAD" + std::string(300, 'b');
  const std::string text = ErrorText(Status::Validate({1, 303, 1, 305}, "x"), "-c", line);
  EXPECT_NE(text.find(" 1 | …" + std::string(47, 'a') + "é BAD" + std::string(48, 'b') + "…\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("   | " + std::string(50, ' ') + "^^^\n"), std::string::npos) << text;
  const std::string end = ErrorText(Status::Validate({1, 605, 1, 605}, "x"), "-c", line);
  EXPECT_NE(end.find(" 1 | …" + std::string(100, 'b') + "\n"), std::string::npos) << end;
}

TEST(Error, IsOneObjectAsJson) {
  const Status error =
      Status::Validate({2, 8, 2, 12}, "no column \"a\"\n\xff").WithHint("did you mean 'b'?");
  EXPECT_EQ(
      ErrorJson(error, "job.sql"),
      "{\"code\":\"RT2000\",\"kind\":\"validate\",\"message\":\"no column "
      "\\\"a\\\"\\n\ufffd\",\"exit\":2,\"span\":{\"file\":\"job.sql\",\"line\":2,\"column\":8,"
      "\"end_line\":2,\"end_column\":12},\"hint\":\"did you mean 'b'?\"}\n");
}

TEST(Stats, SaysWhatBecameOfRecords) {
  NodeStats node;
  node.name = "TableSourceScan(t)";
  node.rows_out = {4, 0, 0, 0};
  node.counters = {{"records_read", 6}, {"rejected", 2}, {"cast", 2}};
  std::string text = StatsTable({node}, 0.5, 4);
  EXPECT_NE(text.find("TableSourceScan(t): 6 records read = 4 rows emitted + 2 rejected\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(" cast=2\n"), std::string::npos) << text;
  node.rows_out = {3, 0, 0, 0};
  text = StatsTable({node}, 0.5, 3);
  EXPECT_NE(text.find("6 records read != 3 rows emitted + 2 rejected\n"), std::string::npos);
}

TEST(Stats, SaysWhatCheckpointsHaveCost) {
  using std::chrono::microseconds;
  EXPECT_EQ(CheckpointLine({}), "");
  EXPECT_EQ(CheckpointLine({3, 1, microseconds(2310), microseconds(812'000)}),
            "3 checkpoints completed, 1 failed, longest stop 2.310 ms, last one 0.812 s\n");
}

TEST(Stats, HasOneLineANode) {
  NodeStats node;
  node.name = "Rank";
  node.rows_in = 4;
  node.rows_out = {4, 1, 1, 0};
  node.counters = {{"late", 2}, {"expired", 0}};
  const std::string text = StatsTable({node}, 0.5, 4);
  EXPECT_NE(text.find("Rank        4   4   1   1   0           1.50"), std::string::npos) << text;
  EXPECT_NE(text.find("late=2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("4 rows emitted by sources in 0.500 s, 8 rows/s\n"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace rowtide

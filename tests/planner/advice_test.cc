// The Advice of EXPLAIN: what keeps a query from a cheaper plan, and what it costs.
#include "planner/physical/advice.h"

#include <gtest/gtest.h>

#include "planner/session.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

constexpr const char* kTables =
    "CREATE TABLE e (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) "
    "WITH ('connector' = 'rows');"
    "CREATE TABLE plain (k STRING, v INT, ts TIMESTAMP(3)) WITH ('connector' = 'rows');"
    "CREATE TABLE upserts (k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) "
    "WITH ('connector' = 'rows', 'changelog-mode' = 'I,UA,D');"
    "CREATE TABLE by_v (k STRING, v INT, PRIMARY KEY (v) NOT ENFORCED) "
    "WITH ('connector' = 'collect', 'changelog-mode' = 'I,UA,D');";

// The lines of the section, or the error.
std::string AdviceOn(const std::string& sql) {
  Session session;
  const std::string text = kTables + sql;
  ScriptParser parser(text);
  std::string plan;
  while (true) {
    Result<std::optional<ast::Statement>> statement = parser.NextStatement();
    if (!statement.ok()) return statement.status().ToString();
    if (!*statement) break;
    if ((*statement)->as<ast::QueryPointer>() || (*statement)->as<ast::Insert>()) {
      const Result<ExplainText> explained = session.Explain(**statement);
      if (!explained.ok()) return explained.status().message() + " | " + explained.status().hint();
      plan = explained->text;
    } else if (const Result<Outcome> outcome = session.Execute(**statement); !outcome.ok()) {
      return outcome.status().ToString();
    }
  }
  const std::string title = "== Advice ==\n";
  const size_t at = plan.find(title);
  return at == std::string::npos ? "" : plan.substr(at + title.size());
}

std::string Ranked(const std::string& order, const std::string& where,
                   const std::string& from = "e") {
  return "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY " + order +
         ") AS rn FROM " + from + ") WHERE " + where;
}

TEST(Advice, SaysNothingOfTheCheapestPlan) {
  EXPECT_EQ(AdviceOn(Ranked("ts ASC", "rn = 1")), "");
  EXPECT_EQ(AdviceOn("SELECT k, COUNT(*) FROM e GROUP BY k"), "");
}

TEST(Advice, KeepFirstWouldBeInsertOnly) {
  EXPECT_EQ(AdviceOn(Ranked("ts DESC", "rn <= 1")),
            "near miss: ORDER BY ts DESC keeps the last row of each key, and each newer one "
            "corrects it; ASC would keep the first, which is another answer, but insert-only\n");
}

TEST(Advice, FirstRowsOfSlowInputWaitForACountOfRows) {
  const auto of_pipe = [](const std::string& more) {
    return AdviceOn(
        "CREATE TABLE p (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
        "('connector' = 'filesystem', 'path' = '-', 'format' = 'csv'" +
        more + ");" + Ranked("ts ASC", "rn = 1", "p"));
  };
  EXPECT_EQ(of_pipe(""),
            "cost: ORDER BY ts ASC lets a first row out when the watermark has passed it, and that "
            "of p moves after every 1,024 rows; 'scan.watermark.emit.strategy' = 'on-event' moves "
            "it with each row\n");
  EXPECT_EQ(of_pipe(", 'scan.watermark.emit.strategy' = 'on-event'"), "");
}

TEST(Advice, OrderByATimeAttributeAloneMakesADeduplicate) {
  EXPECT_EQ(AdviceOn(Ranked("v DESC", "rn = 1")),
            "near miss: ORDER BY v is no time attribute, so this is a Top-1 (Rank) and not a "
            "Deduplicate; ORDER BY ts DESC keeps the last row of each key and needs less state "
            "(of rows with the same time a Top-1 keeps the first to come, a Deduplicate the "
            "last)\n");
  EXPECT_EQ(AdviceOn(Ranked("ts DESC, v", "rn = 1")),
            "near miss: ORDER BY ts DESC, v ASC names more than a time attribute, so this is a "
            "Top-1 (Rank) and not a Deduplicate; ORDER BY ts DESC alone makes one\n");
  EXPECT_EQ(AdviceOn(Ranked("ts", "rn = 1", "plain")),
            "near miss: ts has no WATERMARK, so it is no time attribute and this is a Top-1 (Rank) "
            "and not a Deduplicate; in plain: WATERMARK FOR ts AS ts - INTERVAL '5' SECOND\n");
  EXPECT_EQ(AdviceOn(Ranked("ts + INTERVAL '1' SECOND", "rn = 1")),
            "near miss: ORDER BY is by an expression over a time attribute, which is none itself, "
            "so this is a Top-1 (Rank) and not a Deduplicate; ORDER BY the attribute makes one\n");
}

TEST(Advice, OfRankingsThatCost) {
  EXPECT_EQ(AdviceOn("SELECT k, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) "
                     "AS rn FROM e) WHERE rn BETWEEN 2 AND 5"),
            "cost: the rank number is in the output: one row that moves up resends up to 5 rows; "
            "without the number a change gives two rows at most\n"
            "cost: ranks 2 to 5 are asked for, but all rows from rank 1 on are kept to know "
            "them\n");
}

TEST(Advice, OfDirections) {
  const std::string counted = "(SELECT k, COUNT(*) AS n FROM e GROUP BY k)";
  const auto top = [&](const std::string& order, const std::string& from) {
    return "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY " + order + ") AS rn FROM " +
           from + ") WHERE rn <= 3";
  };
  const std::string retract =
      "cost: the ranking keeps every row of its input, not only the first ones (Retract), since a "
      "row that is shown may be taken back or fall behind\n";
  EXPECT_EQ(AdviceOn(top("n DESC", counted)), "");
  EXPECT_EQ(AdviceOn(top("n ASC", counted)),
            retract +
                "near miss: n only grows, so with ORDER BY n DESC rows could not fall behind and "
                "only the first ones would be kept (UpdateFast)\n");
  EXPECT_EQ(AdviceOn(top("n DESC", "(SELECT k, SUM(v) AS n FROM e GROUP BY k)")),
            retract +
                "near miss: n may grow and fall; of a value that only grows, such as COUNT, MAX, "
                "or SUM of what WHERE says is not negative, ORDER BY … DESC keeps the first rows "
                "only (UpdateFast)\n");
}

TEST(Advice, OfNumbersWithoutABound) {
  const std::string over = "SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM e";
  EXPECT_EQ(AdviceOn(over),
            "near miss: ROW_NUMBER() is not bounded by a WHERE right above it, so every row is "
            "numbered and none is dropped; WHERE rn <= N makes it a Top-N, WHERE rn = 1 a "
            "deduplication\n");
  EXPECT_NE(AdviceOn("SELECT * FROM (" + over + ") WHERE rn <> 2")
                .find("is not compared with a number in a way that bounds it"),
            std::string::npos);
  EXPECT_NE(AdviceOn("SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) FROM e")
                .find("for a Top-N bound the number right above it"),
            std::string::npos);
  EXPECT_NE(AdviceOn("SELECT * FROM (SELECT k, RANK() OVER (PARTITION BY k ORDER BY v) AS rn FROM "
                     "e) WHERE rn = 1")
                .find("ROW_NUMBER() numbers rows that tie"),
            std::string::npos);
}

TEST(Advice, OfStateThatGrows) {
  EXPECT_EQ(AdviceOn("SELECT v, COUNT(DISTINCT k) FROM e GROUP BY v"),
            "cost: COUNT(DISTINCT k) keeps every value of each group\n");
  EXPECT_EQ(AdviceOn("SELECT v, MAX(k) FROM upserts GROUP BY v"),
            "cost: MAX(k) keeps every value of each group, since its input can take rows back\n"
            "cost: the source gives updates without what was before them, so ChangelogNormalize "
            "keeps the last row of every k\n");
  EXPECT_EQ(AdviceOn("INSERT INTO by_v SELECT k, MAX(v) FROM e GROUP BY k ON CONFLICT DO "
                     "DEDUPLICATE"),
            "cost: the query has the key k, the sink by_v another one, so the sink keeps all rows "
            "that meet under each of its keys (upsertMaterialize)\n");
}

TEST(Advice, IsLeftOutUnderFlinkCompat) {
  EXPECT_EQ(AdviceOn("SET 'rowtide.flink-compat' = 'true';" + Ranked("ts DESC", "rn = 1")), "");
}

}  // namespace
}  // namespace rowtide

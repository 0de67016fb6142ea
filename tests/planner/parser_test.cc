// The parser: what it reads it can print, and what it refuses it refuses at the right place.
#include "planner/sql/parser.h"

#include <gtest/gtest.h>

#include "planner/sql/unparse.h"

namespace rowtide {
namespace {

// Parse, print, parse, print: the two texts are one.
void ExpectFixpoint(const std::string& sql) {
  const auto first = ParseScript(sql);
  ASSERT_TRUE(first.ok()) << sql << "\n" << first.status().ToString();
  for (const ast::Statement& statement : *first) {
    const std::string printed = Unparse(statement);
    const auto second = ParseScript(printed);
    ASSERT_TRUE(second.ok()) << printed << "\n" << second.status().ToString();
    ASSERT_EQ(second->size(), 1u) << printed;
    EXPECT_EQ(Unparse((*second)[0]), printed);
  }
}

TEST(Parser, PrintsWhatItReads) {
  for (const char* sql : {
           "SELECT 1, 'it''s', .5, 1E3, -x, NULL, TRUE, X'0aff', DATE '2026-01-01', INTERVAL '1 "
           "02' DAY TO HOUR",
           "SELECT DISTINCT a.b AS c, t.*, COUNT(*), COUNT(DISTINCT v) FILTER (WHERE v > 1) FROM "
           "db.t AS a GROUP BY a.b",
           "SELECT a OR b AND NOT c = d + e * f, (a OR b) AND c, a || b || c, x % 2 FROM t",
           "SELECT * FROM t WHERE a BETWEEN 1 AND 2 AND b NOT IN (1, 2) AND c LIKE 'x!%' ESCAPE "
           "'!' OR d IS NOT DISTINCT FROM e",
           "SELECT CASE x WHEN 1 THEN 'a' ELSE 'b' END, CASE WHEN a THEN b END, CAST(a AS "
           "DECIMAL(10, 2)), TRY_CAST(b AS STRING) FROM t",
           "SELECT ROW_NUMBER() OVER (PARTITION BY k, v ORDER BY ts DESC NULLS LAST, id), SUM(v) "
           "OVER w FROM t WINDOW w AS "
           "(PARTITION BY k ORDER BY ts ROWS BETWEEN 5 PRECEDING AND CURRENT ROW)",
           "SELECT EXTRACT(DAY FROM ts), TRIM(BOTH 'x' FROM k), SUBSTRING(k FROM 2 FOR 3), "
           "POSITION('a' IN k), FLOOR(ts TO HOUR), "
           "OVERLAY(k PLACING 'x' FROM 1), TIMESTAMPADD(DAY, 1, ts), TIMESTAMPDIFF(SECOND, a, b) "
           "FROM t",
           "SELECT JSON_VALUE(j, 'lax $.a' RETURNING INT DEFAULT 1 ON EMPTY NULL ON ERROR), "
           "JSON_EXISTS(j, '$.b'), "
           "JSON_OBJECT(KEY 'a' VALUE 1), JSON_ARRAY(1, 2), j IS JSON OBJECT FROM t",
           "WITH x AS (SELECT 1 AS a), y (b) AS (VALUES (1), (2)) SELECT * FROM x, y WHERE a = b "
           "ORDER BY a DESC LIMIT 3 OFFSET 1",
           "(SELECT a FROM t LIMIT 2) UNION ALL SELECT b FROM u UNION SELECT c FROM v INTERSECT "
           "SELECT d FROM w",
           "SELECT * FROM (SELECT * FROM t) AS x (a, b) LEFT JOIN u ON x.a = u.a CROSS JOIN v JOIN "
           "w USING (a, b)",
           "SELECT * FROM t, LATERAL (SELECT * FROM u WHERE u.k = t.k LIMIT 1) AS l",
           "SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES))",
           "SELECT * FROM t /*+ OPTIONS('a' = 'b') */ AS x QUALIFY ROW_NUMBER() OVER (ORDER BY v) "
           "= 1",
           "SELECT a, SUM(b) FROM t GROUP BY GROUPING SETS ((a, b), (a), ()), CUBE (a), ROLLUP (b) "
           "HAVING SUM(b) > 1",
           "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u) AND a IN (SELECT b FROM v) AND c = "
           "(SELECT MAX(d) FROM w)",
           "SELECT `select`, `a b`, t.`value` FROM `my table` AS t",
           "INSERT INTO s (a, b) SELECT a, b FROM t ON CONFLICT DO DEDUPLICATE",
           "INSERT INTO s VALUES (1, 'a'), (2, 'b')",
           "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
           "EXPLAIN CHANGELOG_MODE, PLAN_ADVICE SELECT 1",
           "CREATE TEMPORARY TABLE IF NOT EXISTS t (a INT NOT NULL COMMENT 'x', b AS a + 1, c "
           "TIMESTAMP(3) METADATA FROM 'ts' VIRTUAL, "
           "WATERMARK FOR c AS c - INTERVAL '5' SECOND, CONSTRAINT pk PRIMARY KEY (a) NOT "
           "ENFORCED) COMMENT 'y' PARTITIONED BY (a) WITH "
           "('connector' = 'rows') LIKE o (INCLUDING ALL OVERWRITING OPTIONS)",
           "CREATE VIEW v (a, b) COMMENT 'c' AS SELECT 1, 2",
           "DROP TEMPORARY VIEW IF EXISTS v; SET 'a' = 'b'; SET; RESET 'a'; RESET; SHOW TABLES; "
           "SHOW CREATE TABLE t; DESCRIBE t; USE CATALOG c",
       }) {
    ExpectFixpoint(sql);
  }
}

SourcePosition WhereItFails(const std::string& sql, ErrorKind kind = ErrorKind::kParse) {
  const auto parsed = ParseScript(sql);
  EXPECT_FALSE(parsed.ok()) << sql;
  EXPECT_EQ(parsed.status().kind(), kind) << sql << " " << parsed.status().message();
  return parsed.status().position();
}

TEST(Parser, SaysWhere) {
  EXPECT_EQ(WhereItFails("SELECT a,\n  FROM t").line, 2);
  EXPECT_EQ(WhereItFails("SELECT a,\n  FROM t").column, 3);
  EXPECT_EQ(WhereItFails("SELECT 'abc").column, 8);
  EXPECT_EQ(WhereItFails("SELECT a FROM t WHERE").column, 22);
  EXPECT_EQ(WhereItFails("SELECT value FROM t").column, 8);
  EXPECT_EQ(WhereItFails("CREATE TABLE t (a INT,)").column, 23);
  EXPECT_EQ(WhereItFails("SET a = 'b'").column, 5);
  EXPECT_EQ(WhereItFails("SELECT 1 /* x").column, 10);
  EXPECT_EQ(WhereItFails("INSERT INTO s SELECT 1 ON CONFLICT DO NOTHINGS").column, 39);
}

std::string HintOf(const std::string& text) {
  const auto parsed = ParseScript(text);
  return parsed.ok() ? "parses" : parsed.status().hint();
}

TEST(Parser, SaysWhatWasMeant) {
  EXPECT_EQ(HintOf("SELECT ROW_NUMBER() OVER (PARTITON BY a ORDER BY b) FROM t"),
            "Did you mean PARTITION in place of PARTITON?");
  EXPECT_EQ(HintOf("SELECT a FORM t"), "Did you mean FROM in place of FORM?");
  EXPECT_EQ(HintOf("CREATE TABEL t (a INT)"), "Did you mean TABLE?");
  EXPECT_EQ(HintOf("SELECT 1 SELECT 2"), "Put ; between two statements.");
  EXPECT_EQ(HintOf("SET 'a' = 'b'\nINSERT INTO t SELECT 1"), "Put ; between two statements.");
  EXPECT_EQ(HintOf("CREATE TABLE t (a INT,)"), "Take away the comma before it.");
  EXPECT_EQ(HintOf("SET a = 'b'"), "Both sides stand in single quotes: SET 'key' = 'value'.");
  EXPECT_EQ(HintOf("SELECT value FROM t"), "Put it in back-ticks to use it as a name: `value`.");
  EXPECT_EQ(HintOf("SELECT a::INT FROM t"), "Write CAST(value AS type).");
  EXPECT_EQ(HintOf("SELECT CURRENT_TIMESTAMP()"), "Write CURRENT_TIMESTAMP without parentheses.");
  EXPECT_EQ(HintOf("CREATE TABLE t (a DATETIME)"), "The nearest is TIMESTAMP(3).");
  EXPECT_EQ(HintOf("CREATE TABLE t (a JSON)"), "The nearest is STRING.");
  EXPECT_EQ(HintOf("CREATE TABLE t (a VARCHAR2(3))"), "The nearest is VARCHAR.");
}

TEST(Parser, GoesOnBehindABrokenStatement) {
  ScriptParser parser("SELECT 1; SELEC 2; SELECT ';' ; SELECT FROM; SELECT 3");
  std::vector<bool> ok;
  while (true) {
    const auto statement = parser.NextStatement();
    if (statement.ok() && !*statement) break;
    ok.push_back(statement.ok());
    ASSERT_LT(ok.size(), 10u);
  }
  EXPECT_EQ(ok, (std::vector<bool>{true, false, true, false, true}));
}

TEST(Parser, BoundsWhatInputCanGrow) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  WhereItFails("SELECT " + repeated("(", 300) + "1" + repeated(")", 300));
  WhereItFails("SELECT 1" + repeated(" + 1", 5000));
  WhereItFails("SELECT " + repeated("- ", 300) + "x FROM t");
  WhereItFails("SELECT x IN (1" + repeated(", 1", 70000) + ") FROM t");
  WhereItFails("SELECT '" + std::string(2 << 20, 'x') + "'");
  const std::string long_or = "SELECT * FROM t WHERE a = 1" + repeated(" OR a = 2", 20000);
  EXPECT_TRUE(ParseScript(long_or).ok());
}

// Whatever the text, the parser answers; sanitizers watch.
TEST(Parser, SurvivesMutations) {
  const std::string sql =
      "WITH x AS (SELECT a, COUNT(*) FILTER (WHERE b > 1) FROM `t` /*+ OPTIONS('k'='v') */ GROUP "
      "BY a) INSERT INTO s (a) SELECT CASE WHEN "
      "e'\\u263A' LIKE 'a%' THEN U&'\\263A' END, INTERVAL '1' DAY, CAST(x AS DECIMAL(10, 2)) FROM "
      "x LEFT JOIN y USING (a) WHERE a IN (1, 2) "
      "QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) = 1 ORDER BY 1 LIMIT 5 /* c */ -- d\n;"
      "CREATE TABLE t (a ROW<b INT, c ARRAY<INT>>, WATERMARK FOR ts AS ts) WITH ('a' = 'b')";
  uint64_t state = 42;
  const auto next = [&state](size_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % bound;
  };
  constexpr std::string_view kBytes = "()[]<>'`\"*/-+.,;=%|:&eUx0 \n\\\xFF\xC3";
  for (int round = 0; round < 3000; ++round) {
    std::string mutated = sql;
    for (size_t edits = 1 + next(6); edits > 0; --edits) {
      const size_t at = next(mutated.size());
      switch (next(3)) {
        case 0: mutated.erase(at, 1 + next(20)); break;
        case 1: mutated.insert(at, 1, kBytes[next(kBytes.size())]); break;
        default: mutated.insert(at, mutated.substr(next(mutated.size()), next(30)));
      }
      if (mutated.empty()) mutated = ";";
    }
    ScriptParser parser(mutated);
    size_t statements = 0;
    while (true) {
      const auto statement = parser.NextStatement();
      if (statement.ok() && !*statement) break;
      ASSERT_LE(++statements, mutated.size() + 1) << mutated;
    }
  }
}

TEST(Parser, StatementsKnowTheirText) {
  const std::string sql = "SELECT 1 ;\n  INSERT INTO s SELECT 2";
  const auto parsed = ParseScript(sql);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(sql.substr((*parsed)[0].begin, (*parsed)[0].end - (*parsed)[0].begin), "SELECT 1");
  EXPECT_EQ(sql.substr((*parsed)[1].begin, (*parsed)[1].end - (*parsed)[1].begin),
            "INSERT INTO s SELECT 2");
  EXPECT_EQ((*parsed)[1].position.line, 2);
}

}  // namespace
}  // namespace rowtide

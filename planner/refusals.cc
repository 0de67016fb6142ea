#include "planner/refusals.h"

namespace rowtide {
namespace {

struct WayOut {
  std::string_view construct;  // the beginning of its name
  const char* article;         // that goes before it in a sentence
  const char* hint;
};

constexpr const char* kText =
    "Keep such values as STRING with JSON text, and take them apart with JSON_VALUE.";
constexpr const char* kByTime =
    "GROUP BY FLOOR(ts TO MINUTE) groups by time, with results that are updated.";
constexpr const char* kOneStream =
    "Rowtide reads one stream at a time so far; UNION ALL brings streams together.";
constexpr const char* kTags =
    "UNION ALL both sides with a tag each, then GROUP BY the columns and use HAVING.";
constexpr const char* kFunctions = "SHOW FUNCTIONS lists those that there are.";

constexpr WayOut kWaysOut[] = {
    {"connector", "", "Use 'connector' = 'filesystem'; the path '-' is standard input or output."},
    {"the constructor", "", kText},
    {"the collection function", "", kText},
    {"access to", "", kText},
    {"the group window", "", kByTime},
    {"function", "", kFunctions},
    {"aggregate function", "", kFunctions},
    {"type", "", kText},
    {"regular join", "a ", kOneStream},
    {"joins", "", kOneStream},
    {"ASOF JOIN", "", kOneStream},
    {"IN sub-query", "an ", "Write the values as a list: IN (1, 2, 3)."},
    {"EXISTS sub-query", "an ",
     "Join the tables before Rowtide reads them, or write the condition out."},
    {"scalar sub-query", "a ", "Run the inner query first, and write its result as a literal."},
    {"comparison with ALL or ANY", "a ", "Write the comparisons out, with AND or OR between them."},
    {"windowing table function", "a ", kByTime},
    {"table function", "the ", kByTime},
    {"OVER aggregation", "",
     "ROW_NUMBER() OVER (…) with a filter on it is supported: Top-N and deduplication."},
    {"FILTER with OVER", "", "Filter the rows in a sub-query below the OVER."},
    {"INTERSECT", "", kTags},
    {"EXCEPT", "", kTags},
    {"GROUP BY with", "", "Write one GROUP BY for each set, and UNION ALL them."},
    {"WITH RECURSIVE", "", "Write the levels out, and UNION ALL them."},
    {"WITHIN GROUP", "", "LISTAGG joins texts in the order of their arrival."},
    {"UNNEST", "", kText},
    {"MATCH_RECOGNIZE", "", "ROW_NUMBER() OVER (…) with a filter on it finds first and last rows."},
    {"named argument", "a ", "Give the arguments by their places."},
    {"table argument", "a ", "Name the table in FROM."},
    {"CREATE TABLE AS", "", "Write CREATE TABLE with its columns, then INSERT INTO it."},
    {"CREATE FUNCTION", "", "SHOW FUNCTIONS lists the functions that there are."},
    {"CREATE", "", "CREATE TABLE, CREATE VIEW and CREATE DATABASE are supported."},
    {"ALTER", "", "DROP it and CREATE it anew."},
    {"DISTRIBUTED BY", "", "Leave it out: there is one lane of work."},
    {"INSERT … PARTITION", "", "Give the value in the SELECT list."},
    {"DEFAULT in VALUES", "", "Leave the column out of INSERT INTO t (…): it becomes NULL."},
    {"EXPLAIN", "", "EXPLAIN and EXPLAIN CHANGELOG_MODE are supported."},
    {"UNIQUE constraint", "a ", "PRIMARY KEY (…) NOT ENFORCED is supported."},
    {"FOR SYSTEM_TIME AS OF", "", kOneStream},
    {"LATERAL with ON", "", "Put the condition into the sub-query's WHERE."},
    {"WATERMARK FOR a nested", "a ", "Make a column of the field: c AS JSON_VALUE(…)."},
    {"DELETE", "", "A row is taken away by a changelog input, or filtered out by a query."},
    {"UPDATE", "", "A row is changed by a changelog input, or by a query that keeps the last row."},
    {"MERGE", "", "A query that keeps the last row per key, written into a table with that key."},
    {"TRUNCATE", "", "DROP the table, and remove its files."},
    {"CALL", "", "There are no procedures here; leave the statement out."},
    {"ANALYZE", "", "There are no statistics to gather; leave the statement out."},
    {"ADD JAR", "", "There are no JARs to load here; leave the statement out."},
    {"LOAD MODULE", "", "There are no modules here; leave the statement out."},
};

const WayOut& WayOutOf(const std::string& construct) {
  static constexpr WayOut kNone = {"", "", "The same file runs on Apache Flink 2.3."};
  for (const WayOut& way : kWaysOut) {
    if (construct.starts_with(way.construct)) return way;
  }
  return kNone;
}

}  // namespace

Status AsSentence(const Status& status) {
  if (status.code() != StatusCode::kUnsupported) return status;
  const std::string& construct = status.message();
  const bool is_sentence = construct.find(" not supported") != std::string::npos;
  const WayOut& way = WayOutOf(construct);
  Status sentence(status.code(), status.kind(),
                  is_sentence ? construct : way.article + construct + " is not supported yet");
  std::string hint = status.hint().empty() ? way.hint : status.hint();
  return std::move(sentence)
      .At(status.position())
      .WithErrorCode(status.error_code())
      .WithHint(std::move(hint));
}

}  // namespace rowtide

#include "planner/refusals.h"

namespace rowtide {
namespace {

struct WayOut {
  std::string_view construct;  // the beginning of its name
  const char* hint;
};

constexpr WayOut kWaysOut[] = {
    {"connector", "Use 'connector' = 'filesystem'; the path '-' is standard input or output."},
    {"function", "SHOW FUNCTIONS lists those that there are."},
    {"aggregate function", "SHOW FUNCTIONS lists those that there are."},
    {"type", "Keep such values as STRING with JSON text, and take them apart with JSON_VALUE."},
    {"regular join",
     "Rowtide reads one stream at a time so far; UNION ALL brings streams together."},
    {"joins", "Rowtide reads one stream at a time so far; UNION ALL brings streams together."},
    {"IN sub-query", "Write the values as a list: IN (1, 2, 3)."},
    {"EXISTS sub-query", "Join the tables before Rowtide reads them, or write the condition out."},
    {"scalar sub-query", "Run the inner query first, and write its result as a literal."},
    {"comparison with ALL or ANY", "Write the comparisons out, with AND or OR between them."},
    {"windowing table function",
     "GROUP BY FLOOR(ts TO MINUTE) gives the same groups, with results that are updated."},
    {"table function",
     "GROUP BY FLOOR(ts TO MINUTE) groups by time, with results that are updated."},
    {"OVER aggregation",
     "ROW_NUMBER() OVER (…) with a filter on it is supported: Top-N and deduplication."},
    {"INTERSECT",
     "UNION ALL both sides with a tag each, then GROUP BY the columns and use HAVING."},
    {"EXCEPT", "UNION ALL both sides with a tag each, then GROUP BY the columns and use HAVING."},
    {"GROUPING SETS", "Write one GROUP BY for each set, and UNION ALL them."},
    {"CREATE TABLE AS", "Write CREATE TABLE with its columns, then INSERT INTO it."},
    {"CREATE FUNCTION", "SHOW FUNCTIONS lists the functions that there are."},
    {"CREATE", "CREATE TABLE, CREATE VIEW and CREATE DATABASE are supported."},
    {"ALTER", "DROP it and CREATE it anew."},
    {"DISTRIBUTED BY", "Leave it out: there is one lane of work."},
    {"INSERT … PARTITION", "Give the value in the SELECT list."},
    {"EXPLAIN", "EXPLAIN and EXPLAIN CHANGELOG_MODE are supported."},
    {"UNIQUE constraint", "PRIMARY KEY (…) NOT ENFORCED is supported."},
    {"FOR SYSTEM_TIME AS OF", "Rowtide reads one stream at a time so far."},
    {"DELETE", "A row is taken away by a changelog input, or filtered out by a query."},
    {"UPDATE", "A row is changed by a changelog input, or by a query that keeps the last row."},
    {"ADD JAR", "There are no JARs to load here; leave the statement out."},
    {"LOAD MODULE", "There are no modules here; leave the statement out."},
};

const char* HintFor(const std::string& construct) {
  for (const WayOut& way : kWaysOut) {
    if (construct.starts_with(way.construct)) return way.hint;
  }
  return "It is a part of Flink SQL that Rowtide does not have.";
}

}  // namespace

Status AsSentence(const Status& status) {
  if (status.code() != StatusCode::kUnsupported) return status;
  const std::string& construct = status.message();
  const bool is_sentence = construct.find(" not supported") != std::string::npos;
  Status sentence(status.code(), status.kind(),
                  is_sentence ? construct : construct + " is not supported yet");
  std::string hint = status.hint().empty() ? HintFor(construct) : status.hint();
  return std::move(sentence)
      .At(status.position())
      .WithErrorCode(status.error_code())
      .WithHint(std::move(hint));
}

}  // namespace rowtide

// A script over a few tables is planned, or refused with the kind of its error.
#include "planner/session.h"
#include "planner/sql/parser.h"
#include "tests/fuzz/fuzz.h"

using namespace rowtide;

namespace {

constexpr std::string_view kTables = R"(
CREATE TABLE orders (
  id STRING, item INT, price DECIMAL(10, 2), qty BIGINT, note STRING, flag BOOLEAN, d DOUBLE,
  day_ DATE, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH ('connector' = 'rows');
CREATE TABLE changes (
  id STRING, item INT NOT NULL, price DECIMAL(10, 2), qty BIGINT, PRIMARY KEY (item) NOT ENFORCED
) WITH ('connector' = 'rows', 'changelog-mode' = 'I,UB,UA,D');
CREATE TABLE upserts (
  id STRING, item INT NOT NULL, qty BIGINT, PRIMARY KEY (item) NOT ENFORCED
) WITH ('connector' = 'rows', 'changelog-mode' = 'I,UA,D');
CREATE TABLE sink (id STRING, item INT, qty BIGINT) WITH ('connector' = 'collect');
CREATE TABLE keyed (id STRING, item INT, qty BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'collect', 'changelog-mode' = 'I,UA,D');
)";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<ast::Statement> tables = *ParseScript(kTables);
  Session session;
  for (const ast::Statement& table : tables) {
    const Result<Outcome> made = session.Execute(table);
    if (!made.ok()) fuzz::Fail("the tables can be made", made.status().ToString());
  }
  ScriptParser parser(fuzz::TextOf(data, size));
  for (int statements = 0; statements < 100; ++statements) {
    Result<std::optional<ast::Statement>> statement = parser.NextStatement();
    if (!statement.ok()) continue;
    if (!*statement) break;
    const Result<Outcome> outcome = session.Execute(**statement);
    if (!outcome.ok() && outcome.status().code() == StatusCode::kInternal)
      fuzz::Fail("planning has no internal error", outcome.status().ToString());
  }
  return 0;
}

#include <gtest/gtest.h>

#include "planner/session.h"
#include "planner/sql/parser.h"
#include "planner/sql/secrets.h"

namespace rowtide {
namespace {

TEST(Secrets, ValuesOfSecretKeysAreReplaced) {
  EXPECT_EQ(WithoutSecrets("CREATE TABLE t (a INT) WITH ('x.Password' = 'it''s', 'path'='p')"),
            "CREATE TABLE t (a INT) WITH ('x.Password' = '******', 'path'='p')");
  EXPECT_EQ(WithoutSecrets("SET 'some.token'='t'"), "SET 'some.token'='******'");
  EXPECT_EQ(WithoutSecrets("SELECT * FROM t /*+ OPTIONS('api-key'='k') */"),
            "SELECT * FROM t /*+ OPTIONS('api-key'='******') */");
}

TEST(Secrets, OtherTextStays) {
  for (const std::string sql :
       {"SELECT 'password', 'b' FROM t -- = 'x'", "SELECT a = 'b' FROM t WHERE `password` = 'x'",
        "SELECT 'password' FROM t WHERE a = 'x'"})
    EXPECT_EQ(WithoutSecrets(sql), sql);
}

TEST(Secrets, JobsKnowWhatMadeThem) {
  const std::string script =
      "SET 'table.local-time-zone' = 'UTC'; SET 'my.secret' = 'x';\n"
      "CREATE TABLE t (a INT) WITH ('connector'='datagen', 'number-of-rows'='1');\n"
      "SELECT * FROM t;\n"
      "CREATE TABLE s (a INT) WITH ('connector'='blackhole');\n"
      "EXECUTE STATEMENT SET BEGIN INSERT INTO s SELECT * FROM t; INSERT INTO s SELECT 1; END;";
  Session session;
  ScriptParser parser(script);
  JobScript got;
  while (true) {
    Result<std::optional<ast::Statement>> statement = parser.NextStatement();
    ASSERT_TRUE(statement.ok());
    if (!*statement) break;
    const Result<Outcome> outcome = session.Execute(**statement, script);
    const auto* job = outcome.ok() ? std::get_if<PlannedJob>(&*outcome) : nullptr;
    if (job != nullptr) got = job->script;
  }
  ASSERT_EQ(got.statements.size(), 3u);
  EXPECT_EQ(got.statements[1], "CREATE TABLE s (a INT) WITH ('connector'='blackhole')");
  EXPECT_EQ(
      got.statements[2],
      "EXECUTE STATEMENT SET BEGIN INSERT INTO s SELECT * FROM t; INSERT INTO s SELECT 1; END");
  EXPECT_EQ(got.settings,
            (std::vector<std::pair<std::string, std::string>>{{"table.local-time-zone", "UTC"}}));
}

}  // namespace
}  // namespace rowtide

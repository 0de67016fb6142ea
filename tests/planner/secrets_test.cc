#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "engine/secrets.h"
#include "planner/references.h"
#include "planner/session.h"
#include "planner/sql/parser.h"
#include "planner/sql/secrets.h"

namespace rowtide {
namespace {

TEST(Secrets, ValuesOfSecretKeysAreReplaced) {
  EXPECT_EQ(WithoutSecretValues("CREATE TABLE t (a INT) WITH ('x.Password' = 'it''s', 'path'='p')"),
            "CREATE TABLE t (a INT) WITH ('x.Password' = '******', 'path'='p')");
  EXPECT_EQ(WithoutSecretValues("SET 'some.token'='t'"), "SET 'some.token'='******'");
  EXPECT_EQ(WithoutSecretValues("SELECT * FROM t /*+ OPTIONS('api-key'='k') */"),
            "SELECT * FROM t /*+ OPTIONS('api-key'='******') */");
}

TEST(Secrets, OtherTextStays) {
  for (const std::string sql :
       {"SELECT 'password', 'b' FROM t -- = 'x'", "SELECT a = 'b' FROM t WHERE `password` = 'x'",
        "SELECT 'password' FROM t WHERE a = 'x'"})
    EXPECT_EQ(WithoutSecretValues(sql), sql);
}

TEST(Secrets, CoveredOnesAreAsLong) {
  EXPECT_EQ(WithSecretsCovered("SET 'a.token'='t\xc3\xb6n''e' 'x"), "SET 'a.token'='******' 'x");
  // Where the text ends too soon, and behind what is no SQL.
  EXPECT_EQ(WithSecretsCovered("SET 'a.token' = 'tone\nx"), "SET 'a.token' =******\n*");
  EXPECT_EQ(WithSecretsCovered("\\ # SET 'a.token'='tone'; b"), "\\ # SET 'a.token'='****'; b");
  for (const std::string sql : {"SELECT 'token', 'b'", "", "'", "\\\\", "SET 'a' = 'b'"})
    EXPECT_EQ(WithSecretsCovered(sql), sql);
  EXPECT_EQ(WithSecretsCovered(std::string(500, '#')).size(), 500u);
}

TEST(Secrets, KnownOnesAreHiddenInMessages) {
  HideSecret("abc");  // too short to be told from other text
  HideSecretValue("Login required password=\"hush hush\" username=\"me\";");
  HideSecret("hush");
  EXPECT_EQ(Redacted("abc: no hush hush for me, hush"), "abc: no ****** for me, ******");
}

TEST(References, NameVariablesAndFiles) {
  ::setenv("ROWTIDE_TEST_VALUE", "warm", 1);
  ::unsetenv("ROWTIDE_TEST_NONE");
  const std::string path = ::testing::TempDir() + "rowtide_reference";
  std::ofstream(path) << "cold\n\n";
  const auto resolved = [](const std::string& text) {
    const Result<std::string> value = ResolveReferences(text);
    return value.ok() ? *value : "refused: " + value.status().message();
  };
  EXPECT_EQ(resolved("a ${ROWTIDE_TEST_VALUE}/${ROWTIDE_TEST_VALUE}"), "a warm/warm");
  EXPECT_EQ(resolved("${file:" + path + "}"), "cold\n");
  EXPECT_EQ(resolved("$ $x $$ {} $${A} $$${A}"), "$ $x $$ {} ${A} $${A}");
  for (const std::string text :
       {"${ROWTIDE_TEST_NONE}", "${}", "${", "${file:/no/such}", "${a-b}", "${file:/tmp}"})
    EXPECT_TRUE(resolved(text).starts_with("refused")) << text;
  std::remove(path.c_str());
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

// Statements that make, show and drop things, and what Flink 2.3 answers to them: rows of SHOW and
// DESCRIBE, texts of SHOW CREATE, kinds of errors.
#include <gtest/gtest.h>

#include "planner/session.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

std::string Answer(const Outcome& outcome) {
  const auto* table = std::get_if<TextTable>(&outcome);
  if (table == nullptr) return "OK";
  std::string text;
  for (const std::vector<std::string>& row : table->rows) {
    text += text.empty() ? "" : "\n";
    for (size_t i = 0; i < row.size(); ++i) text += (i > 0 ? " | " : "") + row[i];
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return text;
}

// The statements of one session.
class StatementsTest : public ::testing::Test {
 protected:
  std::string Answers(const std::string& sql) {
    const Result<std::vector<ast::Statement>> statements = ParseScript(sql);
    if (!statements.ok()) return std::string("error ") + Name(statements.status().kind());
    std::string answer;
    for (const ast::Statement& statement : *statements) {
      const Result<Outcome> outcome = session_.Execute(statement);
      if (!outcome.ok()) return std::string("error ") + Name(outcome.status().kind());
      answer = Answer(*outcome);
    }
    return answer;
  }

  Session session_;
};

struct Case {
  const char* sql;
  const char* answer;
};

// Databases, temporary objects, and what DROP and SHOW say of them.
constexpr Case kObjects[] = {
    {R"(CREATE TABLE t (id INT, v STRING) WITH ('connector'='datagen'))", R"(OK)"},
    {R"(CREATE TEMPORARY TABLE t (id INT) WITH ('connector'='datagen'))", R"(OK)"},
    {R"(SHOW TABLES)", R"(t)"},
    {R"(DESCRIBE t)", R"(id | INT | TRUE |  |  |)"},
    {R"(DROP TABLE t)", R"(error validate)"},
    {R"(DROP TABLE IF EXISTS t)", R"(error validate)"},
    {R"(DROP TEMPORARY TABLE t)", R"(OK)"},
    {R"(DESCRIBE t)",
     R"(id | INT | TRUE |  |  |
v | STRING | TRUE |  |  |)"},
    {R"(DROP TEMPORARY TABLE t)", R"(error validate)"},
    {R"(DROP TEMPORARY TABLE IF EXISTS t)", R"(OK)"},
    {R"(DROP VIEW t)", R"(error validate)"},
    {R"(DROP VIEW IF EXISTS t)", R"(OK)"},
    {R"(CREATE VIEW v AS SELECT * FROM t)", R"(OK)"},
    {R"(CREATE VIEW v AS SELECT id FROM t)", R"(error validate)"},
    {R"(CREATE VIEW IF NOT EXISTS v AS SELECT id FROM t)", R"(OK)"},
    {R"(CREATE TABLE v (a INT) WITH ('connector'='print'))", R"(error validate)"},
    {R"(CREATE TABLE IF NOT EXISTS v (a INT) WITH ('connector'='print'))", R"(OK)"},
    {R"(DROP TABLE v)", R"(error validate)"},
    {R"(DROP TABLE IF EXISTS v)", R"(OK)"},
    {R"(DROP TEMPORARY VIEW v)", R"(error validate)"},
    {R"(CREATE TEMPORARY VIEW v AS SELECT v FROM t)", R"(OK)"},
    {R"(DESCRIBE v)", R"(v | STRING | TRUE |  |  |)"},
    {R"(SHOW VIEWS)", R"(v)"},
    {R"(SHOW TABLES)",
     R"(t
v)"},
    {R"(DROP VIEW v)", R"(error validate)"},
    {R"(DROP TEMPORARY VIEW v)", R"(OK)"},
    {R"(DROP TEMPORARY TABLE v)", R"(error validate)"},
    {R"(DROP VIEW v)", R"(OK)"},
    {R"(DROP VIEW v)", R"(error validate)"},
    {R"(DROP VIEW IF EXISTS v)", R"(OK)"},
    {R"(DROP TABLE nope)", R"(error validate)"},
    {R"(DROP TABLE a.b.c.d)", R"(error validate)"},
    {R"(DROP TABLE nope.t)", R"(error validate)"},
    {R"(DROP TABLE IF EXISTS nope.t)", R"(OK)"},
    {R"(DROP TABLE nocat.nope.t)", R"(error validate)"},
    {R"(DROP TABLE IF EXISTS nocat.nope.t)", R"(OK)"},
    {R"(CREATE TABLE nope.t (a INT) WITH ('connector'='print'))", R"(error run)"},
    {R"(CREATE TEMPORARY TABLE nope.t (a INT) WITH ('connector'='print'))", R"(OK)"},
    {R"(CREATE TEMPORARY TABLE nocat.nope.t (a INT) WITH ('connector'='print'))", R"(OK)"},
    {R"(SHOW TABLES FROM nope)", R"(error validate)"},
    {R"(DROP TEMPORARY TABLE nope.t)", R"(OK)"},
    {R"(CREATE DATABASE d1)", R"(OK)"},
    {R"(CREATE DATABASE d1)", R"(error run)"},
    {R"(CREATE DATABASE IF NOT EXISTS d1)", R"(OK)"},
    {R"(CREATE DATABASE d2 COMMENT 'c' WITH ('a'='b'))", R"(OK)"},
    {R"(CREATE DATABASE default_catalog.d3)", R"(OK)"},
    {R"(CREATE DATABASE nocat.d3)", R"(error validate)"},
    {R"(SHOW DATABASES)",
     R"(d1
d2
d3
default_database)"},
    {R"(SHOW DATABASES LIKE 'd_')",
     R"(d1
d2
d3)"},
    {R"(SHOW DATABASES NOT LIKE 'd_')", R"(default_database)"},
    {R"(SHOW DATABASES ILIKE 'D_')",
     R"(d1
d2
d3)"},
    {R"(SHOW DATABASES FROM default_catalog)",
     R"(d1
d2
d3
default_database)"},
    {R"(SHOW DATABASES IN nocat)", R"(error validate)"},
    {R"(CREATE TABLE d1.x (a INT) WITH ('connector'='print'))", R"(OK)"},
    {R"(SHOW TABLES FROM d1)", R"(x)"},
    {R"(SHOW TABLES IN default_catalog.d1 LIKE 'x%')", R"(x)"},
    {R"(SHOW TABLES FROM d1 NOT LIKE 'x%')", R"()"},
    {R"(SHOW VIEWS FROM d1)", R"()"},
    {R"(DROP DATABASE d1)", R"(error run)"},
    {R"(DROP DATABASE d1 RESTRICT)", R"(error run)"},
    {R"(DROP DATABASE d1 CASCADE)", R"(OK)"},
    {R"(DROP DATABASE d1)", R"(error run)"},
    {R"(DROP DATABASE IF EXISTS d1)", R"(OK)"},
    {R"(DROP DATABASE default_database)", R"(error validate)"},
    {R"(USE d2)", R"(OK)"},
    {R"(DROP DATABASE d2)", R"(error validate)"},
    {R"(SHOW CURRENT DATABASE)", R"(d2)"},
    {R"(SHOW TABLES)", R"()"},
    {R"(DESCRIBE default_database.t)",
     R"(id | INT | TRUE |  |  |
v | STRING | TRUE |  |  |)"},
    {R"(CREATE TABLE loc (a INT) WITH ('connector'='datagen'))", R"(OK)"},
    {R"(USE default_catalog.default_database)", R"(OK)"},
    {R"(USE d2.x.y)", R"(error validate)"},
    {R"(USE nope)", R"(error run)"},
    {R"(USE CATALOG nope)", R"(error run)"},
    {R"(USE CATALOG default_catalog)", R"(OK)"},
    {R"(USE CATALOG a.b)", R"(error parse)"},
    {R"(DROP CATALOG default_catalog)", R"(error run)"},
    {R"(DROP CATALOG nope)", R"(error run)"},
    {R"(DROP CATALOG IF EXISTS nope)", R"(OK)"},
    {R"(DROP FUNCTION f)", R"(error run)"},
    {R"(DROP FUNCTION IF EXISTS f)", R"(OK)"},
    {R"(DROP TEMPORARY FUNCTION f)", R"(error validate)"},
    {R"(DROP TEMPORARY FUNCTION IF EXISTS f)", R"(OK)"},
    {R"(DROP TEMPORARY SYSTEM FUNCTION IF EXISTS f)", R"(OK)"},
    {R"(SHOW COLUMNS FROM nope)", R"(error validate)"},
    {R"(SHOW CREATE TABLE nope)", R"(error validate)"},
    {R"(DESCRIBE nope)", R"(error validate)"},
    {R"(DESCRIBE EXTENDED t)",
     R"(id | INT | TRUE |  |  |
v | STRING | TRUE |  |  |)"},
    {R"(SHOW TABLES LIKE 'T')", R"()"},
    {R"(SHOW TABLES ILIKE 'T')", R"(error parse)"},
    {R"(SHOW COLUMNS FROM t LIKE '%')",
     R"(id | INT | TRUE |  |  |
v | STRING | TRUE |  |  |)"},
    {R"(SHOW COLUMNS IN default_catalog.default_database.t NOT LIKE 'i_')",
     R"(v | STRING | TRUE |  |  |)"},
    {R"(SHOW CATALOGS LIKE 'def%')", R"(default_catalog)"},
    {R"(SHOW CATALOGS NOT LIKE 'def%')", R"()"},
};

// CREATE TABLE and its LIKE clause.
constexpr Case kTables[] = {
    {R"(CREATE TABLE base (a INT, b STRING COMMENT 'bc', m STRING METADATA FROM 'k1' VIRTUAL, c
AS a + 1, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, CONSTRAINT pk
PRIMARY KEY (a) NOT ENFORCED) COMMENT 'base table' PARTITIONED BY (b) WITH
('connector'='filesystem', 'path'='/x', 'format'='json'))",
     R"(OK)"},
    {R"(CREATE TABLE nowm (a INT, ts TIMESTAMP(3)) WITH
('connector'='datagen','number-of-rows'='1'))",
     R"(OK)"},
    {R"(CREATE VIEW vv AS SELECT a FROM nowm)", R"(OK)"},
    {R"(CREATE TABLE t1  LIKE base)", R"(OK)"},
    {R"(SHOW CREATE TABLE t1)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t1` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t2 (x INT) WITH ('path'='/y') LIKE base)", R"(OK)"},
    {R"(SHOW CREATE TABLE t2)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t2` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t3  COMMENT 'mine' WITH ('new'='1') LIKE base)", R"(OK)"},
    {R"(SHOW CREATE TABLE t3)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t3` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t4  LIKE base (INCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t4)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t4` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t5 (x INT) WITH ('path'='/y') LIKE base (INCLUDING ALL))",
     R"(error validate)"},
    {R"(CREATE TABLE t6  COMMENT 'mine' WITH ('new'='1') LIKE base (INCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t6)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t6` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t7  LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t7)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t7` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3)
)
PARTITIONED BY (`b`)
)"},
    {R"(CREATE TABLE t8 (x INT) WITH ('path'='/y') LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t8)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t8` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  `x` INT
)
PARTITIONED BY (`b`)
WITH (
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t9  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t9)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t9` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3)
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t10  LIKE base (OVERWRITING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t10)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t10` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t11 (x INT) WITH ('path'='/y') LIKE base (OVERWRITING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t11)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t11` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t12  COMMENT 'mine' WITH ('new'='1') LIKE base (OVERWRITING OPTIONS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t12)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t12` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t13  LIKE base (EXCLUDING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t13)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t13` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
)"},
    {R"(CREATE TABLE t14 (x INT) WITH ('path'='/y') LIKE base (EXCLUDING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t14)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t14` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t15  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t15)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t15` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t16  LIKE base (INCLUDING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t16)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t16` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t17 (x INT) WITH ('path'='/y') LIKE base (INCLUDING OPTIONS))",
     R"(error validate)"},
    {R"(CREATE TABLE t18  COMMENT 'mine' WITH ('new'='1') LIKE base (INCLUDING OPTIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t18)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t18` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t19  LIKE base (EXCLUDING CONSTRAINTS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t19)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t19` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t20 (x INT) WITH ('path'='/y') LIKE base (EXCLUDING CONSTRAINTS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t20)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t20` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t21  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING CONSTRAINTS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t21)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t21` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t22  LIKE base (EXCLUDING GENERATED))", R"(OK)"},
    {R"(SHOW CREATE TABLE t22)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t22` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t23 (x INT) WITH ('path'='/y') LIKE base (EXCLUDING GENERATED))", R"(OK)"},
    {R"(SHOW CREATE TABLE t23)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t23` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t24  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING GENERATED))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t24)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t24` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t25  LIKE base (EXCLUDING METADATA))", R"(OK)"},
    {R"(SHOW CREATE TABLE t25)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t25` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t26 (x INT) WITH ('path'='/y') LIKE base (EXCLUDING METADATA))", R"(OK)"},
    {R"(SHOW CREATE TABLE t26)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t26` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t27  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING METADATA))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t27)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t27` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t28  LIKE base (EXCLUDING PARTITIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t28)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t28` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t29 (x INT) WITH ('path'='/y') LIKE base (EXCLUDING PARTITIONS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t29)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t29` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/y'
)
)"},
    {R"(CREATE TABLE t30  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING PARTITIONS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t30)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t30` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t33  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING WATERMARKS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t33)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t33` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t36  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING DISTRIBUTION))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t36)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t36` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t39  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING ALL INCLUDING
OPTIONS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t39)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t39` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3)
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'new' = '1',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t42  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING ALL INCLUDING
GENERATED INCLUDING METADATA))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t42)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t42` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3)
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t45  COMMENT 'mine' WITH ('new'='1') LIKE base (INCLUDING ALL EXCLUDING
OPTIONS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t45)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t45` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t48  COMMENT 'mine' WITH ('new'='1') LIKE base (OVERWRITING ALL))",
     R"(error validate)"},
    {R"(CREATE TABLE t51  COMMENT 'mine' WITH ('new'='1') LIKE base (OVERWRITING CONSTRAINTS))",
     R"(error validate)"},
    {R"(CREATE TABLE t54  COMMENT 'mine' WITH ('new'='1') LIKE base (OVERWRITING PARTITIONS))",
     R"(error validate)"},
    {R"(CREATE TABLE t57  COMMENT 'mine' WITH ('new'='1') LIKE base (INCLUDING ALL INCLUDING ALL))",
     R"(error validate)"},
    {R"(CREATE TABLE t60  COMMENT 'mine' WITH ('new'='1') LIKE base (INCLUDING OPTIONS EXCLUDING
OPTIONS))",
     R"(error validate)"},
    {R"(CREATE TABLE t63  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING ALL INCLUDING
WATERMARKS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t63)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t63` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t66  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING ALL INCLUDING
CONSTRAINTS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t66)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t66` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t69  COMMENT 'mine' WITH ('new'='1') LIKE base (EXCLUDING ALL INCLUDING
PARTITIONS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t69)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t69` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3)
)
COMMENT 'mine'
PARTITIONED BY (`b`)
WITH (
  'new' = '1'
)
)"},
    {R"(CREATE TABLE t72  COMMENT 'mine' WITH ('new'='1') LIKE base ())", R"(error parse)"},
    {R"(CREATE TABLE t75 (a INT) LIKE base (OVERWRITING METADATA))", R"(error validate)"},
    {R"(CREATE TABLE t78 (a INT) LIKE base (EXCLUDING CONSTRAINTS))", R"(error validate)"},
    {R"(CREATE TABLE t81 (a INT) LIKE base (EXCLUDING ALL))", R"(error validate)"},
    {R"(CREATE TABLE t84 (b STRING) LIKE base (OVERWRITING GENERATED))", R"(error validate)"},
    {R"(CREATE TABLE t87 (b STRING) LIKE base (EXCLUDING GENERATED))", R"(error validate)"},
    {R"(CREATE TABLE t90 (b STRING) LIKE base (EXCLUDING METADATA))", R"(error validate)"},
    {R"(CREATE TABLE t93 (c AS a + 2) LIKE base)", R"(error validate)"},
    {R"(CREATE TABLE t96 (c AS a + 2) LIKE base (OVERWRITING WATERMARKS))", R"(error validate)"},
    {R"(CREATE TABLE t99 (c AS a + 2) LIKE base (EXCLUDING WATERMARKS))", R"(error validate)"},
    {R"(CREATE TABLE t102 (c AS a + 2) LIKE base (OVERWRITING ALL))", R"(error validate)"},
    {R"(CREATE TABLE t105 (c INT) LIKE base (OVERWRITING METADATA))", R"(error validate)"},
    {R"(CREATE TABLE t108 (c INT) LIKE base (EXCLUDING CONSTRAINTS))", R"(error validate)"},
    {R"(CREATE TABLE t111 (c INT) LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t111)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t111` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  `c` INT
)
PARTITIONED BY (`b`)
)"},
    {R"(CREATE TABLE t114 (m STRING METADATA) LIKE base (OVERWRITING GENERATED))",
     R"(error validate)"},
    {R"(CREATE TABLE t117 (m STRING METADATA) LIKE base (EXCLUDING GENERATED))",
     R"(error validate)"},
    {R"(CREATE TABLE t120 (m STRING METADATA) LIKE base (EXCLUDING METADATA))", R"(OK)"},
    {R"(SHOW CREATE TABLE t120)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t120` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `m` VARCHAR(2147483647) METADATA,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t123 (m INT METADATA FROM 'k2') LIKE base)", R"(error validate)"},
    {R"(CREATE TABLE t126 (m INT METADATA FROM 'k2') LIKE base (OVERWRITING WATERMARKS))",
     R"(error validate)"},
    {R"(CREATE TABLE t129 (m INT METADATA FROM 'k2') LIKE base (EXCLUDING WATERMARKS))",
     R"(error validate)"},
    {R"(CREATE TABLE t132 (m INT METADATA FROM 'k2') LIKE base (OVERWRITING ALL))",
     R"(error validate)"},
    {R"(CREATE TABLE t135 (WATERMARK FOR ts AS ts) LIKE base (OVERWRITING METADATA))",
     R"(error validate)"},
    {R"(CREATE TABLE t138 (WATERMARK FOR ts AS ts) LIKE base (EXCLUDING CONSTRAINTS))",
     R"(error validate)"},
    {R"(CREATE TABLE t141 (WATERMARK FOR ts AS ts) LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t141)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t141` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts`
)
PARTITIONED BY (`b`)
)"},
    {R"(CREATE TABLE t144 (PRIMARY KEY (a) NOT ENFORCED) LIKE base (OVERWRITING GENERATED))",
     R"(error validate)"},
    {R"(CREATE TABLE t147 (PRIMARY KEY (a) NOT ENFORCED) LIKE base (EXCLUDING GENERATED))",
     R"(error validate)"},
    {R"(CREATE TABLE t150 (PRIMARY KEY (a) NOT ENFORCED) LIKE base (EXCLUDING METADATA))",
     R"(error validate)"},
    {R"(CREATE TABLE t153 (d AS c + 1) LIKE base)", R"(error validate)"},
    {R"(CREATE TABLE t156 (d AS c + 1) LIKE base (OVERWRITING WATERMARKS))", R"(error validate)"},
    {R"(CREATE TABLE t159 (d AS c + 1) LIKE base (EXCLUDING WATERMARKS))", R"(error validate)"},
    {R"(CREATE TABLE t162 (d AS c + 1) LIKE base (OVERWRITING ALL))", R"(error validate)"},
    {R"(CREATE TABLE t165 (d AS a * 2, e INT) LIKE base (OVERWRITING METADATA))", R"(OK)"},
    {R"(SHOW CREATE TABLE t165)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t165` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `d` AS `a` * 2,
  `e` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t168 (d AS a * 2, e INT) LIKE base (EXCLUDING CONSTRAINTS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t168)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t168` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `d` AS `a` * 2,
  `e` INT,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t171 (d AS a * 2, e INT) LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t171)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t171` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  `d` AS `a` * 2,
  `e` INT
)
PARTITIONED BY (`b`)
)"},
    {R"(CREATE TABLE t174 (x INT, PRIMARY KEY (x) NOT ENFORCED) LIKE base (OVERWRITING GENERATED))",
     R"(error validate)"},
    {R"(CREATE TABLE t177 (x INT, PRIMARY KEY (x) NOT ENFORCED) LIKE base (EXCLUDING GENERATED))",
     R"(error validate)"},
    {R"(CREATE TABLE t180 (x INT, PRIMARY KEY (x) NOT ENFORCED) LIKE base (EXCLUDING METADATA))",
     R"(error validate)"},
    {R"(CREATE TABLE t183 (x TIMESTAMP(3), WATERMARK FOR x AS x) LIKE base)", R"(error validate)"},
    {R"(CREATE TABLE t186 (x TIMESTAMP(3), WATERMARK FOR x AS x) LIKE base (OVERWRITING
WATERMARKS))",
     R"(error validate)"},
    {R"(CREATE TABLE t189 (x TIMESTAMP(3), WATERMARK FOR x AS x) LIKE base (EXCLUDING WATERMARKS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t189)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t189` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` TIMESTAMP(3),
  WATERMARK FOR `x` AS `x`,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t192 (x TIMESTAMP(3), WATERMARK FOR x AS x) LIKE base (OVERWRITING ALL))",
     R"(error validate)"},
    {R"(CREATE TABLE t195 (x AS UPPER(b)) LIKE base (OVERWRITING METADATA))", R"(OK)"},
    {R"(SHOW CREATE TABLE t195)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t195` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` AS UPPER(`b`),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,
  CONSTRAINT `pk` PRIMARY KEY (`a`) NOT ENFORCED
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t198 (x AS UPPER(b)) LIKE base (EXCLUDING CONSTRAINTS))", R"(OK)"},
    {R"(SHOW CREATE TABLE t198)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t198` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `m` VARCHAR(2147483647) METADATA FROM 'k1' VIRTUAL,
  `c` AS `a` + 1,
  `ts` TIMESTAMP(3),
  `x` AS UPPER(`b`),
  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND
)
PARTITIONED BY (`b`)
WITH (
  'connector' = 'filesystem',
  'format' = 'json',
  'path' = '/x'
)
)"},
    {R"(CREATE TABLE t201 (x AS UPPER(b)) LIKE base (EXCLUDING ALL))", R"(OK)"},
    {R"(SHOW CREATE TABLE t201)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t201` (
  `a` INT NOT NULL,
  `b` VARCHAR(2147483647) COMMENT 'bc',
  `ts` TIMESTAMP(3),
  `x` AS UPPER(`b`)
)
PARTITIONED BY (`b`)
)"},
    {R"(CREATE TABLE t204 (x AS nope) LIKE base (OVERWRITING GENERATED))", R"(error validate)"},
    {R"(CREATE TABLE t207 (x AS nope) LIKE base (EXCLUDING GENERATED))", R"(error validate)"},
    {R"(CREATE TABLE t210 (x AS nope) LIKE base (EXCLUDING METADATA))", R"(error validate)"},
    {R"(CREATE TABLE t211 (x AS nope) LIKE base (EXCLUDING ALL))", R"(error validate)"},
    {R"(CREATE TABLE t212 (x AS nope) LIKE base (OVERWRITING ALL))", R"(error validate)"},
    {R"(CREATE TABLE t213  LIKE vv)", R"(error validate)"},
    {R"(CREATE TABLE t214  LIKE nope)", R"(error validate)"},
    {R"(CREATE TABLE t215  LIKE default_catalog.default_database.nowm)", R"(OK)"},
    {R"(SHOW CREATE TABLE t215)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t215` (
  `a` INT,
  `ts` TIMESTAMP(3)
)
WITH (
  'connector' = 'datagen',
  'number-of-rows' = '1'
)
)"},
    {R"(CREATE TABLE t216 (WATERMARK FOR ts AS ts) LIKE nowm)", R"(OK)"},
    {R"(SHOW CREATE TABLE t216)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t216` (
  `a` INT,
  `ts` TIMESTAMP(3),
  WATERMARK FOR `ts` AS `ts`
)
WITH (
  'connector' = 'datagen',
  'number-of-rows' = '1'
)
)"},
    {R"(CREATE TABLE t217 (PRIMARY KEY (a) NOT ENFORCED) LIKE nowm)", R"(error validate)"},
    {R"(CREATE TABLE t218 (p AS PROCTIME()) LIKE nowm)", R"(OK)"},
    {R"(SHOW CREATE TABLE t218)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t218` (
  `a` INT,
  `ts` TIMESTAMP(3),
  `p` AS PROCTIME()
)
WITH (
  'connector' = 'datagen',
  'number-of-rows' = '1'
)
)"},
    {R"(CREATE TABLE t219 (g AS a, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH
('connector'='print') LIKE nowm (EXCLUDING OPTIONS))",
     R"(OK)"},
    {R"(SHOW CREATE TABLE t219)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`t219` (
  `a` INT,
  `ts` TIMESTAMP(3),
  `g` AS `a`,
  WATERMARK FOR `ts` AS `ts` - INTERVAL '1' SECOND
)
WITH (
  'connector' = 'print'
)
)"},
    {R"(CREATE TABLE t220  LIKE nowm PARTITIONED BY (a))", R"(error parse)"},
    {R"(CREATE TABLE z (a INT) PARTITIONED BY (a) WITH ('connector'='print') LIKE base)",
     R"(error validate)"},
    {R"(CREATE TEMPORARY TABLE tt LIKE nowm)", R"(OK)"},
    {R"(SHOW CREATE TABLE tt)",
     R"(CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`tt` (
  `a` INT,
  `ts` TIMESTAMP(3)
)
WITH (
  'connector' = 'datagen',
  'number-of-rows' = '1'
)
)"},
    {R"(CREATE TABLE IF NOT EXISTS t1 LIKE nowm)", R"(OK)"},
    {R"(CREATE TABLE nowith (a INT))", R"(OK)"},
    {R"(SHOW CREATE TABLE nowith)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`nowith` (
  `a` INT
)
)"},
    {R"(CREATE TABLE dup (a INT, a STRING) WITH ('connector'='print'))", R"(error validate)"},
    {R"(CREATE TABLE nocol () WITH ('connector'='print'))", R"(error parse)"},
    {R"(CREATE TABLE nocol WITH ('connector'='print'))", R"(OK)"},
    {R"(CREATE TABLE trail (a INT,) WITH ('connector'='print'))", R"(error parse)"},
    {R"(CREATE TABLE wm2 (ts TIMESTAMP(3), WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts) WITH
('connector'='print'))",
     R"(error parse)"},
    {R"(CREATE TABLE wm3 (ts TIMESTAMP(6), WATERMARK FOR ts AS ts) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE wm4 (ts STRING, WATERMARK FOR ts AS ts) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE wm5 (ts TIMESTAMP(3), WATERMARK FOR nope AS ts) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE wm6 (s STRING, ts AS TO_TIMESTAMP(s), WATERMARK FOR ts AS ts - INTERVAL '1'
SECOND) WITH ('connector'='print'))",
     R"(OK)"},
    {R"(CREATE TABLE wm7 (ts TIMESTAMP(3), WATERMARK FOR ts AS 5) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE wm8 (ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS SOURCE_WATERMARK()) WITH
('connector'='print'))",
     R"(OK)"},
    {R"(CREATE TABLE pk1 (a INT PRIMARY KEY NOT ENFORCED, b INT PRIMARY KEY NOT ENFORCED) WITH
('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE pk2 (a INT, PRIMARY KEY (a)) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE pk3 (a INT, PRIMARY KEY (nope) NOT ENFORCED) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE pk4 (a INT, b AS a, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE pk5 (a INT, PRIMARY KEY (a, a) NOT ENFORCED) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE pk6 (a INT, UNIQUE (a) NOT ENFORCED) WITH ('connector'='print'))",
     R"(error validate)"},
    {R"(CREATE TABLE pk7 (a INT NULL, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector'='print'))",
     R"(OK)"},
    {R"(DESCRIBE pk7)", R"(a | INT | FALSE | PRI(a) |  |)"},
    {R"(CREATE TABLE c1 (a INT, b AS nope) WITH ('connector'='print'))", R"(error validate)"},
    {R"(CREATE TABLE c2 (b AS c, c AS 1) WITH ('connector'='print'))", R"(error validate)"},
    {R"(CREATE TABLE o1 (a INT) WITH ('connector'=print))", R"(error parse)"},
    {R"(CREATE TABLE o2 (a INT) WITH ('connector'='print','connector'='blackhole'))", R"(OK)"},
    {R"(SHOW CREATE TABLE o2)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`o2` (
  `a` INT
)
WITH (
  'connector' = 'blackhole'
)
)"},
    {R"(CREATE TABLE o3 (a INT) WITH ())", R"(OK)"},
    {R"(CREATE TABLE ty3 (a DECIMAL(5,6)) WITH ('connector'='print'))", R"(error validate)"},
    {R"(CREATE TABLE ty5 (a FOO) WITH ('connector'='print'))", R"(error validate)"},
    {R"(CREATE TABLE ty8 (a INTEGER, b NUMERIC(5), c DEC, d DOUBLE PRECISION, e VARCHAR, f CHAR,
g BINARY, h VARBINARY, i TIME(3), j TIMESTAMP WITHOUT TIME ZONE, k TIMESTAMP(2) WITH
LOCAL TIME ZONE, l STRING, m BYTES, p DATE) WITH ('connector'='print'))",
     R"(OK)"},
    {R"(DESCRIBE ty8)",
     R"(a | INT | TRUE |  |  |
b | DECIMAL(5, 0) | TRUE |  |  |
c | DECIMAL(10, 0) | TRUE |  |  |
d | DOUBLE | TRUE |  |  |
e | STRING | TRUE |  |  |
f | CHAR(1) | TRUE |  |  |
g | BINARY(1) | TRUE |  |  |
h | BYTES | TRUE |  |  |
i | TIME(3) | TRUE |  |  |
j | TIMESTAMP(6) | TRUE |  |  |
k | TIMESTAMP_LTZ(2) | TRUE |  |  |
l | STRING | TRUE |  |  |
m | BYTES | TRUE |  |  |
p | DATE | TRUE |  |  |)"},
    {R"(SHOW CREATE TABLE ty8)",
     R"(CREATE TABLE `default_catalog`.`default_database`.`ty8` (
  `a` INT,
  `b` DECIMAL(5, 0),
  `c` DECIMAL(10, 0),
  `d` DOUBLE,
  `e` VARCHAR(2147483647),
  `f` CHAR(1),
  `g` BINARY(1),
  `h` VARBINARY(2147483647),
  `i` TIME(3),
  `j` TIMESTAMP(6),
  `k` TIMESTAMP(2) WITH LOCAL TIME ZONE,
  `l` VARCHAR(2147483647),
  `m` VARBINARY(2147483647),
  `p` DATE
)
WITH (
  'connector' = 'print'
)
)"},
    {R"(CREATE TABLE ty10 (a TIME WITHOUT TIME ZONE, b CHARACTER VARYING(5), c CHARACTER(2), d
BINARY VARYING(3)) WITH ('connector'='print'))",
     R"(OK)"},
    {R"(DESCRIBE ty10)",
     R"(a | TIME(0) | TRUE |  |  |
b | VARCHAR(5) | TRUE |  |  |
c | CHAR(2) | TRUE |  |  |
d | VARBINARY(3) | TRUE |  |  |)"},
};

TEST_F(StatementsTest, ObjectsAreMadeShownAndDropped) {
  for (const Case& one : kObjects) EXPECT_EQ(Answers(one.sql), one.answer) << one.sql;
}

TEST_F(StatementsTest, TablesAreDeclaredAsInFlink) {
  for (const Case& one : kTables) EXPECT_EQ(Answers(one.sql), one.answer) << one.sql;
}

// What is current when a view is made decides what its names mean, also later.
TEST_F(StatementsTest, AViewKeepsTheNamesOfItsHome) {
  EXPECT_EQ(Answers("CREATE DATABASE d; USE d; "
                    "CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '/x', "
                    "'format' = 'csv'); CREATE VIEW v AS SELECT a FROM t; "
                    "USE default_database; DESCRIBE d.v"),
            "a | INT | TRUE |  |  |");
}

TEST_F(StatementsTest, FunctionsAreListed) {
  EXPECT_EQ(Answers("SHOW FUNCTIONS LIKE 'REGEXP_E%'"), "REGEXP_EXTRACT");
  EXPECT_EQ(Answers("SHOW FUNCTIONS ILIKE 'regexp_e%'"), "REGEXP_EXTRACT");
  EXPECT_EQ(Answers("SHOW USER FUNCTIONS"), "");
}

// A script may be longer than a statement.
TEST_F(StatementsTest, OnlyAStatementHasABoundOfItsLength) {
  std::string script;
  while (script.size() < kMaxStatementBytes + 1000) script += "SHOW CURRENT CATALOG;\n";
  EXPECT_EQ(Answers(script), "default_catalog");
  EXPECT_EQ(Answers("SELECT '" + std::string(kMaxStatementBytes, 'x') + "'"), "error parse");
}

}  // namespace
}  // namespace rowtide

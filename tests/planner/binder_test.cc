// The binder: which tree Calcite makes of a query, and where an error is. The trees are Flink's, as
// EXPLAIN prints them; whole scripts with them are under tests/changelog.
#include "planner/binder/bind_statement.h"

#include <gtest/gtest.h>

#include "planner/logical/explain.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

class Binder : public testing::Test {
 protected:
  void SetUp() override {
    Run("CREATE TABLE t (id BIGINT NOT NULL, k STRING, v INT, d DECIMAL(10, 2), ts TIMESTAMP(3), "
        "PRIMARY KEY (id) NOT ENFORCED)"
        " WITH ('connector' = 'rows');"
        "CREATE TABLE u (k STRING, v INT) WITH ('connector' = 'rows');"
        "CREATE TABLE w (k STRING, v INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts "
        "- INTERVAL '5' SECOND)"
        " WITH ('connector' = 'rows');"
        "CREATE TABLE s (a BIGINT, b STRING NOT NULL, c TIMESTAMP(3)) WITH ('connector' = "
        "'collect');"
        "CREATE VIEW x (kk, vv) AS SELECT k, v + 1 FROM u");
  }

  Status Execute(const std::string& sql, std::string* trees) {
    BindContext context{&catalog_, &options_, &lookup_};
    RT_ASSIGN(const std::vector<ast::Statement> statements, ParseScript(sql));
    for (const ast::Statement& statement : statements) {
      if (const auto* table = statement.as<ast::CreateTable>()) {
        RT_ASSIGN(CatalogTable made, BindCreateTable(*table, context, lookup_));
        RT_TRY(catalog_.AddTable(std::move(made), table->if_not_exists));
      } else if (const auto* view = statement.as<ast::CreateView>()) {
        RT_ASSIGN(CatalogView made, BindCreateView(*view, context));
        RT_TRY(catalog_.AddView(std::move(made), view->if_not_exists));
      } else if (const auto* insert = statement.as<ast::Insert>()) {
        RT_ASSIGN(const LogicalPointer plan, BindInsert(*insert, context));
        *trees += ExplainLogical(*plan);
      } else if (const auto* query = statement.as<ast::QueryPointer>()) {
        RT_ASSIGN(const LogicalPointer plan, BindQuery(**query, context));
        *trees += ExplainLogical(*plan);
      }
    }
    return Status::Ok();
  }

  std::string Run(const std::string& sql) {
    std::string trees;
    const Status status = Execute(sql, &trees);
    EXPECT_TRUE(status.ok()) << sql << "\n" << status.ToString();
    return trees;
  }

  // line:column kind
  std::string Failure(const std::string& sql) {
    std::string trees;
    const Status status = Execute(sql, &trees);
    EXPECT_FALSE(status.ok()) << sql;
    last_ = status;
    return fmt::format("{}:{} {}", status.position().line, status.position().column,
                       Name(status.kind()));
  }

  Catalog catalog_;
  Options options_;
  AbilityLookup lookup_ = [](CatalogTable* table) {
    table->source = SourceAbilities{};
    table->sink = SinkAbilities{};
    return Status::Ok();
  };
  Status last_;
};

TEST_F(Binder, SelectProjectsAlways) {
  EXPECT_EQ(Run("SELECT * FROM u"),
            "LogicalProject(k=[$0], v=[$1])\n"
            "+- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
  EXPECT_EQ(Run("SELECT k, k, v + 1 FROM u WHERE v BETWEEN 1 AND 2 AND k IN ('a', 'b')"),
            "LogicalProject(k=[$0], k0=[$0], EXPR$2=[+($1, 1)])\n"
            "+- LogicalFilter(condition=[AND(>=($1, 1), <=($1, 2), OR(=($0, _UTF-16LE'a'), =($0, "
            "_UTF-16LE'b')))])\n"
            "   +- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
}

TEST_F(Binder, NumbersKeepTheirSpelling) {
  EXPECT_EQ(Run("SELECT -1, -1.50, 3000000000, 1E0, 12.5E-1, .5, -2147483648, CAST(2 AS DECIMAL(5, "
                "2)) FROM u"),
            "LogicalProject(EXPR$0=[-1], EXPR$1=[-1.50:DECIMAL(3, 2)], EXPR$2=[3000000000:BIGINT], "
            "EXPR$3=[1E0:DOUBLE], "
            "EXPR$4=[1.25E0:DOUBLE], EXPR$5=[0.5:DECIMAL(1, 1)], EXPR$6=[-2147483648], "
            "EXPR$7=[2:DECIMAL(5, 2)])\n"
            "+- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
}

TEST_F(Binder, AggregatesTakeTheNamesOfTheList) {
  EXPECT_EQ(Run("SELECT k AS kk, COUNT(*), SUM(v + 1) AS s FROM u GROUP BY k HAVING MAX(v) > 3"),
            "LogicalProject(kk=[$0], EXPR$1=[$1], s=[$2])\n"
            "+- LogicalFilter(condition=[>($3, 3)])\n"
            "   +- LogicalAggregate(group=[{0}], EXPR$1=[COUNT()], s=[SUM($1)], agg#2=[MAX($2)])\n"
            "      +- LogicalProject(kk=[$0], $f1=[+($1, 1)], v=[$1])\n"
            "         +- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
  EXPECT_EQ(Run("SELECT k, v, COUNT(*) AS n FROM u GROUP BY k, v"),
            "LogicalAggregate(group=[{0, 1}], n=[COUNT()])\n"
            "+- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
}

TEST_F(Binder, TablesBringComputedColumnsAndWatermarks) {
  EXPECT_EQ(Run("SELECT k FROM w"),
            "LogicalProject(k=[$0])\n"
            "+- LogicalWatermarkAssigner(rowtime=[ts], watermark=[-($2, 5000:INTERVAL SECOND)])\n"
            "   +- LogicalProject(k=[$0], v=[$1], ts=[$2], p=[PROCTIME()])\n"
            "      +- LogicalTableScan(table=[[default_catalog, default_database, w]])\n");
}

TEST_F(Binder, ViewsAreExpanded) {
  EXPECT_EQ(Run("SELECT kk FROM x WHERE vv > 1"),
            "LogicalProject(kk=[$0])\n"
            "+- LogicalFilter(condition=[>($1, 1)])\n"
            "   +- LogicalProject(kk=[$0], vv=[+($1, 1)])\n"
            "      +- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
}

TEST_F(Binder, DistinctOverUniqueRowsVanishes) {
  EXPECT_EQ(Run("SELECT DISTINCT id, v FROM t"),
            "LogicalProject(id=[$0], v=[$2])\n"
            "+- LogicalTableScan(table=[[default_catalog, default_database, t]])\n");
}

TEST_F(Binder, OrderByBesideTheListIsHidden) {
  EXPECT_EQ(Run("SELECT k FROM u ORDER BY v DESC LIMIT 3"),
            "LogicalProject(k=[$0])\n"
            "+- LogicalSort(sort0=[$1], dir0=[DESC-nulls-last], fetch=[3])\n"
            "   +- LogicalProject(k=[$0], v=[$1])\n"
            "      +- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
}

TEST_F(Binder, InsertFillsAndCasts) {
  EXPECT_EQ(Run("INSERT INTO s (b, a) SELECT k, v FROM u"),
            "LogicalSink(table=[default_catalog.default_database.s], targetColumns=[[1],[0]], "
            "fields=[a, b, c])\n"
            "+- LogicalProject(a=[CAST($1):BIGINT], b=[$0], c=[null:TIMESTAMP(3)])\n"
            "   +- LogicalTableScan(table=[[default_catalog, default_database, u]])\n");
  EXPECT_EQ(Failure("INSERT INTO s SELECT k, v FROM u"), "1:1 validate");
  EXPECT_EQ(Failure("INSERT INTO s (a) SELECT v FROM u"), "1:1 validate");
}

TEST_F(Binder, LateralTakesColumnsOfTheLeft) {
  EXPECT_EQ(Run("SELECT g.k, id FROM (SELECT DISTINCT k FROM u) g, LATERAL (SELECT id FROM t WHERE "
                "t.k = g.k ORDER BY id LIMIT 2)"),
            "LogicalProject(k=[$0], id=[$1])\n"
            "+- LogicalCorrelate(correlation=[$cor1], joinType=[inner], requiredColumns=[{0}])\n"
            "   :- LogicalAggregate(group=[{0}])\n"
            "   :  +- LogicalProject(k=[$0])\n"
            "   :     +- LogicalTableScan(table=[[default_catalog, default_database, u]])\n"
            "   +- LogicalSort(sort0=[$0], dir0=[ASC-nulls-first], fetch=[2])\n"
            "      +- LogicalProject(id=[$0])\n"
            "         +- LogicalFilter(condition=[=($1, $cor1.k)])\n"
            "            +- LogicalTableScan(table=[[default_catalog, default_database, t]])\n");
}

TEST_F(Binder, ErrorsHaveAPlaceAndTheNearestName) {
  EXPECT_EQ(Failure("SELECT kk FROM u"), "1:8 validate");
  EXPECT_EQ(last_.hint(), "The nearest is 'k'.");
  EXPECT_EQ(Failure("SELECT k\nFROM uu"), "2:6 validate");
  EXPECT_EQ(Failure("SELECT k FROM u a, u b"), "1:8 validate");
  EXPECT_EQ(Failure("SELECT k, COUNT(*) FROM u GROUP BY v"), "1:8 validate");
  EXPECT_EQ(Failure("SELECT COUNTT(v) FROM u"), "1:8 validate");
  EXPECT_EQ(last_.hint(), "The nearest is COUNT.");
  EXPECT_EQ(Failure("SELECT k FROM u WHERE v"), "1:23 validate");
  EXPECT_EQ(Failure("SELECT k FROM u WHERE SUM(v) > 1"), "1:23 validate");
  EXPECT_EQ(Failure("SELECT NULL FROM u"), "1:8 validate");
  EXPECT_EQ(Failure("SELECT k FROM u UNION ALL SELECT k, v FROM u"), "1:27 validate");
  EXPECT_EQ(Failure("CREATE TABLE y (a INT, a INT)"), "1:24 validate");
  EXPECT_EQ(Failure("CREATE TABLE y (a INT PRIMARY KEY)"), "1:23 validate");
  EXPECT_EQ(Failure("CREATE TABLE y (a INT, WATERMARK FOR a AS a)"), "1:43 validate");
}

}  // namespace
}  // namespace rowtide

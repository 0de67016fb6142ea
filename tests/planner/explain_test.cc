// The printers of EXPLAIN over small trees that are made by hand.
#include "planner/explain.h"

#include <gtest/gtest.h>

#include "planner/exec/explain.h"
#include "planner/exec/expression_text.h"
#include "planner/exec/to_exec.h"
#include "planner/physical/explain.h"

namespace rowtide {
namespace {

const ChangelogTrait kAppends = {{true, false, false}, UpdateKind::kNone, DeleteKind::kNone};
const ChangelogTrait kRetracts = {
    {true, true, true}, UpdateKind::kBeforeAndAfter, DeleteKind::kFull};
const ChangelogTrait kUpserts = {
    {true, true, true}, UpdateKind::kOnlyUpdateAfter, DeleteKind::kByKey};

TablePointer Orders() {
  CatalogTable table;
  table.path = {"default_catalog", "default_database", "o"};
  for (const char* name : {"id", "v", "ts"}) {
    TableColumn column;
    column.name = name;
    column.type = name == std::string("ts") ? Type::Timestamp(3) : Type::Int();
    table.columns.push_back(column);
  }
  return std::make_shared<const CatalogTable>(std::move(table));
}

Schema OrderFields(TimeAttribute attribute) {
  return Schema({{"id", Type::Int()},
                 {"v", Type::Int()},
                 {"ts", Type::Timestamp(3).WithTimeAttribute(attribute)}});
}

PhysicalPointer ScanOrders(TimeAttribute attribute = TimeAttribute::kRowtime) {
  PhysicalScan scan;
  scan.table = Orders();
  scan.columns = {0, 1, 2};
  return MakePhysical(scan, {}, OrderFields(attribute), kAppends);
}

PhysicalPointer Hashed(PhysicalPointer input, std::vector<int> keys) {
  Schema schema = input->schema;
  const ChangelogTrait trait = input->trait;
  return MakePhysical(PhysicalExchange{std::move(keys)}, {std::move(input)}, std::move(schema),
                      trait);
}

PhysicalPointer LatestOf(PhysicalPointer input, bool descending, ChangelogTrait trait) {
  PhysicalRank rank;
  rank.range = {1, 1, -1};
  rank.partition = {0};
  rank.order = {{2, descending, !descending}};
  rank.strategy.kind = RankStrategy::Kind::kAppendFast;
  Schema schema = input->schema;
  return MakePhysical(rank, {Hashed(std::move(input), {0})}, std::move(schema), trait);
}

PhysicalPointer SinkInto(const char* name, PhysicalPointer input) {
  CatalogTable table;
  table.path = {"default_catalog", "default_database", name};
  PhysicalSink sink;
  sink.table = std::make_shared<const CatalogTable>(std::move(table));
  Schema schema = input->schema;
  return MakePhysical(sink, {std::move(input)}, std::move(schema));
}

Expression V() { return Expression::Input(1, Type::Int()); }
Expression Number(int64_t value) { return Expression::Literal(value, Type::Int().NotNull()); }
Expression Greater(Expression a, Expression b) {
  return Expression::Call(">", {std::move(a), std::move(b)}, Type::Boolean());
}

std::string Exec(const Expression& e) {
  return ExecText(e, [](int column) { return std::string(column == 0 ? "id" : "v"); });
}

ExecPlan ExecOf(const std::vector<PhysicalPointer>& roots, const PlannerOptions& options = {}) {
  Result<ExecPlan> plan = ToExec(roots, options);
  RT_CHECK(plan.ok());
  return *plan;
}

TEST(ExplainPhysical, RankOverRowtime) {
  EXPECT_EQ(
      ExplainPhysical({LatestOf(ScanOrders(), true, kRetracts)}),
      "Rank(strategy=[AppendFastStrategy], rankType=[ROW_NUMBER], rankRange=[rankStart=1, "
      "rankEnd=1], "
      "partitionBy=[id], orderBy=[ROWTIME ts DESC], select=[id, v, ts], "
      "changelogMode=[I,UB,UA,D])\n"
      "+- Exchange(distribution=[hash[id]], changelogMode=[I])\n"
      "   +- TableSourceScan(table=[[default_catalog, default_database, o]], fields=[id, v, ts], "
      "changelogMode=[I])\n");
}

TEST(ExplainPhysical, KeyOnlyDeletes) {
  const std::string text = ExplainPhysical({LatestOf(ScanOrders(), true, kUpserts)});
  EXPECT_NE(text.find("changelogMode=[I,UA,PD])\n"), std::string::npos);
}

TEST(ExplainPhysical, ScanAbilities) {
  PhysicalScan scan;
  scan.table = Orders();
  scan.columns = {0, 1};
  scan.projected = true;
  scan.filter_tried = true;
  Sarg sarg;
  sarg.type = Type::Int();
  sarg.ranges.push_back({Value(int64_t{1}), Value(int64_t{3}), true, false});
  sarg.ranges.push_back({Value(int64_t{7}), Value(int64_t{7}), true, true});
  sarg.null_as = Sarg::NullAs::kTrue;
  Expression search = Expression::Call("SEARCH", {V()}, Type::Boolean());
  search.sarg = std::make_shared<const Sarg>(sarg);
  scan.filters = {Greater(Expression::Input(0, Type::Int()), Number(2)), search};
  scan.limit = 4;
  const Schema schema({{"id", Type::Int()}, {"v", Type::Int()}});
  EXPECT_EQ(ExplainPhysical({MakePhysical(scan, {}, schema, kAppends)}),
            "TableSourceScan(table=[[default_catalog, default_database, o, filter=[and(>(id, 2), "
            "OR(IS NULL(v), AND(>=(v, 1), <(v, 3)), =(v, 7)))], project=[id, v], metadata=[], "
            "limit=[4]]], "
            "fields=[id, v], changelogMode=[I])\n");
}

TEST(ExplainPhysical, UnionOfTwoAndValues) {
  const Schema schema({{"x", Type::Int().NotNull()}});
  PhysicalValues values;
  values.rows = {{Number(1)}, {Number(2)}};
  const PhysicalPointer leaf = MakePhysical(values, {}, schema, kAppends);
  const PhysicalPointer both = MakePhysical(PhysicalUnion{}, {leaf, leaf}, schema, kAppends);
  const std::string row =
      "Values(type=[RecordType(INTEGER x)], tuples=[[{ 1 }, { 2 }]], changelogMode=[I])\n";
  EXPECT_EQ(ExplainPhysical({both}),
            "Union(all=[true], union=[x], changelogMode=[I])\n:- " + row + "+- " + row);
  EXPECT_EQ(ExplainExec(ExecOf({both})),
            "Union(all=[true], union=[x])\n"
            ":- Values(tuples=[[{ 1 }, { 2 }]])(reuse_id=[1])\n"
            "+- Reused(reference_id=[1])\n");
}

PhysicalGroupAggregate SumAndCount(AggregatePhase phase) {
  PhysicalGroupAggregate aggregate;
  aggregate.phase = phase;
  aggregate.group = {0};
  aggregate.calls = {{"SUM", {1}, false, -1, "s", Type::Int()},
                     {"COUNT", {1}, true, -1, "d", Type::BigInt()}};
  aggregate.retracts = {true, true};
  aggregate.counts_rows = true;
  return aggregate;
}

TEST(ExplainPhysical, AccumulatorsOfTwoPhases) {
  const PhysicalPointer rows = LatestOf(ScanOrders(), true, kRetracts);
  const Schema partial({{"id", Type::Int()}, {"a", Type::Int()}, {"b", Type::Int()}});
  const Schema result({{"id", Type::Int()}, {"s", Type::Int()}, {"d", Type::BigInt()}});
  const PhysicalPointer local =
      MakePhysical(SumAndCount(AggregatePhase::kLocal), {rows}, partial, kAppends);
  PhysicalGroupAggregate global = SumAndCount(AggregatePhase::kGlobal);
  global.raw_input = rows->schema;
  const std::string text =
      ExplainPhysical({MakePhysical(global, {Hashed(local, {0})}, result, kRetracts)});
  EXPECT_NE(
      text.find(
          "GlobalGroupAggregate(groupBy=[id], select=[id, SUM_RETRACT((sum$0, count$1)) AS s, "
          "COUNT_RETRACT(distinct$0 count$2) AS d], changelogMode="),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("LocalGroupAggregate(groupBy=[id], select=[id, SUM_RETRACT(v) AS (sum$0, count$1), "
                "COUNT_RETRACT(distinct$0 v) AS count$2, COUNT_RETRACT(*) AS count1$3, "
                "DISTINCT(v) AS distinct$0], changelogMode=[I])"),
      std::string::npos)
      << text;
}

TEST(ExecText, Forms) {
  const Expression v_big = Greater(V(), Number(1));
  EXPECT_EQ(Exec(v_big), "(v > 1)");
  EXPECT_EQ(Exec(Expression::Call("IS TRUE", {v_big}, Type::Boolean())), "(v > 1) IS TRUE");
  EXPECT_EQ(Exec(Expression::Call("NOT", {v_big}, Type::Boolean())), "NOT((v > 1))");
  EXPECT_EQ(Exec(Expression::Call("-", {V()}, Type::Int())), "-(v)");
  EXPECT_EQ(Exec(Expression::Call("MOD", {V(), Number(3)}, Type::Int())), "MOD(v, 3)");
  EXPECT_EQ(Exec(Expression::Cast(V(), Type::String().NotNull())),
            "CAST(v AS VARCHAR(2147483647))");
  EXPECT_EQ(Exec(Expression::Null(Type::VarChar(3))), "null:VARCHAR(3)");
  EXPECT_EQ(Exec(Expression::Literal(std::string("it's"), Type::Char(4).NotNull())), "'it's'");
  EXPECT_EQ(
      Exec(Expression::Call("OR", {v_big, Expression::Call("IS NULL", {V()}, Type::Boolean())},
                            Type::Boolean())),
      "((v > 1) OR v IS NULL)");
}

TEST(ToExec, DeduplicateOfAppendsByTime) {
  PlannerOptions options;
  EXPECT_EQ(ExecNodeText(*ExecOf({LatestOf(ScanOrders(), true, kRetracts)}).roots[0]),
            "Deduplicate(keep=[LastRow], key=[id], order=[ROWTIME], outputInsertOnly=[false])");
  EXPECT_EQ(ExecNodeText(*ExecOf({LatestOf(ScanOrders(), false, kAppends)}).roots[0]),
            "Deduplicate(keep=[FirstRow], key=[id], order=[ROWTIME], outputInsertOnly=[true])");
  options.mini_batch = true;
  EXPECT_EQ(ExecNodeText(*ExecOf({LatestOf(ScanOrders(), false, kAppends)}, options).roots[0]),
            "Deduplicate(keep=[FirstRow], key=[id], order=[ROWTIME], outputInsertOnly=[false])");
  const PhysicalPointer plain = ScanOrders(TimeAttribute::kNone);
  EXPECT_NE(ExecOf({LatestOf(plain, true, kRetracts)}).roots[0]->as<PhysicalRank>(), nullptr);
  const PhysicalPointer updating =
      LatestOf(LatestOf(ScanOrders(), true, kRetracts), true, kRetracts);
  EXPECT_NE(ExecOf({updating}).roots[0]->as<PhysicalRank>(), nullptr);
}

TEST(ToExec, RefusesRank) {
  PhysicalRank rank;
  rank.type = RankType::kDenseRank;
  rank.range = {1, 2, -1};
  const Result<ExecPlan> plan =
      ToExec({MakePhysical(rank, {ScanOrders()}, OrderFields(TimeAttribute::kNone))}, {});
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().kind(), ErrorKind::kPlan);
}

TEST(ToExec, SharesWhatGivesTheSameKinds) {
  const PhysicalPointer a = SinkInto("a", LatestOf(ScanOrders(), true, kRetracts));
  const PhysicalPointer b = SinkInto("b", LatestOf(ScanOrders(), true, kRetracts));
  const PhysicalPointer c = SinkInto("c", LatestOf(ScanOrders(), true, kUpserts));
  const ExecPlan same = ExecOf({a, b});
  EXPECT_EQ(same.roots[0]->inputs[0], same.roots[1]->inputs[0]);
  EXPECT_EQ(
      ExplainExec(same),
      "Deduplicate(keep=[LastRow], key=[id], order=[ROWTIME], "
      "outputInsertOnly=[false])(reuse_id=[1])\n"
      "+- Exchange(distribution=[hash[id]])\n"
      "   +- TableSourceScan(table=[[default_catalog, default_database, o]], fields=[id, v, ts])\n"
      "\n"
      "Sink(table=[default_catalog.default_database.a], fields=[id, v, ts])\n"
      "+- Reused(reference_id=[1])\n"
      "\n"
      "Sink(table=[default_catalog.default_database.b], fields=[id, v, ts])\n"
      "+- Reused(reference_id=[1])\n");
  const ExecPlan differ = ExecOf({a, c});
  EXPECT_NE(differ.roots[0]->inputs[0], differ.roots[1]->inputs[0]);
  EXPECT_EQ(differ.roots[0]->inputs[0]->inputs[0]->reuse_id, 1);
}

TEST(ExplainSections, DeviationsOnlyWhenThereAreAny) {
  const PhysicalPointer scan = ScanOrders();
  const ExecPlan exec = ExecOf({scan});
  const std::string plain = ExplainSections("LogicalTableScan\n", {scan}, exec, {});
  EXPECT_EQ(plain.find("Deviations"), std::string::npos);
  EXPECT_EQ(plain.substr(0, 45), "== Abstract Syntax Tree ==\nLogicalTableScan\n\n");
  const std::string noted =
      ExplainSections("LogicalTableScan\n", {scan}, exec,
                      {{"Deviations From Flink", {"15.3 one line"}}, {"Advice", {}}});
  EXPECT_EQ(noted, plain + "\n== Deviations From Flink ==\n15.3 one line\n");
}

}  // namespace
}  // namespace rowtide

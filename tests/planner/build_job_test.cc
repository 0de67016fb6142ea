// Job graphs from execution plans made by hand: order of sources, shared nodes, sinks, restore.
#include "planner/exec/build_job.h"

#include <gtest/gtest.h>

#include "connectors/collect.h"
#include "connectors/rows.h"
#include "engine/runtime/job.h"

namespace rowtide {
namespace {

Schema KeyAndNumber() { return Schema({{"k", Type::String()}, {"n", Type::Int()}}); }

TablePointer Table(const std::string& name, const std::string& connector) {
  auto table = std::make_shared<CatalogTable>();
  table->path = {"default_catalog", "default_database", name};
  const Schema schema = KeyAndNumber();
  for (const Field& field : schema.fields()) {
    TableColumn column;
    column.name = field.name;
    column.type = field.type;
    table->columns.push_back(column);
  }
  table->options["connector"] = connector;
  table->source = SourceAbilities{};
  table->sink = SinkAbilities{};
  return table;
}

template <typename Op>
std::shared_ptr<ExecNode> Node(Op op, std::vector<ExecPointer> inputs) {
  auto node = std::make_shared<ExecNode>();
  node->op = std::move(op);
  node->inputs = std::move(inputs);
  node->schema = KeyAndNumber();
  return node;
}

ExecPointer Scan(const std::string& name) {
  PhysicalScan scan;
  scan.table = Table(name, "rows");
  scan.columns = {0, 1};
  return Node(scan, {});
}

ExecPointer KeepLast(ExecPointer input) {
  ExecDeduplicate keep;
  keep.keys = {0};
  keep.keeps_last = true;
  auto node = Node(keep, {std::move(input)});
  node->generates_update_before = true;
  return node;
}

ExecPointer Collect(const std::string& name, ExecPointer input) {
  PhysicalSink sink;
  sink.table = Table(name, "collect");
  return Node(sink, {std::move(input)});
}

class BuildJobTest : public testing::Test {
 protected:
  std::unique_ptr<Job> Build(const PlannedJob& planned) {
    feed_.Reset();
    BuildContext context;
    context.connectors.clock = &clock_;
    context.connectors.feed = &feed_;
    context.connectors.collected = &collected_;
    Result<std::vector<JobGraph>> graphs = BuildJob(planned, std::move(context));
    EXPECT_TRUE(graphs.ok()) << graphs.status().message();
    return std::make_unique<Job>(std::move(*graphs));
  }

  std::vector<std::string> Rows(const std::string& table) {
    std::vector<std::string> rows;
    for (const CollectedRow& row : collected_.of("default_catalog.default_database." + table)) {
      rows.push_back(std::string(Text(row.kind)) + row.text);
    }
    return rows;
  }

  void Feed(const std::vector<std::string>& lines) {
    std::vector<ScriptEvent> events;
    for (const std::string& line : lines) events.push_back(*ParseScriptEvent(line, 0));
    feed_ = RowsFeed(std::move(events));
    feed_.SetCuts([] { return 1; });
  }

  ManualClock clock_;
  RowsFeed feed_{{}};
  CollectedRows collected_;
};

using Lines = std::vector<std::string>;

TEST_F(BuildJobTest, RunsAPlanWithAnExchange) {
  Feed({"t +I [\"a\",1]", "t +I [\"a\",2]"});
  PlannedJob planned;
  planned.plan.roots = {Collect("s", KeepLast(Node(PhysicalExchange{{0}}, {Scan("t")})))};
  const std::unique_ptr<Job> job = Build(planned);
  ASSERT_TRUE(job->RunToEnd().ok());
  EXPECT_EQ(Rows("s"), (Lines{"+I[\"a\",1]", "-U[\"a\",1]", "+U[\"a\",2]"}));
  EXPECT_EQ(job->Stats().size(), 3u);  // the Exchange is no node
}

TEST_F(BuildJobTest, SharesWhatSeveralSinksRead) {
  Feed({"t +I [\"a\",1]"});
  const ExecPointer scan = Scan("t");
  PlannedJob planned;
  planned.plan.roots = {Collect("one", KeepLast(scan)), Collect("two", scan)};
  const std::unique_ptr<Job> job = Build(planned);
  ASSERT_TRUE(job->RunToEnd().ok());
  EXPECT_EQ(Rows("one"), (Lines{"+I[\"a\",1]"}));
  EXPECT_EQ(Rows("two"), Rows("one"));
  EXPECT_EQ(job->Stats().size(), 4u);
}

TEST_F(BuildJobTest, LetsRowsOfSeveralTablesInOneByOne) {
  Feed({"b +I [\"b\",1]", "a +I [\"a\",2]", "b +I [\"b\",3]"});
  PlannedJob planned;
  planned.plan.roots = {Collect("s", Node(PhysicalUnion{}, {Scan("b"), Scan("a")}))};
  ASSERT_TRUE(Build(planned)->RunToEnd().ok());
  EXPECT_EQ(Rows("s"), (Lines{"+I[\"b\",1]", "+I[\"a\",2]", "+I[\"b\",3]"}));
}

TEST_F(BuildJobTest, BuildsAgainAndGoesOnFromBytes) {
  Feed({"t +I [\"a\",1]", "t +I [\"a\",2]", "t +I [\"a\",3]"});
  PlannedJob planned;
  planned.plan.roots = {Collect("s", KeepLast(Scan("t")))};
  std::unique_ptr<Job> job = Build(planned);
  ASSERT_TRUE(job->Step().ok());
  const Result<Checkpoint> kept = job->Snapshot();
  ASSERT_TRUE(kept.ok());
  job = Build(planned);
  ASSERT_TRUE(job->Restore(*kept).ok());
  ASSERT_TRUE(job->RunToEnd().ok());
  EXPECT_EQ(Rows("s"),
            (Lines{"+I[\"a\",1]", "-U[\"a\",1]", "+U[\"a\",2]", "-U[\"a\",2]", "+U[\"a\",3]"}));
}

TEST_F(BuildJobTest, KnowsWhatReadsWatermarks) {
  ExecDeduplicate first;
  first.rowtime = true;
  EXPECT_TRUE(ReadsWatermarks({{Node(first, {Scan("t")})}}));
  EXPECT_FALSE(ReadsWatermarks({{KeepLast(Scan("t"))}}));
}

}  // namespace
}  // namespace rowtide

#include "planner/exec/build_job.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/runtime/sink_thread.h"
#include "engine/runtime/source_thread.h"
#include "operators/drop_update_before.h"
#include "operators/group_aggregate.h"
#include "operators/mini_batch_assigner.h"
#include "operators/union.h"
#include "operators/values.h"
#include "planner/exec/explain.h"
#include "planner/exec/node_operators.h"
#include "planner/exec/outputs.h"

namespace rowtide {

namespace {

constexpr int kTableBits = 16;  // an operator has fewer states than that

std::vector<std::string> ColumnTexts(const Schema& schema) {
  std::vector<std::string> columns;
  for (int i = 0; i < schema.size(); ++i)
    columns.push_back(schema.name(i) + " " + ToString(schema.type(i)));
  return columns;
}

void AddTablesBelow(const ExecNode& node, std::set<std::string>* tables) {
  if (const auto* scan = node.as<PhysicalScan>()) tables->insert(scan->table->path.ToString());
  for (const ExecPointer& input : node.inputs) AddTablesBelow(*input, tables);
}

// What the node does, and to whose rows: by this its state is found again when the query has
// changed elsewhere.
std::string DescriptionOf(const ExecNode& node) {
  std::set<std::string> tables;
  AddTablesBelow(node, &tables);
  return fmt::format("{} of {}", ExecNodeText(node), fmt::join(tables, ", "));
}

// Where a node's rows come from, by the number of its job node.
using Numbers = std::map<const ExecNode*, int>;

bool IsSource(const ExecNode& node) { return node.as<PhysicalScan>() || node.as<PhysicalValues>(); }

class JobBuilder {
 public:
  JobBuilder(const PlannedJob& job, BuildContext context)
      : job_(job), context_(std::move(context)) {}

  Result<JobGraph> Build() {
    RT_TRY(AddSources());
    for (const ExecPointer& root : job_.plan.roots) RT_TRY(AddRoot(*root));
    graph_.MarkMeetingFanOuts();
    return std::move(graph_);
  }

 private:
  // --- sources ---
  static std::string NameOf(const ExecNode& source) {
    const auto* scan = source.as<PhysicalScan>();
    return scan ? scan->table->path.ToString() : "";
  }

  void CollectSources(const ExecPointer& node, std::vector<const ExecNode*>* sources) const {
    if (IsSource(*node) &&
        std::find(sources->begin(), sources->end(), node.get()) == sources->end()) {
      sources->push_back(node.get());
    }
    for (const ExecPointer& input : node->inputs) CollectSources(input, sources);
  }

  Status AddSources() {
    std::vector<const ExecNode*> sources;
    for (const ExecPointer& root : job_.plan.roots) CollectSources(root, &sources);
    std::stable_sort(sources.begin(), sources.end(),
                     [](const ExecNode* a, const ExecNode* b) { return NameOf(*a) < NameOf(*b); });
    threads_any_source_ = context_.on_threads && sources.size() == 1;
    for (const ExecNode* source : sources) RT_TRY(AddSource(*source));
    return Status::Ok();
  }

  Status AddSource(const ExecNode& node) {
    const int number = graph_.AddNode(DisplayName(node));
    RT_ASSIGN(std::unique_ptr<Source> source, MakeSource(node, number));
    graph_.SetSource(number, std::move(source));
    graph_.Describe(number, DescriptionOf(node), ColumnTexts(node.schema));
    numbers_[&node] = number;
    return Status::Ok();
  }

  Result<std::unique_ptr<Source>> MakeSource(const ExecNode& node, int number) {
    const auto* scan = node.as<PhysicalScan>();
    if (!scan) return CreateValues(*node.as<PhysicalValues>(), node.schema, job_.options);
    ConnectorContext connectors = Connectors(number);
    if (!HasThread(*scan)) return CreateScan(*scan, job_.options, connectors);
    auto counters = std::make_unique<Counters>();
    Counters* const counted = std::exchange(connectors.counters, counters.get());
    RT_ASSIGN(std::unique_ptr<Source> source, CreateScan(*scan, job_.options, connectors));
    return std::unique_ptr<Source>(
        std::make_unique<SourceThread>(std::move(source), std::move(counters), counted));
  }

  bool HasThread(const PhysicalScan& scan) const {
    if (threads_any_source_) return true;
    if (!context_.on_threads && job_.options.GetInt("rowtide.source-threads") == 0) return false;
    const ConnectorTraits traits = TraitsOf(TableSpecOf(*scan.table, scan.hint_options));
    return traits.source && traits.source->threads;
  }

  ConnectorContext Connectors(int number) {
    ConnectorContext connectors = context_.connectors;
    connectors.counters = &graph_.meters(number)->counters;
    connectors.local_time_zone = job_.local_time_zone();
    return connectors;
  }

  // --- operators ---
  Status AddRoot(const ExecNode& root) {
    if (const auto* sink = root.as<PhysicalSink>()) return AddSink(root, *sink);
    RT_ASSIGN(const int input, Add(root));
    if (context_.result == nullptr) return Status::Internal("a query without a place for its rows");
    const int number = graph_.AddNode("Result");
    graph_.SetSink(number, context_.on_threads ? OnThread(std::move(context_.result))
                                               : std::move(context_.result));
    graph_.Connect(input, number, 0);
    return Status::Ok();
  }

  // The number of the job node that puts out the node's rows.
  Result<int> Add(const ExecNode& node) {
    const auto known = numbers_.find(&node);
    if (known != numbers_.end()) return known->second;
    std::vector<int> inputs;
    for (const ExecPointer& input : node.inputs) {
      RT_ASSIGN(int number, Add(*input));
      if (node.as<PhysicalUnion>()) {
        RT_ASSIGN(number, Convert(number, input->schema, node.schema));
      }
      inputs.push_back(number);
    }
    if (node.as<PhysicalExchange>()) return Remember(node, inputs[0]);
    const int number = graph_.AddNode(DisplayName(node));
    RT_ASSIGN(std::unique_ptr<Operator> operation, MakeOperator(node, number));
    graph_.SetOperator(number, std::move(operation), static_cast<int>(inputs.size()));
    graph_.Describe(number, DescriptionOf(node), ColumnTexts(node.schema));
    for (size_t i = 0; i < inputs.size(); ++i)
      graph_.Connect(inputs[i], number, static_cast<int>(i));
    return Remember(node, number);
  }

  Result<std::unique_ptr<Operator>> MakeOperator(const ExecNode& node, int number) {
    const auto path = job_.conflict_paths.find(&node);
    const bool has_path = path != job_.conflict_paths.end();
    if (!node.as<ExecDeduplicate>() || !(context_.counts_conflicts || has_path)) {
      return CreateOperator(node, job_.options, Context(number), context_.defers_watermarks);
    }
    std::unique_ptr<ConflictLog> log;
    if (has_path) {
      RT_ASSIGN(log, OpenConflictLog(path->second));
    }
    return CreateWatchedDeduplicate(node, job_.options, Context(number), std::move(log));
  }

  Result<int> AddStage(int input, const OperatorStage& stage) {
    const int number = graph_.AddNode(stage.name);
    RT_ASSIGN(std::unique_ptr<Operator> operation, stage.create(Context(number)));
    graph_.SetOperator(number, std::move(operation), 1);
    graph_.Connect(input, number, 0);
    return number;
  }

  // The columns of a union lie alike, whatever its inputs' types are in the plan.
  Result<int> Convert(int input, const Schema& from, const Schema& to) {
    const std::optional<OperatorStage> conversion = ConversionOf(from, to);
    if (!conversion) return input;
    return AddStage(input, *conversion);
  }

  int Remember(const ExecNode& node, int number) {
    numbers_[&node] = number;
    return number;
  }

  OperatorContext Context(int number) {
    NodeMeters* meters = graph_.meters(number);
    OperatorContext context = OperatorContextOf(job_.options);
    context.clock = context_.connectors.clock;
    context.counters = &meters->counters;
    context.state_size = &meters->state;
    context.tier = context_.tier;
    context.first_table = static_cast<uint32_t>(number) << kTableBits;
    return context;
  }

  // --- sinks ---
  // input -> [ConstraintEnforcer] -> [SinkUpsertMaterializer] -> sink
  Status AddSink(const ExecNode& node, const PhysicalSink& sink) {
    RT_ASSIGN(int input, Add(*node.inputs[0]));
    for (const OperatorStage& stage : SinkStagesOf(node, sink, job_.options)) {
      RT_ASSIGN(input, AddStage(input, stage));
      graph_.Describe(input, fmt::format("{} before {}", stage.name, DescriptionOf(node)),
                      ColumnTexts(node.inputs[0]->schema));
    }
    const int number = graph_.AddNode(DisplayName(node));
    ConnectorContext connectors = Connectors(number);
    const std::string name = DisplayName(node);
    const int occurrence = ++sinks_of_table_[name];
    connectors.sink_seed = SeedOf(context_.job_id, name, occurrence);
    connectors.earlier_sink_seed = SeedOf(context_.earlier_job_id, name, occurrence);
    RT_ASSIGN(std::unique_ptr<Sink> target, CreateTableSink(sink, job_.options, connectors));
    // Two sinks of one table would meet on two threads: tests that look at their order do not.
    const bool has_thread = (context_.on_threads && job_.plan.roots.size() == 1) ||
                            job_.options.GetInt("rowtide.sink-threads") > 0;
    graph_.SetSink(number, has_thread ? OnThread(std::move(target)) : std::move(target));
    graph_.Connect(input, number, 0);
    return Status::Ok();
  }

  static std::string SeedOf(const std::string& job_id, const std::string& sink, int occurrence) {
    return job_id.empty() ? "" : fmt::format("{} {} {}", job_id, sink, occurrence);
  }

  static std::unique_ptr<Sink> OnThread(std::unique_ptr<Sink> sink) {
    return std::make_unique<SinkThread>(std::move(sink));
  }

  const PlannedJob& job_;
  BuildContext context_;
  bool threads_any_source_ = false;
  JobGraph graph_;
  Numbers numbers_;
  std::map<std::string, int> sinks_of_table_;
};

// Keep-first by event time fires on watermarks, a mini-batch by event time flushes on them, a
// materializer that checks for conflicts waits for them, CURRENT_WATERMARK shows them.
bool NodeReadsWatermarks(const ExecNode& node) {
  if (const auto* keep = node.as<ExecDeduplicate>()) return keep->rowtime && !keep->keeps_last;
  if (node.as<PhysicalMiniBatchAssigner>()) return true;
  if (const auto* sink = node.as<PhysicalSink>()) {
    return sink->conflict == ConflictStrategy::kError ||
           sink->conflict == ConflictStrategy::kNothing;
  }
  if (const auto* calc = node.as<PhysicalCalc>()) {
    bool reads = false;
    const auto visit = [&](const Expression& part) { reads |= part.is_call("CURRENT_WATERMARK"); };
    for (const Expression& projection : calc->projections) Walk(projection, visit);
    if (calc->condition) Walk(*calc->condition, visit);
    return reads;
  }
  return false;
}

bool TreeReadsWatermarks(const ExecNode& node) {
  return NodeReadsWatermarks(node) ||
         std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const ExecPointer& input) { return TreeReadsWatermarks(*input); });
}

}  // namespace

Result<JobGraph> BuildJob(const PlannedJob& job, BuildContext context) {
  RT_TRY(CheckOutputs(job));
  return JobBuilder(job, std::move(context)).Build();
}

bool ReadsWatermarks(const ExecPlan& plan) {
  return std::any_of(plan.roots.begin(), plan.roots.end(),
                     [](const ExecPointer& root) { return TreeReadsWatermarks(*root); });
}

}  // namespace rowtide

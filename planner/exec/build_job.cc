#include "planner/exec/build_job.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "connectors/dead_letters.h"
#include "connectors/files/list.h"
#include "connectors/kafka/sink.h"
#include "engine/keyed_state.h"
#include "engine/runtime/sink_thread.h"
#include "engine/runtime/source_thread.h"
#include "operators/drop_update_before.h"
#include "operators/group_aggregate.h"
#include "operators/mini_batch_assigner.h"
#include "operators/union.h"
#include "operators/values.h"
#include "planner/exec/explain.h"
#include "planner/exec/key_partitioner.h"
#include "planner/exec/node_operators.h"
#include "planner/exec/outputs.h"
#include "planner/physical/sink_keys.h"

namespace rowtide {

namespace {

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

// What a job node puts out, and where.
struct Rows {
  int node = 0;         // the same number in every lane
  bool in_all = false;  // else in the first lane alone
  // All rows of one value of these columns are in one lane. None: not known.
  std::optional<std::vector<int>> hashed_by;
};
using RowsOfNode = std::map<const ExecNode*, Rows>;

bool IsSource(const ExecNode& node) { return node.as<PhysicalScan>() || node.as<PhysicalValues>(); }

// What becomes of the columns that rows are hashed by when a node has handed the rows on.
std::optional<std::vector<int>> HashedAfter(const ExecNode& node,
                                            const std::optional<std::vector<int>>& before) {
  if (!before) return std::nullopt;
  if (const auto* aggregate = node.as<PhysicalGroupAggregate>()) {
    if (*before != aggregate->group) return std::nullopt;
    std::vector<int> keys(aggregate->group.size());
    std::iota(keys.begin(), keys.end(), 0);
    return keys;
  }
  const auto* calc = node.as<PhysicalCalc>();
  if (!calc) return before;  // columns stay where they are
  std::vector<int> keys;
  for (const int key : *before) {
    const auto found =
        std::find_if(calc->projections.begin(), calc->projections.end(),
                     [key](const Expression& e) { return e.is_input() && e.column == key; });
    if (found == calc->projections.end()) return std::nullopt;
    keys.push_back(static_cast<int>(found - calc->projections.begin()));
  }
  return keys;
}

// Stands for a sink where no rows come.
class NoSink final : public Sink {
 public:
  Status Write(const RowBatch& /*batch*/) override { return Status::Ok(); }
};

class JobBuilder {
 public:
  JobBuilder(const PlannedJob& job, BuildContext context)
      : job_(job),
        context_(std::move(context)),
        lanes_(context_.lanes > 0 ? context_.lanes : LanesOf(job)) {
    for (int lane = 0; lane < lanes_; ++lane) graphs_.emplace_back();
  }

  Result<std::vector<JobGraph>> Build() {
    RT_TRY(AddSources());
    for (const ExecPointer& root : job_.plan.roots) RT_TRY(AddRoot(*root));
    for (JobGraph& graph : graphs_) graph.MarkMeetingFanOuts();
    if (context_.exchange_bytes > 0) LimitChannels();
    return std::move(graphs_);
  }

 private:
  // --- nodes: the same in every lane, but only the first has those that are not `in_all` ---
  // What only brings rows to other lanes counts for nothing: tables have the same numbers on any
  // number of lanes.
  Rows AddNode(const std::string& name, bool in_all, bool is_crossing = false) {
    Rows rows{0, in_all && lanes_ > 1, std::nullopt};
    table_of_node_.push_back(is_crossing ? 0 : NextTable());
    for (int lane = 0; lane < lanes_; ++lane) {
      rows.node = graph(lane).AddNode(name);
      graph(lane).SetTable(rows.node, table_of_node_.back());
      if (!IsIn(lane, rows)) graph(lane).SetAbsent(rows.node);
      if (is_crossing) graph(lane).SetCrossing(rows.node);
    }
    return rows;
  }
  uint32_t NextTable() {
    const size_t number = tables_++;
    return number < context_.tables.size() ? context_.tables[number]
                                           : static_cast<uint32_t>(number) + 1;
  }
  void Describe(const Rows& rows, const std::string& description, const Schema& schema) {
    for (JobGraph& graph : graphs_) graph.Describe(rows.node, description, ColumnTexts(schema));
  }
  void SetMode(const Rows& rows, const ChangelogMode& mode) {
    for (JobGraph& graph : graphs_) graph.SetMode(rows.node, mode);
  }
  JobGraph& graph(int lane) { return graphs_[static_cast<size_t>(lane)]; }
  static bool IsIn(int lane, const Rows& rows) { return lane == 0 || rows.in_all; }

  // Where only the first lane has rows for a node of all lanes, it gets none in the others.
  Status Connect(const Rows& from, const Rows& to, int input) {
    for (int lane = 0; lane < lanes_; ++lane) {
      if (!IsIn(lane, to)) continue;
      if (!IsIn(lane, from) &&
          graph(lane).nodes()[static_cast<size_t>(from.node)].source == nullptr) {
        RT_ASSIGN(std::unique_ptr<Source> none, ValuesSource::Create({}, Schema()));
        graph(lane).SetSource(from.node, std::move(none));
      }
      graph(lane).Connect(from.node, to.node, input);
    }
    return Status::Ok();
  }

  using MakeOne = std::function<Result<std::unique_ptr<Operator>>(int lane, int number)>;
  Result<Rows> AddOperator(const std::string& name, const std::vector<Rows>& inputs,
                           const MakeOne& make) {
    const bool in_all =
        std::any_of(inputs.begin(), inputs.end(), [](const Rows& input) { return input.in_all; });
    const Rows rows = AddNode(name, in_all);
    for (int lane = 0; lane < lanes_; ++lane) {
      if (!IsIn(lane, rows)) continue;
      RT_ASSIGN(std::unique_ptr<Operator> operation, make(lane, rows.node));
      graph(lane).SetOperator(rows.node, std::move(operation), static_cast<int>(inputs.size()));
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      RT_TRY(Connect(inputs[i], rows, static_cast<int>(i)));
    return rows;
  }

  // Every row goes to the lane that owns its key; without keys, to the first lane.
  Rows AddExchange(const Rows& input, const std::vector<int>& keys, const Schema& schema) {
    if (lanes_ == 1 || (keys.empty() && !input.in_all)) return input;
    const Rows exchange = AddNode("Exchange", input.in_all, true);
    Rows gate = AddNode("InputGate", !keys.empty(), true);
    const int senders = input.in_all ? lanes_ : 1;
    const int receivers = keys.empty() ? 1 : lanes_;
    std::vector<std::vector<Channel*>> targets(static_cast<size_t>(senders));
    for (int lane = 0; lane < receivers; ++lane) {
      auto made = std::make_unique<InputGate>(senders);
      for (int from = 0; from < senders; ++from)
        targets[static_cast<size_t>(from)].push_back(made->channel(from));
      gates_.push_back(made.get());
      graph(lane).SetGate(gate.node, std::move(made), input.node);
    }
    for (int lane = 0; lane < senders; ++lane) {
      std::unique_ptr<Partitioner> partitioner;
      if (!keys.empty()) {
        partitioner = std::make_unique<KeyPartitioner>(
            schema, keys, job_.options.GetBool("rowtide.flink-compat"), lanes_);
      }
      graph(lane).SetExchange(
          exchange.node, std::make_unique<Exchange>(std::move(partitioner),
                                                    std::move(targets[static_cast<size_t>(lane)])));
      graph(lane).Connect(input.node, exchange.node, 0);
    }
    if (!keys.empty()) gate.hashed_by = keys;
    return gate;
  }

  void LimitChannels() {
    int64_t channels = 0;
    for (const InputGate* gate : gates_) channels += gate->channels();
    for (InputGate* gate : gates_)
      gate->LimitBytes(std::min(context_.exchange_bytes / channels, Channel::kBytesMax));
  }

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
    const Rows rows = AddNode(DisplayName(node), Splits(node));
    FileListing listing;
    for (int lane = 0; lane < lanes_; ++lane) {
      if (!IsIn(lane, rows)) continue;
      RT_ASSIGN(std::unique_ptr<Source> source, MakeSource(node, lane, rows, &listing));
      graph(lane).SetSource(rows.node, std::move(source));
    }
    Describe(rows, DescriptionOf(node), node.schema);
    SetMode(rows, node.mode);
    rows_[&node] = rows;
    return Status::Ok();
  }

  // Whether each lane reads a part of it.
  static bool Splits(const ExecNode& node) {
    const auto* scan = node.as<PhysicalScan>();
    if (!scan) return false;
    const TableSpec table = TableSpecOf(*scan->table, scan->hint_options);
    const ConnectorTraits traits = TraitsOf(table);
    return traits.source && traits.source->splits && !IsOne(table, "scan.parallelism");
  }
  static bool IsOne(const TableSpec& table, const std::string& key) {
    const auto option = table.options.find(key);
    return option != table.options.end() && option->second == "1";
  }

  Result<std::unique_ptr<Source>> MakeSource(const ExecNode& node, int lane, const Rows& rows,
                                             FileListing* listing) {
    if (context_.operators_only) {
      RT_ASSIGN(std::unique_ptr<Source> none, ValuesSource::Create({}, Schema()));
      return none;
    }
    const auto* scan = node.as<PhysicalScan>();
    if (!scan) return CreateValues(*node.as<PhysicalValues>(), node.schema, job_.options);
    ConnectorContext connectors = Connectors(lane, rows);
    connectors.listing = listing;
    if (!HasThread(*scan)) return CreateScan(*scan, node.schema, job_.options, connectors);
    auto counters = std::make_unique<Counters>();
    Counters* const counted = std::exchange(connectors.counters, counters.get());
    RT_ASSIGN(std::unique_ptr<Source> source,
              CreateScan(*scan, node.schema, job_.options, connectors));
    return std::unique_ptr<Source>(
        std::make_unique<SourceThread>(std::move(source), std::move(counters), counted));
  }

  // Letters in a transaction go with the rows of their epoch: nothing is decoded ahead of them.
  bool HasTransactionalLetters(const PhysicalScan& scan) const {
    return context_.connectors.kafka_transactions != nullptr &&
           LetterTopicOf(job_.options.Get("rowtide.dead-letter." + scan.table->path.name));
  }

  bool HasThread(const PhysicalScan& scan) const {
    if (HasTransactionalLetters(scan)) return false;
    if (threads_any_source_) return true;
    if (!context_.on_threads && job_.options.GetInt("rowtide.source-threads") == 0) return false;
    const ConnectorTraits traits = TraitsOf(TableSpecOf(*scan.table, scan.hint_options));
    return traits.source && traits.source->threads;
  }

  ConnectorContext Connectors(int lane, const Rows& rows) {
    ConnectorContext connectors = context_.connectors;
    connectors.kafka_producers = kafka_producers_;
    connectors.counters = &graph(lane).meters(rows.node)->counters;
    connectors.bytes_written = &graph(lane).meters(rows.node)->bytes;
    connectors.local_time_zone = job_.local_time_zone();
    connectors.job_id = context_.job_id;
    connectors.lane = lane;
    connectors.lanes = rows.in_all ? lanes_ : 1;
    return connectors;
  }

  // --- operators ---
  Status AddRoot(const ExecNode& root) {
    if (const auto* sink = root.as<PhysicalSink>()) return AddSink(root, *sink);
    RT_ASSIGN(const Rows input, Add(root));
    if (context_.result == nullptr) return Status::Internal("a query without a place for its rows");
    const Rows rows = AddExchange(input, {}, root.schema);
    const Rows result = AddNode("Result", false);
    SetMode(result, root.mode);
    graph(0).SetSink(result.node, context_.on_threads ? OnThread(std::move(context_.result))
                                                      : std::move(context_.result));
    return Connect(rows, result, 0);
  }

  // What puts out the node's rows.
  Result<Rows> Add(const ExecNode& node) {
    const auto known = rows_.find(&node);
    if (known != rows_.end()) return known->second;
    std::vector<Rows> inputs;
    for (const ExecPointer& input : node.inputs) {
      RT_ASSIGN(Rows rows, Add(*input));
      if (node.as<PhysicalUnion>()) {
        RT_ASSIGN(rows, Convert(rows, input->schema, node.schema));
      }
      inputs.push_back(rows);
    }
    if (const auto* exchange = node.as<PhysicalExchange>()) {
      RT_CHECK(node.inputs.size() == 1);
      return Remember(node, AddExchange(inputs[0], exchange->keys, node.inputs[0]->schema));
    }
    RT_ASSIGN(Rows rows, AddOperator(DisplayName(node), inputs, [&](int lane, int number) {
                return MakeOperator(node, lane, Rows{number, in_all(inputs), {}});
              }));
    Describe(rows, DescriptionOf(node), node.schema);
    SetMode(rows, node.mode);
    if (inputs.size() == 1) rows.hashed_by = HashedAfter(node, inputs[0].hashed_by);
    return Remember(node, rows);
  }

  bool in_all(const std::vector<Rows>& inputs) const {
    return std::any_of(inputs.begin(), inputs.end(), [](const Rows& rows) { return rows.in_all; });
  }

  Result<std::unique_ptr<Operator>> MakeOperator(const ExecNode& node, int lane, const Rows& rows) {
    const auto path = job_.conflict_paths.find(&node);
    const bool has_path = path != job_.conflict_paths.end() && !context_.operators_only;
    if (!node.as<ExecDeduplicate>() || !(context_.counts_conflicts || has_path)) {
      return CreateOperator(node, job_.options, Context(lane, rows), context_.defers_watermarks);
    }
    std::unique_ptr<ConflictLog> log;
    if (has_path) {
      RT_ASSIGN(log, OpenConflictLog(path->second, lane == 0));
    }
    return CreateWatchedDeduplicate(node, job_.options, Context(lane, rows), std::move(log));
  }

  Result<Rows> AddStage(const Rows& input, const OperatorStage& stage) {
    RT_ASSIGN(Rows rows, AddOperator(stage.name, {input}, [&](int lane, int number) {
                return stage.create(Context(lane, Rows{number, input.in_all, {}}));
              }));
    rows.hashed_by = input.hashed_by;
    return rows;
  }

  // The columns of a union lie alike, whatever its inputs' types are in the plan.
  Result<Rows> Convert(const Rows& input, const Schema& from, const Schema& to) {
    const std::optional<OperatorStage> conversion = ConversionOf(from, to);
    if (!conversion) return input;
    return AddStage(input, *conversion);
  }

  Rows Remember(const ExecNode& node, const Rows& rows) {
    rows_[&node] = rows;
    return rows;
  }

  OperatorContext Context(int lane, const Rows& rows) {
    NodeMeters* meters = graph(lane).meters(rows.node);
    OperatorContext context = OperatorContextOf(job_.options);
    context.clock = context_.connectors.clock;
    context.counters = &meters->counters;
    context.state_size = &meters->state;
    context.expiring = &meters->expiring;
    if (!context_.tiers.empty()) context.tier = context_.tiers[static_cast<size_t>(lane)];
    context.first_table = table_of_node_[static_cast<size_t>(rows.node)] << kNodeTableBits;
    if (rows.in_all) context.key_groups = KeyGroupsOfLane(lane, lanes_);
    return context;
  }

  // --- sinks ---
  // input -> [ConstraintEnforcer] -> [SinkUpsertMaterializer] -> sink
  Status AddSink(const ExecNode& node, const PhysicalSink& sink) {
    const Schema& schema = node.inputs[0]->schema;
    RT_ASSIGN(Rows input, Add(*node.inputs[0]));
    const std::vector<int> key = SinkKey(sink);
    for (const OperatorStage& stage : SinkStagesOf(node, sink, job_.options)) {
      if (stage.is_keyed && input.in_all && input.hashed_by != key)
        input = AddExchange(input, key, schema);
      RT_ASSIGN(input, AddStage(input, stage));
      Describe(input, fmt::format("{} before {}", stage.name, DescriptionOf(node)), schema);
    }
    if (!TakesLanes(sink)) {
      input = AddExchange(input, {}, schema);
    } else if (input.in_all && !key.empty() && !node.input_mode.insert_only() &&
               !IsHashedWithin(input, key)) {
      input = AddExchange(input, key, schema);  // changes of one row come from one lane, in order
    }
    const Rows rows = AddNode(DisplayName(node), input.in_all);
    SetMode(rows, node.input_mode);
    // Two sinks of one table would meet on two threads: tests that look at their order do not.
    const bool has_thread = (context_.on_threads && job_.plan.roots.size() == 1) ||
                            job_.options.GetInt("rowtide.sink-threads") > 0;
    const std::string name = DisplayName(node);
    const int occurrence = ++sinks_of_table_[name];
    for (int lane = 0; lane < lanes_; ++lane) {
      if (!IsIn(lane, rows)) continue;
      if (context_.operators_only) {
        graph(lane).SetSink(rows.node, std::make_unique<NoSink>());
        continue;
      }
      ConnectorContext connectors = Connectors(lane, rows);
      connectors.sink_seed = SeedOf(context_.job_id, name, occurrence);
      connectors.earlier_sink_seed = SeedOf(context_.earlier_job_id, name, occurrence);
      RT_ASSIGN(std::unique_ptr<Sink> target, CreateTableSink(sink, job_.options, connectors));
      graph(lane).SetSink(rows.node, has_thread ? OnThread(std::move(target)) : std::move(target));
    }
    return Connect(input, rows, 0);
  }

  // What replaces a table has to do it once.
  static bool TakesLanes(const PhysicalSink& sink) {
    const TableSpec table = SinkSpecOf(*sink.table, sink.hint_options);
    const ConnectorTraits traits = TraitsOf(table);
    return traits.sink && traits.sink->lanes && !sink.overwrite &&
           !IsOne(table, "sink.parallelism");
  }

  static bool IsHashedWithin(const Rows& rows, const std::vector<int>& key) {
    return rows.hashed_by &&
           std::all_of(rows.hashed_by->begin(), rows.hashed_by->end(), [&](int column) {
             return std::find(key.begin(), key.end(), column) != key.end();
           });
  }

  static std::string SeedOf(const std::string& job_id, const std::string& sink, int occurrence) {
    return job_id.empty() ? "" : fmt::format("{} {} {}", job_id, sink, occurrence);
  }

  static std::unique_ptr<Sink> OnThread(std::unique_ptr<Sink> sink) {
    return std::make_unique<SinkThread>(std::move(sink));
  }

  const PlannedJob& job_;
  BuildContext context_;
  const int lanes_;
  bool threads_any_source_ = false;
  std::vector<JobGraph> graphs_;
  RowsOfNode rows_;
  std::vector<InputGate*> gates_;  // of the graphs
  size_t tables_ = 0;              // nodes that have one
  std::vector<uint32_t> table_of_node_;
  std::map<std::string, int> sinks_of_table_;
  const std::shared_ptr<KafkaProducers> kafka_producers_ = std::make_shared<KafkaProducers>();
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

int LanesOf(const PlannedJob& job) {
  const int64_t of_table = job.options.GetInt("table.exec.resource.default-parallelism");
  return static_cast<int>(of_table > 0 ? of_table : job.options.GetInt("parallelism.default"));
}

std::optional<KeyGroupRange> KeyGroupsOfTable(const std::vector<JobGraph>& lanes, int lane,
                                              uint32_t table) {
  const std::vector<JobNode>& nodes = lanes[static_cast<size_t>(lane)].nodes();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_crossing || nodes[i].table != table >> kNodeTableBits) continue;
    if (nodes[i].is_absent) return std::nullopt;
    if (lanes.back().nodes()[i].is_absent) return KeyGroupRange();
    return KeyGroupsOfLane(lane, static_cast<int>(lanes.size()));
  }
  return std::nullopt;
}

Result<std::vector<JobGraph>> BuildJob(const PlannedJob& job, BuildContext context) {
  if (!context.operators_only) RT_TRY(CheckOutputs(job));
  return JobBuilder(job, std::move(context)).Build();
}

Result<std::vector<NodeIdentity>> IdentitiesOf(const PlannedJob& job) {
  const SystemClock clock;
  BuildContext context;
  context.connectors.clock = &clock;
  context.operators_only = true;
  context.lanes = 1;
  RT_ASSIGN(std::vector<JobGraph> graphs, BuildJob(job, std::move(context)));
  std::vector<NodeIdentity> identities;
  for (const JobNode& node : graphs[0].nodes()) {
    if (!node.is_crossing) identities.push_back(node.identity);
  }
  return identities;
}

bool ReadsWatermarks(const ExecPlan& plan) {
  return std::any_of(plan.roots.begin(), plan.roots.end(),
                     [](const ExecPointer& root) { return TreeReadsWatermarks(*root); });
}

}  // namespace rowtide

#include "planner/exec/node_operators.h"

#include <algorithm>

#include "engine/secrets.h"
#include "operators/calc.h"
#include "operators/changelog_normalize.h"
#include "operators/constraint_enforcer.h"
#include "operators/deduplicate.h"
#include "operators/drop_update_before.h"
#include "operators/final_rows.h"
#include "operators/expressions/evaluator.h"
#include "operators/group_aggregate.h"
#include "operators/local_group_aggregate.h"
#include "operators/mini_batch_assigner.h"
#include "operators/over_row_number.h"
#include "operators/rank.h"
#include "operators/sink_materializer.h"
#include "operators/union.h"
#include "operators/values.h"
#include "operators/watermark_assigner.h"
#include "operators/watermark_compacting_materializer.h"
#include "operators/watermark_expression.h"
#include "planner/physical/aggregations.h"
#include "planner/physical/sink_keys.h"
#include "planner/references.h"

namespace rowtide {

namespace {

using OperatorResult = Result<std::unique_ptr<Operator>>;

// What every creator sees.
struct NodeContext {
  const ExecNode& node;
  const Options& options;
  OperatorContext context;
  bool defers_watermarks;

  const Schema& input() const { return node.inputs[0]->schema; }
};

MiniBatch MiniBatchOf(const Options& options) {
  if (!options.GetBool("table.exec.mini-batch.enabled")) return {};
  return {options.GetInt("table.exec.mini-batch.size")};
}

OperatorResult Create(const PhysicalGroupAggregate& aggregate, NodeContext at) {
  RT_ASSIGN(std::vector<Aggregation> calls, AggregationsOf(aggregate));
  if (!aggregate.ttl_hints.empty()) {
    const std::string& text = aggregate.ttl_hints.back().second;
    if (!ParseDurationMillis(text, &at.context.state_ttl_millis)) {
      return Status::InvalidArgument("{} in a STATE_TTL hint is no duration", Quote(text))
          .WithErrorCode("RT2018");
    }
  }
  if (aggregate.phase == AggregatePhase::kLocal) {
    LocalGroupAggregateSpec local;
    local.group = aggregate.group;
    local.calls = std::move(calls);
    local.counts_rows = aggregate.counts_rows;
    local.count_star = aggregate.count_star;
    local.mini_batch = MiniBatchOf(at.options);
    return LocalGroupAggregate::Create(std::move(local), at.input(), at.context);
  }
  GroupAggregateSpec spec;
  spec.group = aggregate.group;
  spec.calls = std::move(calls);
  spec.output = at.node.schema;
  spec.counts_rows = aggregate.counts_rows;
  spec.generates_update_before = at.node.generates_update_before;
  spec.mini_batch = MiniBatchOf(at.options);
  spec.merges_partials = aggregate.phase == AggregatePhase::kGlobal;
  spec.count_star = aggregate.count_star;
  spec.raw_input = aggregate.raw_input;
  return GroupAggregate::Create(std::move(spec), at.input(), at.context);
}

DeduplicateSpec SpecOf(const ExecDeduplicate& keep, const NodeContext& at) {
  DeduplicateSpec spec;
  spec.schema = at.node.schema;
  spec.keys = keep.keys;
  spec.rowtime = keep.rowtime;
  spec.order_column = keep.order_column;
  spec.keeps_last = keep.keeps_last;
  spec.outputs_insert_only = keep.outputs_insert_only;
  spec.emits_update_before = at.node.generates_update_before;
  spec.insert_update_after_sensitive = keep.insert_update_after_sensitive;
  if (keep.mini_batch) spec.mini_batch = MiniBatchOf(at.options);
  spec.compacts_changes = keep.compacts;
  return spec;
}

OperatorResult Create(const ExecDeduplicate& keep, NodeContext at) {
  return Create(SpecOf(keep, at), at.context);
}

RankSpec::Strategy StrategyOf(const RankStrategy& strategy, const ChangelogMode& input) {
  switch (strategy.kind) {
    case RankStrategy::Kind::kAppendFast: return RankSpec::Strategy::kAppendFast;
    case RankStrategy::Kind::kUpdateFast: return RankSpec::Strategy::kUpdateFast;
    case RankStrategy::Kind::kRetract: return RankSpec::Strategy::kRetract;
    case RankStrategy::Kind::kUndefined: break;
  }
  return input.insert_only() ? RankSpec::Strategy::kAppendFast : RankSpec::Strategy::kRetract;
}

RankSpec RankSpecOf(const NodeContext& at, const RankStrategy& strategy) {
  RankSpec spec;
  spec.input = at.input();
  spec.output = at.node.schema;
  spec.strategy = StrategyOf(strategy, at.node.input_mode);
  spec.row_key = strategy.keys;
  spec.emits_update_before = at.node.generates_update_before;
  return spec;
}

OperatorResult Create(const PhysicalRank& rank, NodeContext at) {
  if (rank.type != RankType::kRowNumber)
    return Status::Unsupported("RANK and DENSE_RANK are not supported");
  RankSpec spec = RankSpecOf(at, rank.strategy);
  spec.partition = rank.partition;
  spec.order = rank.order;
  spec.start = rank.range.start;
  spec.end = rank.range.end;
  spec.variable_end = rank.range.variable_end;
  return Create(spec, at.context);
}

int64_t LastNumber(int64_t offset, int64_t fetch) {
  return fetch > RankSpec::kNoEnd - offset ? RankSpec::kNoEnd : offset + fetch;
}

OperatorResult Create(const PhysicalSortLimit& limit, NodeContext at) {
  RankSpec spec = RankSpecOf(at, limit.strategy);
  spec.order = limit.order;
  spec.start = limit.offset + 1;
  spec.end = LastNumber(limit.offset, limit.fetch);
  return Create(spec, at.context);
}

OperatorResult Create(const PhysicalLimit& limit, NodeContext at) {
  RankSpec spec = RankSpecOf(at, RankStrategy{});
  spec.start = limit.offset + 1;
  spec.end = limit.fetch ? LastNumber(limit.offset, *limit.fetch) : RankSpec::kNoEnd;
  return Create(spec, at.context);
}

OperatorResult Create(const PhysicalMiniBatchAssigner& assigner, NodeContext at) {
  return MiniBatchAssigner::Create({assigner.interval_millis, assigner.rowtime}, at.input(),
                                   at.context);
}

// The scan that the node's rows come from.
const PhysicalScan* ScanBelow(const ExecNode& node) {
  const ExecNode* below = &node;
  while (!below->as<PhysicalScan>() && !below->inputs.empty()) below = below->inputs[0].get();
  return below->as<PhysicalScan>();
}

// Files get a watermark after so many rows, unless the table says `on-event`; scripts after every
// row.
int RowsBetweenWatermarks(const ExecNode& node) {
  const PhysicalScan* scan = ScanBelow(node);
  if (scan == nullptr) return kRowsBetweenWatermarks;
  const ConnectorTraits traits = TraitsOf(TableSpecOf(*scan->table, scan->hint_options));
  return traits.source && traits.source->watermark_on_event ? 1 : kRowsBetweenWatermarks;
}

OperatorResult Create(const PhysicalCalc& calc, NodeContext at) {
  RT_ASSIGN(
      std::unique_ptr<Calc> made,
      Calc::Create({at.input(), calc.condition, calc.projections, at.node.schema}, at.context));
  return std::unique_ptr<Operator>(std::move(made));
}

OperatorResult Create(const PhysicalWatermarkAssigner& assigner, NodeContext at) {
  WatermarkAssignerSpec spec;
  spec.rowtime = assigner.rowtime;
  if (!assigner.watermark.is_call("SOURCE_WATERMARK")) spec.watermark = assigner.watermark;
  spec.rows_between = RowsBetweenWatermarks(at.node);
  spec.defers_to_batch_end = at.defers_watermarks;
  return WatermarkAssigner::Create(std::move(spec), at.input(), at.context);
}

OperatorResult Create(const PhysicalChangelogNormalize& normalize, NodeContext at) {
  ChangelogNormalizeSpec spec;
  spec.keys = normalize.keys;
  spec.condition = normalize.condition;
  spec.generates_update_before = at.node.generates_update_before;
  spec.mini_batch = MiniBatchOf(at.options);
  return ChangelogNormalize::Create(std::move(spec), at.input(), at.context);
}

OperatorResult Create(const PhysicalDropUpdateBefore& /*drop*/, NodeContext at) {
  return DropUpdateBefore::Create({}, at.input(), at.context);
}

OperatorResult Create(const PhysicalFinalRows& rows, NodeContext at) {
  FinalRowsSpec spec;
  for (const SortKey& key : rows.order)
    spec.order.push_back({key.column, key.descending, key.nulls_first});
  return FinalRows::Create(std::move(spec), at.input(), at.context);
}

OperatorResult Create(const PhysicalUnion& /*all*/, NodeContext at) {
  return Union::Create({static_cast<int>(at.node.inputs.size())}, at.node.schema, at.context);
}

OperatorResult NotBuilt(const char* construct) {
  return Status::Unsupported("{} is not supported", construct);
}
OperatorResult Create(const PhysicalJoin& /*join*/, NodeContext /*at*/) {
  return NotBuilt("a regular join");
}
// ToExec lets nothing but ROW_NUMBER by plain columns through.
OperatorResult Create(const PhysicalOverAggregate& over, NodeContext at) {
  const OverWindow& window = *over.calls.front().over;
  OverRowNumberSpec spec;
  for (const Expression& key : window.partition) spec.partition.push_back(key.column);
  for (const OverWindow::Order& order : window.order) {
    spec.order.push_back({order.key.column, order.descending, order.nulls_first});
  }
  spec.output = at.node.schema;
  spec.generates_update_before = at.node.generates_update_before;
  return OverRowNumber::Create(std::move(spec), at.input(), at.context);
}

OperatorResult NoOperator() { return Status::Internal("a node that is no operator"); }
OperatorResult Create(const PhysicalScan& /*scan*/, NodeContext /*at*/) { return NoOperator(); }
OperatorResult Create(const PhysicalValues& /*values*/, NodeContext /*at*/) { return NoOperator(); }
OperatorResult Create(const PhysicalExchange& /*exchange*/, NodeContext /*at*/) {
  return NoOperator();
}
OperatorResult Create(const PhysicalSink& /*sink*/, NodeContext /*at*/) { return NoOperator(); }

// --- names ---
const char* Named(const PhysicalScan&) { return "TableSourceScan"; }
const char* Named(const PhysicalValues&) { return "Values"; }
const char* Named(const PhysicalCalc&) { return "Calc"; }
const char* Named(const PhysicalExchange&) { return "Exchange"; }
const char* Named(const PhysicalWatermarkAssigner&) { return "WatermarkAssigner"; }
const char* Named(const PhysicalMiniBatchAssigner&) { return "MiniBatchAssigner"; }
const char* Named(const ExecDeduplicate&) { return "Deduplicate"; }
const char* Named(const PhysicalRank&) { return "Rank"; }
const char* Named(const PhysicalSortLimit&) { return "SortLimit"; }
const char* Named(const PhysicalLimit&) { return "Limit"; }
const char* Named(const PhysicalGroupAggregate& aggregate) {
  switch (aggregate.phase) {
    case AggregatePhase::kSingle: return "GroupAggregate";
    case AggregatePhase::kLocal: return "LocalGroupAggregate";
    case AggregatePhase::kGlobal: return "GlobalGroupAggregate";
  }
  return "";
}
const char* Named(const PhysicalChangelogNormalize&) { return "ChangelogNormalize"; }
const char* Named(const PhysicalDropUpdateBefore&) { return "DropUpdateBefore"; }
const char* Named(const PhysicalFinalRows&) { return "FinalRows"; }
const char* Named(const PhysicalUnion&) { return "Union"; }
const char* Named(const PhysicalJoin&) { return "Join"; }
const char* Named(const PhysicalOverAggregate&) { return "OverAggregate"; }
const char* Named(const PhysicalSink&) { return "Sink"; }

}  // namespace

std::string DisplayName(const ExecNode& node) {
  std::string name = std::visit([](const auto& op) { return std::string(Named(op)); }, node.op);
  if (const auto* scan = node.as<PhysicalScan>()) name += "(" + scan->table->path.name + ")";
  if (const auto* sink = node.as<PhysicalSink>()) name += "(" + sink->table->path.name + ")";
  return name;
}

// --- tables ---
TableSpec TableSpecOf(const CatalogTable& table, const std::map<std::string, std::string>& hints) {
  TableSpec spec;
  spec.name = table.path.ToString();
  spec.options = table.options;
  for (const auto& [key, value] : hints) spec.options[key] = value;
  for (auto& [key, value] : spec.options) {
    // Who reads or writes the table has checked them, see CheckReferencesOf.
    Result<std::string> resolved = ResolveReferences(value);
    if (resolved.ok() && *resolved != value)
      spec.written[key] = std::exchange(value, std::move(*resolved));
    if (IsSecretKey(key)) HideSecretValue(value);
  }
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kPhysical) spec.schema.Add({column.name, column.type});
  }
  for (const int column : table.primary_key)
    spec.primary_key.push_back(table.columns[static_cast<size_t>(column)].name);
  return spec;
}

Status CheckReferencesOf(const CatalogTable& table,
                         const std::map<std::string, std::string>& hints) {
  RT_TRY(CheckReferences(hints));
  std::map<std::string, std::string> others = table.options;  // a hint takes the place of its own
  for (const auto& [key, value] : hints) others.erase(key);
  return CheckReferences(others);
}

TableSpec SinkSpecOf(const CatalogTable& table, const std::map<std::string, std::string>& hints) {
  TableSpec spec = TableSpecOf(table, hints);
  spec.schema = table.SinkSchema();
  for (const TableColumn& column : table.columns) {
    if (column.kind == TableColumn::Kind::kPhysical) spec.metadata.emplace_back();
    if (column.kind == TableColumn::Kind::kMetadata && !column.metadata_virtual)
      spec.metadata.push_back(column.metadata_key);
  }
  return spec;
}

namespace {

// What SET says about a table, by the last part of its name.
TableSettings TableSettingsOf(const std::string& name, const Options& options) {
  TableSettings settings;
  settings.key = name;
  const std::string bad_data = options.Get("rowtide.bad-data." + name);
  if (bad_data == "skip") settings.bad_data = BadData::kSkip;
  if (bad_data == "dead-letter") settings.bad_data = BadData::kDeadLetter;
  settings.dead_letter = options.Get("rowtide.dead-letter." + name);
  settings.csv_header = options.GetBool("rowtide.csv.header." + name);
  const std::string compression = options.Get("rowtide.compression." + name);
  if (compression == "gzip") settings.compression = Compression::kGzip;
  if (compression == "zstd") settings.compression = Compression::kZstd;
  const std::string seed = "rowtide.datagen.seed." + name;
  if (options.IsSet(seed)) settings.datagen_seed = options.GetInt(seed);
  return settings;
}

}  // namespace

Result<std::unique_ptr<Source>> CreateScan(const PhysicalScan& scan, const Schema& schema,
                                           const Options& options, ConnectorContext context) {
  const std::vector<TableColumn>& columns = scan.table->columns;
  ScanSpec spec;
  for (const int position : scan.columns) {
    const TableColumn& column = columns[static_cast<size_t>(position)];
    if (column.kind == TableColumn::Kind::kMetadata) {
      spec.metadata.push_back(column.metadata_key);
      continue;
    }
    if (!spec.metadata.empty())
      return Status::Internal("a physical column behind a metadata column");
    const auto is_physical = [](const TableColumn& other) {
      return other.kind == TableColumn::Kind::kPhysical;
    };
    spec.columns.push_back(
        static_cast<int>(std::count_if(columns.begin(), columns.begin() + position, is_physical)));
  }
  spec.limit = scan.limit;
  if (scan.watermark && !scan.watermark->from_source) {
    EvaluationContext evaluation;
    evaluation.clock = context.clock;
    evaluation.local_time_zone = context.local_time_zone;
    evaluation.flink_compat = options.GetBool("rowtide.flink-compat");
    spec.watermarks = [&scan, &schema, evaluation] {
      return CompileWatermarks(scan.watermark->expression, scan.watermark->column, schema,
                               evaluation);
    };
  }
  spec.watermark_interval_millis = options.GetMillis("pipeline.auto-watermark-interval");
  spec.idle_timeout_millis = options.GetMillis("table.exec.source.idle-timeout");
  context.settings = TableSettingsOf(scan.table->path.name, options);
  for (const int column : scan.table->primary_key)
    context.settings.primary_key.push_back(columns[static_cast<size_t>(column)].name);
  context.limits.record_bytes = options.GetBytes("rowtide.limits.record-bytes");
  context.limits.json_depth = options.GetInt("rowtide.limits.json-depth");
  context.flink_compat = options.GetBool("rowtide.flink-compat");
  RT_TRY(CheckReferencesOf(*scan.table, scan.hint_options));
  return CreateSource(TableSpecOf(*scan.table, scan.hint_options), spec, context);
}

Result<std::unique_ptr<Source>> CreateValues(const PhysicalValues& values, const Schema& schema,
                                             const Options& options) {
  EvaluationContext evaluation;
  evaluation.local_time_zone = options.local_time_zone();
  evaluation.flink_compat = options.GetBool("rowtide.flink-compat");
  ValuesSpec spec;
  for (const std::vector<Expression>& row : values.rows) {
    std::vector<Value>& out = spec.rows.emplace_back();
    for (const Expression& expression : row) {
      RT_ASSIGN(Value value, EvaluateConstant(expression, evaluation));
      out.push_back(std::move(value));
    }
  }
  return ValuesSource::Create(std::move(spec), schema);
}

OperatorContext OperatorContextOf(const Options& options) {
  OperatorContext context;
  context.local_time_zone = options.local_time_zone();
  context.state_ttl_millis = options.GetMillis("table.exec.state.ttl");
  context.flink_compat = options.GetBool("rowtide.flink-compat");
  return context;
}

Result<std::unique_ptr<Operator>> CreateOperator(const ExecNode& node, const Options& options,
                                                 const OperatorContext& context,
                                                 bool defers_watermarks) {
  const NodeContext at{node, options, context, defers_watermarks};
  return std::visit([&](const auto& op) { return Create(op, at); }, node.op);
}

Result<std::unique_ptr<Operator>> CreateWatchedDeduplicate(const ExecNode& node,
                                                           const Options& options,
                                                           const OperatorContext& context,
                                                           std::unique_ptr<ConflictLog> log) {
  const NodeContext at{node, options, context, false};
  const DeduplicateSpec spec = SpecOf(*node.as<ExecDeduplicate>(), at);
  return Create(
      spec, context,
      std::make_unique<ConflictWatch>(spec.schema, spec.keys, std::move(log), context.counters));
}

namespace {

ConstraintEnforcerSpec EnforcerOf(const ExecNode& node, const PhysicalSink& sink,
                                  const Options& options) {
  ConstraintEnforcerSpec spec;
  spec.target = sink.table->SinkSchema();
  spec.key = SinkKey(sink);
  if (options.Get("table.exec.sink.not-null-enforcer") == "DROP") {
    spec.not_null = NotNullEnforcer::kDrop;
  }
  const std::string length = options.Get("table.exec.sink.type-length-enforcer");
  if (length == "TRIM_PAD") spec.type_length = TypeLengthEnforcer::kTrimPad;
  if (length == "ERROR") spec.type_length = TypeLengthEnforcer::kError;
  spec.key_only_deletes = node.input_mode.key_only_deletes;
  return spec;
}

// Rows of one key wait for the watermark under ON CONFLICT DO ERROR and DO NOTHING.
OperatorStage MaterializerOf(const PhysicalSink& sink, const Schema& input) {
  const std::vector<int> key = SinkKey(sink);
  if (sink.conflict != ConflictStrategy::kError && sink.conflict != ConflictStrategy::kNothing) {
    const SinkMaterializerSpec spec{key, sink.input_upsert_key};
    return {"SinkUpsertMaterializer",
            [=](const OperatorContext& context) {
              return SinkMaterializer::Create(spec, input, context);
            },
            true};
  }
  const bool fails = sink.conflict == ConflictStrategy::kError;
  const WatermarkCompactingMaterializerSpec spec{key, sink.input_upsert_key, fails};
  return {"WatermarkCompactingMaterializer",
          [=](const OperatorContext& context) {
            return WatermarkCompactingMaterializer::Create(spec, input, context);
          },
          true};
}

}  // namespace

std::optional<OperatorStage> ConversionOf(const Schema& from, const Schema& to) {
  CalcSpec spec{from, std::nullopt, {}, to};
  bool converts = false;
  for (int column = 0; column < from.size(); ++column) {
    Expression input = Expression::Input(column, from.type(column));
    const bool same = from.type(column).SameButNullability(to.type(column));
    converts |= !same;
    spec.projections.push_back(same ? input : Expression::Cast(input, to.type(column)));
  }
  if (!converts) return std::nullopt;
  return OperatorStage{"Calc", [spec](const OperatorContext& context) -> OperatorResult {
                         RT_ASSIGN(std::unique_ptr<Calc> made, Calc::Create(spec, context));
                         return std::unique_ptr<Operator>(std::move(made));
                       }};
}

std::vector<OperatorStage> SinkStagesOf(const ExecNode& node, const PhysicalSink& sink,
                                        const Options& options) {
  std::vector<OperatorStage> stages;
  const Schema& input = node.inputs[0]->schema;
  const ConstraintEnforcerSpec enforcer = EnforcerOf(node, sink, options);
  if (ConstraintEnforcer::IsNeeded(enforcer)) {
    stages.push_back({"ConstraintEnforcer", [=](const OperatorContext& context) {
                        return ConstraintEnforcer::Create(enforcer, input, context);
                      }});
  }
  if (sink.upsert_materialize) stages.push_back(MaterializerOf(sink, input));
  return stages;
}

Result<std::unique_ptr<Sink>> CreateTableSink(const PhysicalSink& sink, const Options& options,
                                              ConnectorContext context) {
  context.settings = TableSettingsOf(sink.table->path.name, options);
  context.settings.overwrite = sink.overwrite;
  context.settings.update_pairs = options.GetBool("rowtide.encode.update-pairs");
  RT_TRY(CheckReferencesOf(*sink.table, sink.hint_options));
  return CreateSink(SinkSpecOf(*sink.table, sink.hint_options), context);
}

}  // namespace rowtide

#include "planner/physical/node_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/secrets.h"
#include "planner/options.h"
#include "planner/physical/aggregate_text.h"
#include "planner/rules/normal_form.h"

namespace rowtide {
namespace {

std::string OptionsHint(const std::map<std::string, std::string>& options) {
  std::vector<std::string> pairs;
  for (const auto& [key, value] : options) pairs.push_back(key + "=" + ShownValue(key, value));
  return fmt::format("[[OPTIONS options:{{{}}}]]", fmt::join(pairs, ", "));
}

std::string OrderText(const std::vector<SortKey>& order, const Schema& schema) {
  std::vector<std::string> keys;
  for (const SortKey& key : order)
    keys.push_back(schema.name(key.column) + (key.descending ? " DESC" : " ASC"));
  return fmt::format("{}", fmt::join(keys, ", "));
}

std::string StrategyText(const RankStrategy& strategy) {
  switch (strategy.kind) {
    case RankStrategy::Kind::kUndefined: return "UndefinedStrategy";
    case RankStrategy::Kind::kAppendFast: return "AppendFastStrategy";
    case RankStrategy::Kind::kRetract: return "RetractStrategy";
    case RankStrategy::Kind::kUpdateFast: break;
  }
  return fmt::format("UpdateFastStrategy[{}]", fmt::join(strategy.keys, ","));
}

const char* RankTypeText(RankType type) {
  switch (type) {
    case RankType::kRowNumber: return "ROW_NUMBER";
    case RankType::kRank: return "RANK";
    case RankType::kDenseRank: break;
  }
  return "DENSE_RANK";
}

const char* JoinTypeText(JoinType type) {
  switch (type) {
    case JoinType::kInner: return "InnerJoin";
    case JoinType::kLeft: return "LeftOuterJoin";
    case JoinType::kRight: return "RightOuterJoin";
    case JoinType::kFull: return "FullOuterJoin";
    case JoinType::kSemi: return "LeftSemiJoin";
    case JoinType::kAnti: break;
  }
  return "LeftAntiJoin";
}

// Names of the connector's metadata: what follows `metadata=`.
std::string MetadataKeys(const PhysicalScan& scan) {
  std::vector<std::string> keys;
  for (const int column : scan.columns) {
    const TableColumn& of = scan.table->columns[static_cast<size_t>(column)];
    if (of.kind != TableColumn::Kind::kMetadata) continue;
    keys.push_back(of.metadata_key.empty() ? of.name : of.metadata_key);
  }
  return fmt::format("{}", fmt::join(keys, ", "));
}

// `and(and(a, b), c)`, as the pushed conjuncts are put together.
std::string FiltersText(const PhysicalScan& scan, const InputName& names) {
  std::string text;
  for (const Expression& filter : scan.filters) {
    const std::string one = PhysicalText(WithoutSearch(filter), names);
    text = text.empty() ? one : fmt::format("and({}, {})", text, one);
  }
  return text;
}

std::optional<std::string> OptionOf(const PhysicalScan& scan, const std::string& key) {
  for (const auto* options : {&scan.hint_options, &scan.table->options}) {
    const auto found = options->find(key);
    if (found != options->end()) return found->second;
  }
  return std::nullopt;
}

std::string WatermarkText(const PhysicalScan& scan, const InputName& names) {
  std::string text = fmt::format("watermark=[{}]", PhysicalText(scan.watermark->expression, names));
  if (scan.watermark->from_source) return text;
  int64_t idle = 0;
  const std::string timeout = OptionOf(scan, "scan.watermark.idle-timeout").value_or("");
  if (ParseDurationMillis(timeout, &idle) && idle > 0)
    text += fmt::format(", idletimeout=[{}]", idle);
  return text + fmt::format(", watermarkEmitStrategy=[{}]",
                            OptionOf(scan, "scan.watermark.emit.strategy").value_or("on-periodic"));
}

// The table and what its connector was asked to do. It is settled when it is asked, so it is prefix
// text in both sections.
std::string TableText(const PhysicalScan& scan, const Schema& schema) {
  const InputName names = [&schema](int column) { return schema.name(column); };
  const ObjectPath& path = scan.table->path;
  std::string text = fmt::format("[{}, {}, {}", path.catalog, path.database, path.name);
  // Metadata columns are settled when the table is named; a projection names them again, later.
  const std::string metadata = MetadataKeys(scan);
  if (!scan.projected && !metadata.empty()) text += fmt::format(", metadata=[{}]", metadata);
  if (scan.filter_tried) text += fmt::format(", filter=[{}]", FiltersText(scan, names));
  if (scan.projected) {
    std::vector<std::string> columns;
    for (const int column : scan.columns) {
      const TableColumn& of = scan.table->columns[static_cast<size_t>(column)];
      if (of.kind == TableColumn::Kind::kPhysical) columns.push_back(of.name);
    }
    text += fmt::format(", project=[{}], metadata=[{}]", fmt::join(columns, ", "), metadata);
  }
  if (scan.watermark) text += ", " + WatermarkText(scan, names);
  if (scan.limit) text += fmt::format(", limit=[{}]", *scan.limit);
  return text + "]";
}

const char* ConflictText(ConflictStrategy conflict) {
  switch (conflict) {
    case ConflictStrategy::kDeduplicate: return "DEDUPLICATE";
    case ConflictStrategy::kError: return "ERROR";
    case ConflictStrategy::kNothing: return "NOTHING";
    case ConflictStrategy::kUnsaid: break;
  }
  return "";
}

std::string FrameText(const OverWindow& over, const NodeSurroundings& around) {
  std::string lower = "CURRENT ROW";
  if (over.lower_unbounded) lower = "UNBOUNDED PRECEDING";
  if (over.lower_preceding) {
    lower = LiteralText(*over.lower_preceding);
    if (!over.lower_preceding->is_literal())
      lower = around.expression(*over.lower_preceding, around.names());
    lower = lower.substr(0, lower.find(':')) + " PRECEDING";
  }
  const char* upper = over.upper_current_row ? "CURRENT ROW" : "UNBOUNDED FOLLOWING";
  return fmt::format(" {} BETWEEN {} AND {}", over.rows ? "ROWS" : "RANGE", lower, upper);
}

}  // namespace

std::string NodeText::ToString() const {
  if (terms.empty()) return name;
  std::string text = name + "(";
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i > 0) text += ", ";
    text += terms[i].first + "=[" + terms[i].second + "]";
  }
  return text + ")";
}

InputName NodeSurroundings::names() const {
  const Schema* input = inputs[0];
  return [input](int column) { return input->name(column); };
}

std::string ColumnNames(const std::vector<int>& columns, const Schema& schema) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const int column : columns) names.push_back(schema.name(column));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string AllNames(const Schema& schema) {
  return fmt::format("{}", fmt::join(schema.names(), ", "));
}

NodeText TextOf(const PhysicalScan& node, const NodeSurroundings& around) {
  NodeText text{"TableSourceScan", {}};
  text.Add("table", TableText(node, around.schema));
  text.Add("fields", AllNames(around.schema));
  if (!node.hint_options.empty()) text.Add("hints", OptionsHint(node.hint_options));
  return text;
}

NodeText TextOf(const PhysicalValues& node, const NodeSurroundings& around) {
  NodeText text{"Values", {}};
  if (around.physical) {
    std::vector<std::string> fields;
    for (const Field& field : around.schema.fields())
      fields.push_back(TypeText(field.type) + " " + field.name);
    text.Add("type", fmt::format("RecordType({})", fmt::join(fields, ", ")));
  }
  std::vector<std::string> rows;
  for (const std::vector<Expression>& row : node.rows) {
    std::vector<std::string> values;
    for (const Expression& value : row) values.push_back(LiteralText(value));
    rows.push_back(fmt::format("{{ {} }}", fmt::join(values, ", ")));
  }
  text.Add("tuples", fmt::format("[{}]", fmt::join(rows, ", ")));
  return text;
}

NodeText TextOf(const PhysicalCalc& node, const NodeSurroundings& around) {
  NodeText text{"Calc", {}};
  const InputName names = around.names();
  std::vector<std::string> columns;
  for (size_t i = 0; i < node.projections.size(); ++i) {
    const Expression& projection = node.projections[i];
    const std::string& name = around.schema.name(static_cast<int>(i));
    const std::string column = around.expression(projection, names);
    columns.push_back(projection.is_input() && column == name ? name : column + " AS " + name);
  }
  text.Add("select", fmt::format("{}", fmt::join(columns, ", ")));
  if (node.condition) text.Add("where", around.expression(*node.condition, names));
  return text;
}

NodeText TextOf(const PhysicalExchange& node, const NodeSurroundings& around) {
  NodeText text{"Exchange", {}};
  text.Add("distribution", node.keys.empty()
                               ? std::string("single")
                               : fmt::format("hash[{}]", ColumnNames(node.keys, around.input())));
  return text;
}

NodeText TextOf(const PhysicalWatermarkAssigner& node, const NodeSurroundings& around) {
  NodeText text{"WatermarkAssigner", {}};
  text.Add("rowtime", around.schema.name(node.rowtime));
  text.Add("watermark", around.expression(node.watermark, around.names()));
  return text;
}

NodeText TextOf(const PhysicalMiniBatchAssigner& node, const NodeSurroundings&) {
  NodeText text{"MiniBatchAssigner", {}};
  text.Add("interval", fmt::format("{}ms", node.interval_millis));
  text.Add("mode", node.rowtime ? "RowTime" : "ProcTime");
  return text;
}

NodeText TextOf(const PhysicalRank& node, const NodeSurroundings& around) {
  NodeText text{"Rank", {}};
  text.Add("strategy", StrategyText(node.strategy));
  text.Add("rankType", RankTypeText(node.type));
  text.Add("rankRange",
           node.range.is_variable()
               ? "rankEnd=" + around.input().name(node.range.variable_end)
               : fmt::format("rankStart={}, rankEnd={}", node.range.start, node.range.end));
  text.Add("partitionBy", ColumnNames(node.partition, around.input()));
  bool rowtime = false;
  for (const SortKey& key : node.order)
    rowtime = rowtime || around.input().type(key.column).is_rowtime();
  text.Add("orderBy", (rowtime ? "ROWTIME " : "") + OrderText(node.order, around.input()));
  text.Add("select", AllNames(around.schema));
  return text;
}

NodeText TextOf(const PhysicalSortLimit& node, const NodeSurroundings& around) {
  NodeText text{"SortLimit", {}};
  text.Add("orderBy", OrderText(node.order, around.input()));
  text.Add("offset", std::to_string(node.offset));
  text.Add("fetch", std::to_string(node.fetch));
  text.Add("strategy", StrategyText(node.strategy));
  return text;
}

NodeText TextOf(const PhysicalLimit& node, const NodeSurroundings&) {
  NodeText text{"Limit", {}};
  text.Add("offset", std::to_string(node.offset));
  text.Add("fetch", node.fetch ? std::to_string(*node.fetch) : "unlimited");
  return text;
}

NodeText TextOf(const PhysicalGroupAggregate& node, const NodeSurroundings& around) {
  NodeText text{"GroupAggregate", {}};
  if (node.phase == AggregatePhase::kLocal) text.name = "LocalGroupAggregate";
  if (node.phase == AggregatePhase::kGlobal) text.name = "GlobalGroupAggregate";
  if (!node.group.empty()) text.Add("groupBy", ColumnNames(node.group, around.input()));
  std::vector<std::string> columns;
  for (size_t i = 0; i < node.group.size(); ++i)
    columns.push_back(around.input().name(node.group[i]));
  for (std::string& call : AggregateCallTexts(node, around.input(), around.schema))
    columns.push_back(std::move(call));
  text.Add("select", fmt::format("{}", fmt::join(columns, ", ")));
  return text;
}

NodeText TextOf(const PhysicalChangelogNormalize& node, const NodeSurroundings& around) {
  NodeText text{"ChangelogNormalize", {}};
  text.Add("key", ColumnNames(node.keys, around.input()));
  if (node.condition) text.Add("condition", around.expression(*node.condition, around.names()));
  return text;
}

NodeText TextOf(const PhysicalFinalRows& node, const NodeSurroundings& around) {
  NodeText text{"FinalRows", {}};
  if (!node.order.empty()) text.Add("orderBy", OrderText(node.order, around.input()));
  return text;
}

NodeText TextOf(const PhysicalDropUpdateBefore&, const NodeSurroundings&) {
  return {"DropUpdateBefore", {}};
}

NodeText TextOf(const PhysicalUnion&, const NodeSurroundings& around) {
  NodeText text{"Union", {}};
  text.Add("all", "true");
  text.Add("union", AllNames(around.schema));
  return text;
}

NodeText TextOf(const PhysicalJoin& node, const NodeSurroundings& around) {
  NodeText text{"Join", {}};
  text.Add("joinType", JoinTypeText(node.type));
  const Schema& left = around.input();
  const Schema& right = *around.inputs[1];
  const InputName names = [&](int column) {
    return column < left.size() ? left.name(column) : right.name(column - left.size());
  };
  text.Add("where", around.expression(node.condition, names));
  text.Add("select", AllNames(around.schema));
  return text;
}

NodeText TextOf(const PhysicalOverAggregate& node, const NodeSurroundings& around) {
  NodeText text{"OverAggregate", {}};
  const OverWindow& over = *node.calls.front().over;
  std::vector<std::string> partition;
  for (const Expression& part : over.partition)
    partition.push_back(around.expression(part, around.names()));
  if (!partition.empty()) text.Add("partitionBy", fmt::format("{}", fmt::join(partition, ", ")));
  std::vector<std::string> order;
  for (const OverWindow::Order& key : over.order) {
    order.push_back(around.expression(key.key, around.names()) +
                    (key.descending ? " DESC" : " ASC"));
  }
  text.Add("orderBy", fmt::format("{}", fmt::join(order, ", ")));
  text.Add("window", FrameText(over, around));
  std::vector<std::string> columns = around.input().names();
  for (size_t i = 0; i < node.calls.size(); ++i) {
    const Expression& call = node.calls[i];
    std::vector<std::string> arguments;
    for (const Expression& operand : call.operands)
      arguments.push_back(around.expression(operand, around.names()));
    columns.push_back(
        fmt::format("{}({}{}) AS {}", call.function, call.distinct ? "DISTINCT " : "",
                    arguments.empty() ? "*" : fmt::format("{}", fmt::join(arguments, ", ")),
                    around.schema.name(around.input().size() + static_cast<int>(i))));
  }
  text.Add("select", fmt::format("{}", fmt::join(columns, ", ")));
  return text;
}

NodeText TextOf(const PhysicalSink& node, const NodeSurroundings& around) {
  NodeText text{"Sink", {}};
  text.Add("table", node.table->path.ToString());
  if (!node.target_columns.empty()) {
    std::vector<std::string> columns;
    for (const int column : node.target_columns) columns.push_back(fmt::format("[{}]", column));
    text.Add("targetColumns", fmt::format("{}", fmt::join(columns, ",")));
  }
  text.Add("fields", AllNames(around.input()));
  if (!node.hint_options.empty()) text.Add("hints", OptionsHint(node.hint_options));
  if (node.upsert_materialize) text.Add("upsertMaterialize", "true");
  if (node.conflict != ConflictStrategy::kUnsaid)
    text.Add("conflictStrategy", ConflictText(node.conflict));
  return text;
}

}  // namespace rowtide

#include "planner/logical/explain.h"

#include <fmt/format.h>

#include "engine/secrets.h"
#include "engine/value_text.h"
#include "planner/logical/expression_text.h"

namespace rowtide {
namespace {

class Terms {
 public:
  explicit Terms(std::string name) : text_(std::move(name)) {}

  Terms& Add(const std::string& key, const std::string& value) {
    text_ += (empty_ ? "(" : ", ") + key + "=[" + value + "]";
    empty_ = false;
    return *this;
  }
  std::string Text() const { return empty_ ? text_ : text_ + ")"; }

 private:
  std::string text_;
  bool empty_ = true;
};

template <typename Items, typename Print>
std::string Joined(const Items& items, const char* separator, const Print& print) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    text += print(item);
  }
  return text;
}

std::string Columns(const std::vector<int>& columns) {
  return "{" + Joined(columns, ", ", [](int column) { return std::to_string(column); }) + "}";
}

std::string HintText(const std::map<std::string, std::string>& options) {
  return "[[OPTIONS inheritPath:[] options:{" +
         Joined(options, ", ",
                [](const auto& option) {
                  return option.first + "=" + ShownValue(option.first, option.second);
                }) +
         "}]]";
}

std::string Text(const LogicalScan& scan, const LogicalNode&) {
  const CatalogTable& table = *scan.table;
  std::string path = table.path.catalog + ", " + table.path.database + ", " + table.path.name;
  std::string metadata;
  for (const int column : table.ScanColumns()) {
    const TableColumn& field = table.columns[static_cast<size_t>(column)];
    if (field.kind != TableColumn::Kind::kMetadata) continue;
    metadata += (metadata.empty() ? "" : ", ") + field.metadata_key;
  }
  if (!metadata.empty()) path += ", metadata=[" + metadata + "]";
  Terms terms("LogicalTableScan");
  terms.Add("table", "[" + path + "]");
  if (!scan.hint_options.empty()) terms.Add("hints", HintText(scan.hint_options));
  return terms.Text();
}

std::string TupleValue(const Expression& value) {
  if (value.type.kind != TypeKind::kDecimal || value.is_null_literal()) return LiteralText(value);
  std::string text;  // all digits of the column's scale
  AppendDecimal(std::get<int128>(value.literal), value.type.scale, &text);
  return text;
}

std::string Text(const LogicalValues& values, const LogicalNode&) {
  const std::string rows = Joined(values.rows, ", ", [](const std::vector<Expression>& row) {
    return "{ " + Joined(row, ", ", TupleValue) + " }";
  });
  return Terms("LogicalValues").Add("tuples", "[" + rows + "]").Text();
}

std::string Text(const LogicalProject& project, const LogicalNode& node) {
  Terms terms("LogicalProject");
  for (int i = 0; i < node.schema.size(); ++i) {
    terms.Add(node.schema.name(i), AstText(project.expressions[static_cast<size_t>(i)]));
  }
  return terms.Text();
}

std::string Text(const LogicalFilter& filter, const LogicalNode&) {
  return Terms("LogicalFilter").Add("condition", AstText(filter.condition)).Text();
}

std::string CallText(const AggregateCall& call) {
  std::string text = call.function + "(" + (call.distinct ? "DISTINCT " : "");
  text +=
      Joined(call.arguments, ", ", [](int column) { return "$" + std::to_string(column); }) + ")";
  if (call.filter >= 0) text += " FILTER $" + std::to_string(call.filter);
  return text;
}

std::string Text(const LogicalAggregate& aggregate, const LogicalNode&) {
  Terms terms("LogicalAggregate");
  terms.Add("group", Columns(aggregate.group));
  for (const AggregateCall& call : aggregate.calls) terms.Add(call.name, CallText(call));
  return terms.Text();
}

const char* JoinName(JoinType type) {
  switch (type) {
    case JoinType::kInner: return "inner";
    case JoinType::kLeft: return "left";
    case JoinType::kRight: return "right";
    case JoinType::kFull: return "full";
    case JoinType::kSemi: return "semi";
    case JoinType::kAnti: return "anti";
  }
  RT_CHECK(false);
}

std::string Text(const LogicalJoin& join, const LogicalNode&) {
  return Terms("LogicalJoin")
      .Add("condition", AstText(join.condition))
      .Add("joinType", JoinName(join.type))
      .Text();
}

std::string Text(const LogicalCorrelate& correlate, const LogicalNode&) {
  return Terms("LogicalCorrelate")
      .Add("correlation", correlate.correlation)
      .Add("joinType", JoinName(correlate.type))
      .Add("requiredColumns", Columns(correlate.required_columns))
      .Text();
}

std::string Text(const LogicalUnion& set_union, const LogicalNode&) {
  return Terms("LogicalUnion").Add("all", set_union.all ? "true" : "false").Text();
}

// NULLs where Calcite's own default has them go unsaid: last when ascending, first when descending.
std::string Direction(const SortKey& key) {
  if (key.descending) return key.nulls_first ? "DESC" : "DESC-nulls-last";
  return key.nulls_first ? "ASC-nulls-first" : "ASC";
}

std::string Text(const LogicalSort& sort, const LogicalNode&) {
  Terms terms("LogicalSort");
  for (size_t i = 0; i < sort.keys.size(); ++i) {
    terms.Add("sort" + std::to_string(i), "$" + std::to_string(sort.keys[i].column));
  }
  for (size_t i = 0; i < sort.keys.size(); ++i)
    terms.Add("dir" + std::to_string(i), Direction(sort.keys[i]));
  if (sort.offset) terms.Add("offset", std::to_string(*sort.offset));
  if (sort.fetch) terms.Add("fetch", std::to_string(*sort.fetch));
  return terms.Text();
}

std::string Text(const LogicalWatermarkAssigner& assigner, const LogicalNode& node) {
  return Terms("LogicalWatermarkAssigner")
      .Add("rowtime", node.schema.name(assigner.rowtime))
      .Add("watermark", AstText(assigner.watermark))
      .Text();
}

std::string Text(const LogicalSink& sink, const LogicalNode& node) {
  Terms terms("LogicalSink");
  terms.Add("table", sink.table->path.ToString());
  if (!sink.target_columns.empty()) {
    terms.Add("targetColumns", Joined(sink.target_columns, ",", [](int column) {
                return "[" + std::to_string(column) + "]";
              }));
  }
  terms.Add("fields",
            Joined(node.schema.names(), ", ", [](const std::string& name) { return name; }));
  if (!sink.hint_options.empty()) terms.Add("hints", HintText(sink.hint_options));
  return terms.Text();
}

void AppendTree(const LogicalNode& node, const std::string& first, const std::string& rest,
                std::string* out) {
  *out += first + std::visit([&node](const auto& op) { return Text(op, node); }, node.op) + "\n";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool last = i + 1 == node.inputs.size();
    AppendTree(node.input(i), rest + (last ? "+- " : ":- "), rest + (last ? "   " : ":  "), out);
  }
}

}  // namespace

std::string ExplainLogical(const LogicalNode& root) {
  std::string text;
  AppendTree(root, "", "", &text);
  return text;
}

}  // namespace rowtide

#include "planner/physical/sink_keys.h"

#include <algorithm>

namespace rowtide {
namespace {

bool Includes(const ColumnSet& all, const ColumnSet& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

std::string NamesOf(const ColumnSet& columns, const Schema& schema) {
  std::string text = "[";
  for (int column : columns) text += (text.size() > 1 ? ", " : "") + schema.name(column);
  return text + "]";
}

const char* Name(ConflictStrategy strategy) {
  switch (strategy) {
    case ConflictStrategy::kUnsaid: return "";
    case ConflictStrategy::kDeduplicate: return "ON CONFLICT DO DEDUPLICATE";
    case ConflictStrategy::kError: return "ON CONFLICT DO ERROR";
    case ConflictStrategy::kNothing: return "ON CONFLICT DO NOTHING";
  }
  return "";
}

// Tables without WATERMARK among the sources.
void WithoutWatermark(const PhysicalNode& node, std::vector<std::string>* tables) {
  if (const auto* scan = node.as<PhysicalScan>(); scan && !scan->table->watermark) {
    const std::string name = scan->table->path.ToString();
    if (std::find(tables->begin(), tables->end(), name) == tables->end()) tables->push_back(name);
  }
  for (const PhysicalPointer& input : node.inputs) WithoutWatermark(*input, tables);
}

Status CheckClause(const PhysicalSink& sink, const PhysicalNode& input) {
  if (sink.conflict == ConflictStrategy::kUnsaid) return Status::Ok();
  const std::string table = Quote(sink.table->path.ToString());
  const SinkKind kind = KindOf(sink);
  if (kind == SinkKind::kAppend) {
    return Status::Plan("{} is for upsert sinks; {} takes inserts only", Name(sink.conflict), table)
        .WithKind(ErrorKind::kValidate);
  }
  if (kind == SinkKind::kRetract || kind == SinkKind::kAny) {
    return Status::Plan("{} is for upsert sinks; {} wants -U rows (a retract sink)",
                        Name(sink.conflict), table)
        .WithKind(ErrorKind::kValidate);
  }
  if (sink.conflict == ConflictStrategy::kDeduplicate) return Status::Ok();
  std::vector<std::string> tables;
  WithoutWatermark(input, &tables);
  if (tables.empty()) return Status::Ok();
  std::string list;
  for (const std::string& name : tables) list += (list.empty() ? "" : ", ") + Quote(name);
  return Status::Plan("{} decides at watermarks, but {} has no WATERMARK", Name(sink.conflict),
                      list)
      .WithKind(ErrorKind::kValidate)
      .WithHint("declare a WATERMARK for every source, or use ON CONFLICT DO DEDUPLICATE");
}

Status RefuseWithoutClause(const PhysicalSink& sink, const PhysicalNode& input,
                           const std::vector<ColumnSet>& keys) {
  ColumnSet primary;
  for (int column : SinkKey(sink)) primary.insert(column);
  const std::string sink_key = NamesOf(primary, sink.table->SinkSchema());
  const std::string query_key = keys.empty() ? "none" : NamesOf(keys[0], input.schema);
  const std::string column =
      primary.empty() ? "k" : sink.table->SinkSchema().name(*primary.begin());
  return Status::Plan(
             "the rows of the query are identified by {}, those of sink {} by its key {}: two rows "
             "of the query "
             "can meet in one row of the sink",
             query_key, Quote(sink.table->path.ToString()), sink_key)
      .WithKind(ErrorKind::kValidate)
      .WithErrorCode("RT2040")
      .WithHint("for example rows ('x', 1) and ('x', 2) with " + column +
                " = 'x'. Say which one stays: ON CONFLICT DO DEDUPLICATE (the latest; keeps the "
                "history of each key), "
                "ON CONFLICT DO NOTHING (the first), ON CONFLICT DO ERROR (stop the job); or "
                "deduplicate by " +
                sink_key + " in the query");
}

}  // namespace

SinkKind KindOf(const PhysicalSink& sink) {
  if (!sink.table->sink || !sink.table->sink->mode) {
    return sink.table->sink && sink.table->sink->default_without_before ? SinkKind::kUpsert
                                                                        : SinkKind::kAny;
  }
  const ChangelogMode& mode = *sink.table->sink->mode;
  if (mode.insert_only()) return SinkKind::kAppend;
  return mode.update_before ? SinkKind::kRetract : SinkKind::kUpsert;
}

std::vector<int> SinkKey(const PhysicalSink& sink) {
  std::vector<int> key;
  const Schema written = sink.table->SinkSchema();
  for (int column : sink.table->primary_key) {
    key.push_back(written.Find(sink.table->columns[static_cast<size_t>(column)].name));
  }
  return key;
}

bool KeyMatches(const PhysicalSink& sink, const PhysicalNode& input, const KeyOptions& options) {
  const std::vector<int> columns = SinkKey(sink);
  const ColumnSet primary(columns.begin(), columns.end());
  const ColumnSet immutable = ImmutableColumns(input);
  for (const ColumnSet& key : UpsertKeys(input, options)) {
    if (!Includes(primary, key)) continue;
    ColumnSet fixed = key;
    fixed.insert(immutable.begin(), immutable.end());
    if (Includes(fixed, primary)) return true;
  }
  return false;
}

Result<PhysicalSink> WithConflictRules(const PhysicalSink& sink, const PhysicalNode& input,
                                       PlannerContext& context) {
  RT_TRY(CheckClause(sink, input));
  PhysicalSink settled = sink;
  const bool has_key = !sink.table->primary_key.empty();
  const SinkKind kind = KindOf(sink);
  const std::vector<ColumnSet> keys = UpsertKeys(input);
  if (!keys.empty()) {
    const auto smallest = std::min_element(
        keys.begin(), keys.end(),
        [](const ColumnSet& a, const ColumnSet& b) { return a.size() < b.size(); });
    settled.input_upsert_key.assign(smallest->begin(), smallest->end());
  }
  // In batch mode nothing reaches a sink out of order.
  if (!has_key || context.options.batch) return settled;
  if (context.options.upsert_materialize == UpsertMaterialize::kNone) return settled;
  if (kind == SinkKind::kRetract || kind == SinkKind::kAny) return settled;
  if (context.options.upsert_materialize == UpsertMaterialize::kForce) {
    settled.upsert_materialize = true;
    return settled;
  }
  if (kind == SinkKind::kAppend) return settled;
  if (input.trait.kinds.insert_only() && sink.conflict == ConflictStrategy::kDeduplicate)
    return settled;
  const std::vector<int> columns = SinkKey(sink);
  const ColumnSet primary(columns.begin(), columns.end());
  const bool contained = std::any_of(keys.begin(), keys.end(),
                                     [&](const ColumnSet& key) { return Includes(primary, key); });
  if (contained) return settled;
  if (sink.conflict == ConflictStrategy::kUnsaid && context.options.require_on_conflict) {
    return RefuseWithoutClause(sink, input, keys);
  }
  settled.upsert_materialize = true;
  return settled;
}

}  // namespace rowtide

// INSERT: the columns it names, the casts it needs, and the sink above.
#include <algorithm>

#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"
#include "planner/binder/bind_query.h"
#include "planner/binder/relational.h"

namespace rowtide {
namespace {

// Whether a value goes into the column as it is: nullability apart, and strings into longer
// strings.
bool GoesWithoutCast(const Type& from, const Type& to) {
  if (from.SameButNullability(to)) return true;
  const bool strings = IsCharacter(from) && to.kind == TypeKind::kVarChar;
  const bool bytes = IsBinary(from) && to.kind == TypeKind::kVarBinary;
  return (strings || bytes) && from.precision <= to.precision;
}

std::string SchemaText(const Schema& schema) {
  std::string text = "[";
  for (int i = 0; i < schema.size(); ++i) {
    if (i > 0) text += ", ";
    text += schema.name(i) + ": " + ToString(schema.type(i));
  }
  return text + "]";
}

Status Mismatch(const CatalogTable& table, const std::string& cause, const Schema& query,
                SourcePosition position) {
  return Status::Validate(position,
                          "Column types of query result and sink for '{}' do not match. Cause: {} "
                          "Query schema: {} Sink schema:  {}",
                          table.path.ToString(), cause, SchemaText(query),
                          SchemaText(table.SinkSchema()))
      .WithErrorCode("RT2032");
}

// A cast to the nullable type of the column, as Calcite writes it over a projection or above other
// nodes.
Result<Expression> CastForSink(Expression e, const Type& type) {
  const bool same = e.type == type && !e.type.is_time_attribute();
  if (same) return e;
  if (e.is_literal() && type.kind != TypeKind::kChar) {
    RT_ASSIGN(Expression literal, MakeCast(e, type.NotNull()));
    if (literal.is_null_literal()) return Expression::Null(type);
    return Expression::Cast(std::move(literal), type);
  }
  return Expression::Cast(std::move(e), type);
}

Result<LogicalPointer> CastToSink(LogicalPointer node, const CatalogTable& table,
                                  SourcePosition position) {
  const Schema sink = table.SinkSchema();
  if (node->schema.size() != sink.size())
    return Mismatch(table, "Different number of columns.", node->schema, position);
  bool casts = false;
  for (int i = 0; i < sink.size(); ++i) {
    if (GoesWithoutCast(node->schema.type(i), sink.type(i))) continue;
    casts = true;
    if (!CanInsert(node->schema.type(i), sink.type(i))) {
      return Mismatch(
          table,
          fmt::format("Incompatible types for sink column '{}' at position {}.", sink.name(i), i),
          node->schema, position);
    }
  }
  if (!casts) return node;
  const auto* project = node->as<LogicalProject>();
  const bool merges = project != nullptr;
  std::vector<Expression> expressions = merges ? project->expressions : AllColumns(node->schema);
  for (int i = 0; i < sink.size(); ++i) {
    RT_ASSIGN(expressions[static_cast<size_t>(i)],
              CastForSink(expressions[static_cast<size_t>(i)], sink.type(i).Nullable()));
  }
  LogicalProject cast{std::move(expressions), {}};
  if (merges) cast.ttl_hints = project->ttl_hints;
  LogicalPointer input = merges ? node->inputs[0] : node;
  Schema schema;
  for (int i = 0; i < sink.size(); ++i)
    schema.Add({sink.name(i), cast.expressions[static_cast<size_t>(i)].type});
  return MakeLogical(std::move(cast), {std::move(input)}, std::move(schema));
}

Result<InsertShape> ShapeOf(const ast::Insert& insert, const CatalogTable& table,
                            std::vector<int>* targets) {
  const Schema sink = table.SinkSchema();
  InsertShape shape;
  shape.sources.assign(static_cast<size_t>(sink.size()), -1);
  for (size_t i = 0; i < insert.columns.size(); ++i) {
    const ast::Name& name = insert.columns[i];
    const int column = sink.Find(name.parts[0]);
    if (column < 0) {
      Status status = Status::Validate(name.position, "table {} has no column {} to write",
                                       table.path.name, Quote(name.parts[0]))
                          .WithErrorCode("RT2002");
      const std::string nearest = Nearest(name.parts[0], sink.names());
      return nearest.empty() ? status
                             : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
    }
    if (shape.sources[static_cast<size_t>(column)] >= 0) {
      return Status::Validate(name.position, "INSERT names column {} twice", Quote(name.parts[0]))
          .WithErrorCode("RT2014");
    }
    shape.sources[static_cast<size_t>(column)] = static_cast<int>(i);
    targets->push_back(column);
  }
  for (int i = 0; i < sink.size(); ++i) {
    shape.types.push_back(sink.type(i).Nullable());
    if (shape.sources[static_cast<size_t>(i)] < 0 && !sink.type(i).nullable) {
      return Status::Validate(insert.position,
                              "column {} of {} is NOT NULL, and INSERT does not name it",
                              Quote(sink.name(i)), table.path.name)
          .WithErrorCode("RT2032");
    }
  }
  return shape;
}

ConflictStrategy StrategyOf(const std::string& word) {
  if (word == "NOTHING") return ConflictStrategy::kNothing;
  if (word == "ERROR") return ConflictStrategy::kError;
  return word == "DEDUPLICATE" ? ConflictStrategy::kDeduplicate : ConflictStrategy::kUnsaid;
}

// What is written besides the row has to be something that the connector can write.
Status CheckMetadata(const CatalogTable& table, SourcePosition position) {
  const std::vector<std::string>& known = table.sink->metadata;
  for (const TableColumn& column : table.columns) {
    if (column.kind != TableColumn::Kind::kMetadata || column.metadata_virtual) continue;
    if (std::find(known.begin(), known.end(), column.metadata_key) != known.end()) continue;
    const std::string what =
        known.empty()
            ? fmt::format("{} writes no metadata", Quote(table.connector()))
            : fmt::format("{} writes {}", Quote(table.connector()), fmt::join(known, ", "));
    return Status::Validate(position,
                            "metadata column {} of table {} cannot be written: {}, and no {}",
                            Quote(column.name), table.path.name, what, Quote(column.metadata_key))
        .WithErrorCode("RT2017")
        .WithHint("declare it METADATA … VIRTUAL: then it is only read, and INSERT leaves it out");
  }
  return Status::Ok();
}

}  // namespace

Result<LogicalPointer> BindInsert(const ast::Insert& insert, BindContext& context) {
  const bool batch = context.options->Get("execution.runtime-mode") == "BATCH";
  if (insert.overwrite && !batch)
    return Status::Plan(
               "INSERT OVERWRITE replaces what a table holds, and a stream has no such moment")
        .At(insert.position)
        .WithHint(
            "SET 'execution.runtime-mode' = 'batch', which writes once, when the input has ended; "
            "or write INSERT INTO");
  if (!insert.partition.empty())
    return Status::Unsupported("INSERT … PARTITION").At(insert.position);
  const ObjectPath path = context.catalog->Resolve(insert.table.parts);
  if (context.catalog->FindView(path)) {
    return Status::Validate(insert.table.position, "{} is a view and cannot be written", path.name)
        .WithErrorCode("RT2017");
  }
  RT_ASSIGN(TablePointer table, FindTableOrNearest(insert.table, *context.catalog));
  LogicalSink sink;
  for (const ast::Hint& hint : insert.hints) {
    if (hint.name != "OPTIONS") continue;
    for (const auto& [key, value] : hint.options) sink.hint_options[key] = value;
  }
  if (!sink.hint_options.empty() && context.abilities) {
    CatalogTable hinted = *table;
    for (const auto& [key, value] : sink.hint_options) hinted.options[key] = value;
    RT_TRY((*context.abilities)(&hinted));
    table = std::make_shared<const CatalogTable>(std::move(hinted));
  }
  std::optional<InsertShape> shape;
  if (!insert.columns.empty()) {
    RT_ASSIGN(shape, ShapeOf(insert, *table, &sink.target_columns));
  }
  QueryBinder binder(context, nullptr, 0);
  RT_ASSIGN(LogicalPointer node, binder.Bind(*insert.query, nullptr, shape ? &*shape : nullptr));
  RT_ASSIGN(node, CastToSink(std::move(node), *table, insert.position));
  if (!table->sink) {
    return Status::Validate(insert.table.position, "table {} cannot be written: {}", path.name,
                            table->connector().empty()
                                ? "it has no 'connector'"
                                : "its connector " + Quote(table->connector()) + " is no sink")
        .WithErrorCode("RT2017");
  }
  RT_TRY(CheckMetadata(*table, insert.table.position));
  if (insert.overwrite && !table->sink->overwrite) {
    return Status::Validate(
               insert.table.position,
               "INSERT OVERWRITE replaces files; the connector {} of table {} has none",
               Quote(table->connector()), path.name)
        .WithHint("write INSERT INTO");
  }
  sink.overwrite = insert.overwrite;
  sink.table = std::move(table);
  sink.conflict = StrategyOf(insert.on_conflict);
  sink.position = insert.on_conflict.empty() ? insert.position : insert.conflict_position;
  Schema schema = node->schema;
  return MakeLogical(std::move(sink), {std::move(node)}, std::move(schema));
}

}  // namespace rowtide

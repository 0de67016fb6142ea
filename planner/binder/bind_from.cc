// FROM: tables, views, WITH names, sub-queries, joins. A table comes as Flink makes it: the scan,
// the computed columns above it, the watermark above those.
#include <algorithm>

#include "operators/expressions/registry.h"
#include "planner/binder/bind_query.h"
#include "planner/binder/relational.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

std::vector<Field> FieldsOf(const Schema& schema) { return schema.fields(); }

std::string ConstructName(const ast::Expr& expr) {
  const auto* call = expr.as<ast::Call>();
  return call ? "table function " + call->function : "table function";
}

std::string OwnName(const ast::SelectItem& item) {
  if (!item.alias.empty()) return item.alias.parts[0];
  const auto* ref = item.expression->as<ast::NameRef>();
  return ref ? ref->name.parts.back() : "";
}

// The names that a query gives its columns itself; where it says `a` twice, the schema has a and
// a0.
std::vector<std::string> GivenNames(const ast::Query& query, const Schema& schema) {
  if (const auto* inner = std::get_if<ast::QueryPointer>(&query.body))
    return GivenNames(**inner, schema);
  if (const auto* operation = std::get_if<ast::SetOperation>(&query.body))
    return GivenNames(*operation->left, schema);
  std::vector<std::string> names = schema.names();
  const auto* select = std::get_if<ast::Select>(&query.body);
  if (select == nullptr) return names;
  // What stands behind a star is counted from the end; with two stars nothing is known.
  const auto is_star = [](const ast::SelectItem& item) {
    return item.expression->as<ast::Star>() != nullptr;
  };
  const auto& items = select->items;
  const auto star = std::find_if(items.begin(), items.end(), is_star);
  if (std::count_if(items.begin(), items.end(), is_star) > 1 || items.size() > names.size() + 1 ||
      (star == items.end() && items.size() != names.size()))
    return names;
  const auto before = static_cast<size_t>(star - items.begin());
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == before) continue;
    const std::string own = OwnName(items[i]);
    if (!own.empty()) names[i < before ? i : names.size() - (items.size() - i)] = own;
  }
  return names;
}

Status CheckMetadata(const CatalogTable& table, SourcePosition position) {
  if (!table.source) return Status::Ok();  // refused as a whole, later
  const std::vector<std::string>& known = table.source->metadata;
  for (const TableColumn& column : table.columns) {
    if (column.kind != TableColumn::Kind::kMetadata) continue;
    if (std::find(known.begin(), known.end(), column.metadata_key) != known.end()) continue;
    Status status =
        Status::Validate(position, "the metadata key {} of column {} is not known to {}",
                         Quote(column.metadata_key), Quote(column.name), Quote(table.connector()))
            .WithErrorCode("RT2029");
    const std::string nearest = Nearest(column.metadata_key, known);
    return nearest.empty() ? status
                           : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
  }
  return Status::Ok();
}

}  // namespace

Result<TablePointer> FindTableOrNearest(const ast::Name& name, const Catalog& catalog) {
  const ObjectPath path = catalog.Resolve(name.parts);
  if (TablePointer table = catalog.FindTable(path)) return table;
  Status status = Status::Validate(name.position, "there is no table {}", path.ToString())
                      .WithErrorCode("RT2001");
  const std::string nearest = Nearest(path.name, catalog.TableNames());
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

Result<QueryBinder::Source> QueryBinder::Aliased(LogicalPointer node, const ast::TableRef& table,
                                                 std::vector<std::string> path) {
  ScopeTable columns;
  columns.alias = table.alias.empty() ? "" : table.alias.parts[0];
  if (table.alias.empty()) columns.path = std::move(path);
  if (!table.columns.empty()) {
    if (static_cast<int>(table.columns.size()) != node->schema.size()) {
      return Status::Validate(table.position, "{} names {} columns, and the table has {}",
                              Quote(columns.alias), table.columns.size(), node->schema.size())
          .WithErrorCode("RT2019");
    }
    // Only VALUES takes the names into the plan; elsewhere they are names in the scope.
    std::vector<std::string> names;
    for (const ast::Name& name : table.columns) names.push_back(name.parts[0]);
    const auto* derived = table.as<ast::DerivedTable>();
    if (derived && std::holds_alternative<ast::Values>(derived->query->body)) {
      RT_ASSIGN(node, Renamed(std::move(node), names));
    }
    columns.columns = FieldsOf(node->schema);
    for (size_t i = 0; i < names.size(); ++i) columns.columns[i].name = names[i];
  } else {
    columns.columns = FieldsOf(node->schema);
    if (const auto* derived = table.as<ast::DerivedTable>()) {
      const std::vector<std::string> names = GivenNames(*derived->query, node->schema);
      for (size_t i = 0; i < names.size(); ++i) columns.columns[i].name = names[i];
    }
  }
  Source source;
  source.node = std::move(node);
  source.scope.tables.push_back(std::move(columns));
  return source;
}

Result<QueryBinder::Source> QueryBinder::BindTable(const ast::TableRef& table, const Scope* outer) {
  if (const auto* named = table.as<ast::NamedTable>()) return BindNamed(*named, table);
  if (const auto* derived = table.as<ast::DerivedTable>()) {
    QueryBinder binder(context_, with_, view_depth_);
    RT_ASSIGN(LogicalPointer node,
              binder.Bind(*derived->query, derived->lateral ? outer : nullptr));
    return Aliased(std::move(node), table, {});
  }
  if (const auto* join = table.as<ast::JoinTable>()) return BindJoin(*join, table, outer);
  if (const auto* function = table.as<ast::FunctionTable>()) {
    return Status::Unsupported("{}", ConstructName(*function->call)).At(table.position);
  }
  if (table.as<ast::UnnestTable>()) return Status::Unsupported("UNNEST").At(table.position);
  return Status::Unsupported("MATCH_RECOGNIZE").At(table.position);
}

Result<QueryBinder::Source> QueryBinder::BindNamed(const ast::NamedTable& named,
                                                   const ast::TableRef& table) {
  if (named.system_time) return Status::Unsupported("FOR SYSTEM_TIME AS OF").At(table.position);
  if (named.name.parts.size() == 1 && with_) {
    if (const ast::WithItem* item = with_->Find(named.name.parts[0])) {
      QueryBinder binder(context_, with_, view_depth_ + 1);
      RT_TRY(CountExpansion(table.position));
      RT_ASSIGN(LogicalPointer node, binder.Bind(*item->query));
      if (!item->columns.empty()) {
        std::vector<std::string> names;
        for (const ast::Name& name : item->columns) names.push_back(name.parts[0]);
        if (static_cast<int>(names.size()) != node->schema.size()) {
          return Status::Validate(item->name.position,
                                  "{} names {} columns, and its query gives {}",
                                  Quote(item->name.parts[0]), names.size(), node->schema.size())
              .WithErrorCode("RT2019");
        }
        RT_ASSIGN(node, Renamed(std::move(node), names));
      } else {
        std::vector<std::string> names = GivenNames(*item->query, node->schema);
        std::sort(names.begin(), names.end());
        const auto twice = std::adjacent_find(names.begin(), names.end());
        if (twice != names.end()) {
          return Status::Validate(item->name.position, "{} has the column {} twice",
                                  Quote(item->name.parts[0]), Quote(*twice))
              .WithErrorCode("RT2014")
              .WithHint("Give the columns different names with AS.");
        }
      }
      return Aliased(std::move(node), table, {"", "", named.name.parts[0]});
    }
  }
  const ObjectPath path = context_.catalog->Resolve(named.name.parts);
  std::vector<std::string> parts = {path.catalog, path.database, path.name};
  if (const CatalogView* view = context_.catalog->FindView(path)) {
    Result<LogicalPointer> node = BindView(*view);
    if (!node.ok()) return InView(node.status(), *view, named.name.position);
    return Aliased(std::move(*node), table, std::move(parts));
  }
  RT_ASSIGN(TablePointer found, FindTableOrNearest(named.name, *context_.catalog));
  RT_ASSIGN(LogicalPointer node, BindScan(std::move(found), named));
  return Aliased(std::move(node), table, std::move(parts));
}

// What is wrong in a view has its place in the view's own text; the user sees the place where the
// view is used.
Status QueryBinder::InView(Status error, const CatalogView& view, SourcePosition used) {
  const SourcePosition inner = error.position();
  std::string context = "view " + Quote(view.path.name);
  if (inner.known()) context += fmt::format(", line {}, column {}", inner.line, inner.column);
  return std::move(error).WithContext(std::move(context)).MovedTo(used);
}

Status QueryBinder::CountExpansion(SourcePosition position) {
  if (view_depth_ >= kMaxViewNesting) {
    return Status::Validate(position, "more than {} views and WITH names inside each other",
                            kMaxViewNesting);
  }
  if (++context_.expansions <= kMaxExpansions) return Status::Ok();
  return Status::Validate(position, "views and WITH names are used more than {} times",
                          kMaxExpansions);
}

Result<LogicalPointer> QueryBinder::BindView(const CatalogView& view) {
  RT_TRY(CountExpansion({}));
  RT_ASSIGN(const ast::QueryPointer query, ParseQuery(view.query_sql));
  // Its names mean what they meant when the view was made, whatever is current now.
  std::optional<Catalog> home;
  const Catalog* const here = context_.catalog;
  if (here->current_catalog() != view.home_catalog ||
      here->current_database() != view.home_database) {
    home = *here;
    RT_TRY(home->UseDatabase({view.home_catalog, view.home_database}));
    context_.catalog = &*home;
  }
  QueryBinder binder(context_, nullptr, view_depth_ + 1);
  Result<LogicalPointer> bound = binder.Bind(*query);
  context_.catalog = here;
  RT_ASSIGN(LogicalPointer node, std::move(bound));
  if (view.column_names.empty()) return node;
  return Renamed(std::move(node), view.column_names);
}

Result<LogicalPointer> QueryBinder::BindScan(TablePointer table, const ast::NamedTable& named) {
  LogicalScan scan;
  for (const ast::Hint& hint : named.hints) {
    if (hint.name != "OPTIONS") continue;
    for (const auto& [key, value] : hint.options) scan.hint_options[key] = value;
  }
  if (!scan.hint_options.empty() && context_.abilities) {
    CatalogTable hinted = *table;
    for (const auto& [key, value] : scan.hint_options) hinted.options[key] = value;
    RT_TRY((*context_.abilities)(&hinted));
    table = std::make_shared<const CatalogTable>(std::move(hinted));
  }
  RT_TRY(CheckMetadata(*table, named.name.position));
  const std::vector<int> scanned = table->ScanColumns();
  std::vector<Expression> by_column(table->columns.size());  // each column over the scan
  Schema schema;
  for (size_t i = 0; i < scanned.size(); ++i) {
    const TableColumn& column = table->columns[static_cast<size_t>(scanned[i])];
    const bool converts =
        column.kind == TableColumn::Kind::kMetadata && column.metadata_type.kind != TypeKind::kNull;
    const Type& produced = converts ? column.metadata_type : column.type;
    schema.Add({column.name, produced});
    Expression read = Expression::Input(static_cast<int>(i), produced);
    if (!(produced == column.type)) read = Expression::Cast(std::move(read), column.type);
    by_column[static_cast<size_t>(scanned[i])] = std::move(read);
  }
  scan.table = table;
  LogicalPointer node = MakeLogical(std::move(scan), {}, std::move(schema));
  bool all_physical = true;
  std::vector<std::string> names;
  std::vector<Expression> expressions;
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const TableColumn& column = table->columns[i];
    all_physical = all_physical && column.kind == TableColumn::Kind::kPhysical;
    names.push_back(column.name);
    const bool computed = column.kind == TableColumn::Kind::kComputed;
    expressions.push_back(computed ? Substitute(column.expression, by_column) : by_column[i]);
  }
  if (!all_physical) {
    Schema columns;
    for (size_t i = 0; i < expressions.size(); ++i) columns.Add({names[i], expressions[i].type});
    node = MakeLogical(LogicalProject{std::move(expressions), {}}, {std::move(node)},
                       std::move(columns));
  }
  if (!table->watermark) return node;
  LogicalWatermarkAssigner assigner{table->watermark->column, table->watermark->expression};
  return MakeLogical(std::move(assigner), {std::move(node)}, table->QuerySchema());
}

Result<QueryBinder::Source> QueryBinder::BindLateral(Source left, const ast::JoinTable& join) {
  using K = ast::JoinTable::Kind;
  if (join.kind != K::kComma && join.kind != K::kCross && join.kind != K::kInner &&
      join.kind != K::kLeft) {
    return Status::Validate(join.right->position, "LATERAL cannot be the right side of this join");
  }
  RT_ASSIGN(Source right, BindTable(*join.right, &left.scope));
  const JoinType type = join.kind == K::kLeft ? JoinType::kLeft : JoinType::kInner;
  Schema schema = JoinSchema(left.node->schema, right.node->schema, type);
  Source joined;
  joined.scope.tables = left.scope.tables;
  for (ScopeTable table : right.scope.tables) {
    table.first += left.node->schema.size();
    for (Field& field : table.columns) {
      if (type == JoinType::kLeft) field.type.nullable = true;
    }
    joined.scope.tables.push_back(std::move(table));
  }
  LogicalCorrelate correlate;
  correlate.type = type;
  correlate.correlation = "$cor1";
  correlate.required_columns.assign(left.scope.outer_columns.begin(),
                                    left.scope.outer_columns.end());
  joined.node = MakeLogical(std::move(correlate), {std::move(left.node), std::move(right.node)},
                            std::move(schema));
  if (!join.condition) return joined;
  const auto* literal = join.condition->as<ast::Literal>();
  if (literal && literal->kind == ast::Literal::Kind::kTrue) return joined;
  return Status::Unsupported("LATERAL with ON").At(join.condition->position);
}

Result<QueryBinder::Source> QueryBinder::BindJoin(const ast::JoinTable& join,
                                                  const ast::TableRef& table, const Scope* outer) {
  using K = ast::JoinTable::Kind;
  RT_ASSIGN(Source left, BindTable(*join.left, outer));
  const auto* derived = join.right->as<ast::DerivedTable>();
  if (derived && derived->lateral) {
    RT_ASSIGN(Source joined, BindLateral(left, join));
    if (joined.node->as<LogicalCorrelate>()->required_columns.empty()) {
      // Nothing is taken from the left: a plain join.
      Schema schema = joined.node->schema;
      const JoinType type = joined.node->as<LogicalCorrelate>()->type;
      joined.node = MakeLogical(LogicalJoin{type, Expression::Bool(true)}, joined.node->inputs,
                                std::move(schema));
    }
    return joined;
  }
  RT_ASSIGN(Source right, BindTable(*join.right, outer));
  const int left_width = left.node->schema.size();
  const JoinType type = join.kind == K::kLeft    ? JoinType::kLeft
                        : join.kind == K::kRight ? JoinType::kRight
                        : join.kind == K::kFull  ? JoinType::kFull
                                                 : JoinType::kInner;
  Source joined;
  joined.scope.tables = left.scope.tables;
  joined.scope.merged = left.scope.merged;
  for (ScopeTable scope_table : right.scope.tables) {
    scope_table.first += left_width;
    joined.scope.tables.push_back(std::move(scope_table));
  }
  std::vector<std::string> used;
  for (const ast::Name& name : join.using_columns) used.push_back(name.parts[0]);
  if (join.natural) {
    for (const Field& field : left.node->schema.fields()) {
      if (right.node->schema.Find(field.name) >= 0) used.push_back(field.name);
    }
  }
  Expression condition = Expression::Bool(true);
  if (join.condition) {
    RT_ASSIGN(condition,
              ExpressionBinder(joined.scope).Naming("ON").BindCondition(*join.condition));
  } else if (!used.empty()) {
    std::vector<Expression> terms;
    for (const std::string& name : used) {
      ast::Name column;
      column.parts = {name};
      column.position = table.position;
      RT_ASSIGN(const ResolvedColumn left_column, left.scope.Resolve(column));
      RT_ASSIGN(const ResolvedColumn right_column, right.scope.Resolve(column));
      Result<Expression> equal =
          MakeCall("=", {Expression::Input(left_column.column, left_column.type),
                         Expression::Input(right_column.column + left_width, right_column.type)});
      if (!equal.ok()) return Status(equal.status()).At(table.position);
      terms.push_back(std::move(*equal));
      joined.scope.merged.push_back(
          {name, left_column.column, right_column.column + left_width, type != JoinType::kInner});
      for (ScopeTable& scope_table : joined.scope.tables) {
        const int offset = right_column.column + left_width - scope_table.first;
        if (scope_table.first < left_width || offset < 0 ||
            offset >= static_cast<int>(scope_table.columns.size()))
          continue;
        scope_table.hidden.resize(scope_table.columns.size());
        scope_table.hidden[static_cast<size_t>(offset)] = true;
      }
    }
    condition = Conjunction(std::move(terms));
  }
  RT_ASSIGN(joined.node,
            MakeJoin(std::move(left.node), std::move(right.node), type, std::move(condition)));
  for (ScopeTable& scope_table : joined.scope.tables) {
    for (size_t i = 0; i < scope_table.columns.size(); ++i) {
      scope_table.columns[i].type =
          joined.node->schema.type(scope_table.first + static_cast<int>(i));
    }
  }
  return joined;
}

Result<LogicalPointer> BindQuery(const ast::Query& query, BindContext& context) {
  return QueryBinder(context, nullptr, 0).Bind(query);
}

}  // namespace rowtide

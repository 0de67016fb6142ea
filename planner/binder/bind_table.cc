// CREATE TABLE and CREATE VIEW: what the catalog will hold, checked.
#include <algorithm>
#include <unordered_map>

#include "operators/expressions/registry.h"
#include "planner/binder/bind_expression.h"
#include "planner/binder/bind_statement.h"
#include "planner/references.h"
#include "planner/sql/canonical_text.h"
#include "planner/sql/parser.h"

namespace rowtide {
namespace {

// Temporary objects need no database.
Result<ObjectPath> NewPath(const ast::Name& name, bool temporary, const Catalog& catalog) {
  const ObjectPath path = catalog.Resolve(name.parts);
  if (name.parts.size() > 3)
    return Status::Validate(name.position,
                            "a name has three parts at most: catalog.database.table");
  if (!temporary && !catalog.HasDatabase(path.catalog, path.database)) {
    Catalog copy = catalog;
    return copy.UseDatabase({path.catalog, path.database}).At(name.position);
  }
  return path;
}

// Which features of the table behind LIKE are taken over.
struct LikeChoices {
  std::string constraints = "INCLUDING", generated = "INCLUDING", metadata = "INCLUDING",
              options = "OVERWRITING", partitions = "INCLUDING", watermarks = "INCLUDING",
              distribution = "INCLUDING";

  std::string* Of(const std::string& feature) {
    if (feature == "CONSTRAINTS") return &constraints;
    if (feature == "GENERATED") return &generated;
    if (feature == "METADATA") return &metadata;
    if (feature == "OPTIONS") return &options;
    if (feature == "PARTITIONS") return &partitions;
    if (feature == "WATERMARKS") return &watermarks;
    return &distribution;
  }
};

class TableBuilder {
 public:
  TableBuilder(const ast::CreateTable& statement, BindContext& context)
      : statement_(statement), context_(context) {}

  Result<CatalogTable> Build() {
    RT_TRY(Refuse());
    RT_ASSIGN(table_.path, NewPath(statement_.name, statement_.temporary, *context_.catalog));
    table_.temporary = statement_.temporary;
    table_.comment = statement_.comment;
    if (statement_.has_like) RT_TRY(Like());
    for (const ast::Column& column : statement_.columns) {
      if (column.kind != ast::Column::Kind::kComputed) RT_TRY(AddColumn(column));
    }
    RT_TRY(OrderColumns());
    RT_TRY(BindComputed());
    RT_TRY(AddWatermark());
    RT_TRY(AddConstraints());
    RT_TRY(AddPartitions());
    RT_TRY(AddOptions());
    return std::move(table_);
  }

 private:
  Status Refuse() const {
    if (statement_.as_query)
      return Status::Unsupported("CREATE TABLE AS").At(statement_.name.position);
    if (!statement_.distribution.empty())
      return Status::Unsupported("DISTRIBUTED BY").At(statement_.name.position);
    return Status::Ok();
  }

  int Find(const std::string& name) const {
    for (; indexed_ < table_.columns.size(); ++indexed_)
      places_.emplace(table_.columns[indexed_].name, static_cast<int>(indexed_));
    const auto found = places_.find(name);
    return found == places_.end() ? -1 : found->second;
  }

  std::vector<std::string> ColumnNames() const {
    std::vector<std::string> names;
    for (const TableColumn& column : table_.columns) names.push_back(column.name);
    return names;
  }

  Status NoColumn(const ast::Name& name) const {
    Status status =
        Status::Validate(name.position, "the table has no column {}", Quote(name.ToString()))
            .WithErrorCode("RT2002");
    const std::string nearest = Nearest(name.parts.back(), ColumnNames());
    return nearest.empty() ? status
                           : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
  }

  // --- LIKE

  Status Like() {
    LikeChoices choices;
    std::vector<std::string> seen;
    for (const ast::LikeOption& option : statement_.like_options) {
      if (std::find(seen.begin(), seen.end(), option.feature) != seen.end()) {
        return Status::Validate(option.position, "LIKE says {} twice", option.feature);
      }
      seen.push_back(option.feature);
      const bool overwritable = option.feature == "GENERATED" || option.feature == "METADATA" ||
                                option.feature == "OPTIONS" || option.feature == "WATERMARKS";
      if (option.mode == "OVERWRITING" && !overwritable) {
        return Status::Validate(option.position, "{} takes INCLUDING or EXCLUDING", option.feature);
      }
      if (option.feature == "ALL") {
        for (const char* feature : {"CONSTRAINTS", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS",
                                    "WATERMARKS", "DISTRIBUTION"}) {
          if (std::find(seen.begin(), seen.end(), feature) == seen.end())
            *choices.Of(feature) = option.mode;
        }
      }
    }
    for (const ast::LikeOption& option : statement_.like_options) {
      if (option.feature != "ALL") *choices.Of(option.feature) = option.mode;
    }
    if (context_.catalog->FindView(context_.catalog->Resolve(statement_.like.parts))) {
      return Status::Validate(statement_.like.position, "LIKE takes a table, and {} is a view",
                              statement_.like.ToString());
    }
    RT_ASSIGN(const TablePointer source, FindTableOrNearest(statement_.like, *context_.catalog));
    like_ = source;
    // Positions of the source's columns here: those that stay keep their order.
    std::vector<int> kept(source->columns.size(), -1);
    for (size_t i = 0; i < source->columns.size(); ++i) {
      const TableColumn& column = source->columns[i];
      if (column.kind == TableColumn::Kind::kComputed && choices.generated == "EXCLUDING") continue;
      if (column.kind == TableColumn::Kind::kMetadata && choices.metadata == "EXCLUDING") continue;
      kept[i] = static_cast<int>(table_.columns.size());
      table_.columns.push_back(column);
    }
    overwrites_generated_ = choices.generated == "OVERWRITING";
    overwrites_metadata_ = choices.metadata == "OVERWRITING";
    like_width_ = table_.columns.size();
    std::vector<int> mapping = kept;
    for (int& column : mapping) column = std::max(column, 0);
    for (TableColumn& column : table_.columns) {
      if (column.kind == TableColumn::Kind::kComputed)
        column.expression = Remap(column.expression, mapping);
    }
    if (source->watermark && choices.watermarks != "EXCLUDING" &&
        kept[static_cast<size_t>(source->watermark->column)] >= 0) {
      table_.watermark = source->watermark;
      table_.watermark->column = kept[static_cast<size_t>(source->watermark->column)];
      table_.watermark->expression = Remap(source->watermark->expression, mapping);
      overwrites_watermark_ = choices.watermarks == "OVERWRITING";
    }
    if (choices.constraints != "EXCLUDING") {
      for (const int key : source->primary_key)
        table_.primary_key.push_back(kept[static_cast<size_t>(key)]);
      table_.primary_key_name = source->primary_key_name;
    }
    table_.partition_keys = source->partition_keys;  // EXCLUDING PARTITIONS does nothing in Flink
    if (choices.options != "EXCLUDING") table_.options = source->options;
    includes_options_ = choices.options == "INCLUDING";
    return Status::Ok();
  }

  // --- columns

  Status AddColumn(const ast::Column& column) {
    if (!column.type.unsupported.empty())
      return Status::Unsupported("type {}", column.type.unsupported).At(column.type.position);
    TableColumn made;
    made.name = column.name.parts[0];
    made.type = column.type.type;
    made.comment = column.comment.value_or("");
    if (column.kind == ast::Column::Kind::kMetadata) {
      made.kind = TableColumn::Kind::kMetadata;
      made.metadata_key = column.metadata_key.value_or(made.name);
      made.metadata_virtual = column.is_virtual;
    }
    const int existing = Find(made.name);
    if (existing >= 0) {
      TableColumn& other = table_.columns[static_cast<size_t>(existing)];
      const bool from_like = existing < static_cast<int>(like_width_);
      if (from_like && other.kind == TableColumn::Kind::kMetadata && made.kind == other.kind &&
          overwrites_metadata_) {
        other = made;
        return Status::Ok();
      }
      return Status::Validate(column.name.position, "the table has column {} twice",
                              Quote(made.name))
          .WithErrorCode("RT2014");
    }
    table_.columns.push_back(std::move(made));
    return Status::Ok();
  }

  // Computed columns see the others, wherever they stand; columns end up in the order of the text.
  Status OrderColumns() {
    std::vector<TableColumn> ordered(table_.columns.begin(),
                                     table_.columns.begin() + static_cast<long>(like_width_));
    std::vector<TableColumn> declared(table_.columns.begin() + static_cast<long>(like_width_),
                                      table_.columns.end());
    table_.columns = std::move(ordered);
    places_.clear();
    indexed_ = 0;
    std::unordered_map<std::string, TableColumn*> by_name;
    for (TableColumn& column : declared) by_name.emplace(column.name, &column);
    for (const ast::Column& column : statement_.columns) {
      const std::string& name = column.name.parts[0];
      if (column.kind != ast::Column::Kind::kComputed) {
        const auto made = by_name.find(name);
        if (made != by_name.end()) table_.columns.push_back(*made->second);
        continue;
      }
      const int existing = Find(name);
      const bool replaces =
          existing >= 0 && existing < static_cast<int>(like_width_) && overwrites_generated_ &&
          table_.columns[static_cast<size_t>(existing)].kind == TableColumn::Kind::kComputed;
      const bool twice = existing >= 0 || by_name.contains(name);
      if (twice && !replaces)
        return Status::Validate(column.name.position, "the table has column {} twice", Quote(name))
            .WithErrorCode("RT2014");
      TableColumn computed;
      computed.name = name;
      computed.kind = TableColumn::Kind::kComputed;
      computed.comment = column.comment.value_or("");
      computed.expression_sql = CanonicalText(*column.expression);
      if (replaces) {
        table_.columns[static_cast<size_t>(existing)] = std::move(computed);
      } else {
        table_.columns.push_back(std::move(computed));
      }
    }
    return Status::Ok();
  }

  // Physical and metadata columns by their positions; `with_computed` adds the others.
  Scope ColumnScope(bool with_computed) const {
    Scope scope;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const TableColumn& column = table_.columns[i];
      if (!with_computed && column.kind == TableColumn::Kind::kComputed) continue;
      ScopeTable one;
      one.alias = table_.path.name;
      one.first = static_cast<int>(i);
      one.columns = {{column.name, column.type}};
      scope.tables.push_back(std::move(one));
    }
    return scope;
  }

  Status BindComputed() {
    const Scope scope = ColumnScope(false);
    for (const ast::Column& column : statement_.columns) {
      if (column.kind != ast::Column::Kind::kComputed) continue;
      RT_ASSIGN(Expression bound,
                ExpressionBinder(scope).Naming("a computed column").Bind(*column.expression));
      if (bound.type.kind == TypeKind::kNull)
        return Status::Validate(column.expression->position,
                                "illegal use of NULL: write CAST(NULL AS type)")
            .WithErrorCode("RT2009");
      TableColumn& made = table_.columns[static_cast<size_t>(Find(column.name.parts[0]))];
      made.type = bound.type;
      made.expression = std::move(bound);
    }
    return Status::Ok();
  }

  // --- watermark, constraints, options

  Status AddWatermark() {
    if (statement_.watermarks.empty()) return CheckWatermark(statement_.name.position);
    const ast::Watermark& watermark = statement_.watermarks[0];
    if (statement_.watermarks.size() > 1) {
      return Status::Parse(statement_.watermarks[1].position, "a table has one WATERMARK at most");
    }
    const int declared_for = Find(watermark.column.parts[0]);
    if (table_.watermark && overwrites_watermark_ && declared_for != table_.watermark->column) {
      return Status::Validate(watermark.position,
                              "the table behind LIKE has a WATERMARK for another column")
          .WithErrorCode("RT2016")
          .WithHint("Write LIKE … (EXCLUDING WATERMARKS).");
    }
    if (table_.watermark && !overwrites_watermark_) {
      return Status::Validate(watermark.position, "the table behind LIKE has a WATERMARK already")
          .WithErrorCode("RT2016")
          .WithHint("Write LIKE … (OVERWRITING WATERMARKS) or (EXCLUDING WATERMARKS).");
    }
    if (watermark.column.parts.size() > 1)
      return Status::Unsupported("WATERMARK FOR a nested field").At(watermark.position);
    TableWatermark made;
    made.column = Find(watermark.column.parts[0]);
    if (made.column < 0) return NoColumn(watermark.column);
    made.expression_sql = CanonicalText(*watermark.expression);
    const auto* call = watermark.expression->as<ast::Call>();
    if (call && call->function == "SOURCE_WATERMARK") {
      made.from_source = true;
      made.expression = Expression::Call("SOURCE_WATERMARK", {},
                                         table_.columns[static_cast<size_t>(made.column)].type);
    } else {
      const Scope scope = ColumnScope(true);
      RT_ASSIGN(made.expression,
                ExpressionBinder(scope).Naming("WATERMARK").Bind(*watermark.expression));
      if (!IsTimestamp(made.expression.type) || made.expression.type.precision > 3) {
        return Status::Validate(
                   watermark.expression->position,
                   "a WATERMARK is a TIMESTAMP(0..3) or TIMESTAMP_LTZ(0..3), and this is {}",
                   ToString(made.expression.type))
            .WithErrorCode("RT2016");
      }
    }
    table_.watermark = std::move(made);
    return CheckWatermark(watermark.position);
  }

  Status CheckWatermark(SourcePosition position) const {
    if (!table_.watermark) return Status::Ok();
    const TableColumn& column = table_.columns[static_cast<size_t>(table_.watermark->column)];
    if (!IsTimestamp(column.type) || column.type.precision > 3 || column.type.is_proctime()) {
      return Status::Validate(
                 position,
                 "the rowtime column {} must be TIMESTAMP(0..3) or TIMESTAMP_LTZ(0..3), and is {}",
                 Quote(column.name), ToString(column.type.Nullable()))
          .WithErrorCode("RT2016");
    }
    return Status::Ok();
  }

  Status AddConstraints() {
    for (const ast::Constraint& constraint : statement_.constraints) {
      if (constraint.unique)
        return Status::Unsupported("UNIQUE constraint")
            .WithKind(ErrorKind::kValidate)
            .At(constraint.position);
      if (constraint.enforced) {
        return Status::Validate(constraint.position, "a PRIMARY KEY is not enforced")
            .WithErrorCode("RT2015")
            .WithHint("Write PRIMARY KEY (…) NOT ENFORCED.");
      }
      if (!table_.primary_key.empty())
        return Status::Validate(constraint.position, "a table has one PRIMARY KEY at most")
            .WithErrorCode("RT2015");
      for (const ast::Name& name : constraint.columns) {
        const int column = Find(name.parts[0]);
        if (column < 0) return NoColumn(name);
        if (table_.columns[static_cast<size_t>(column)].kind != TableColumn::Kind::kPhysical) {
          return Status::Validate(name.position,
                                  "{} is no physical column and cannot be in the PRIMARY KEY",
                                  Quote(name.parts[0]))
              .WithErrorCode("RT2015");
        }
        const Type& key_type = table_.columns[static_cast<size_t>(column)].type;
        if (column < static_cast<int>(like_width_) && key_type.nullable) {
          return Status::Validate(name.position,
                                  "column {} of the table behind LIKE may be NULL, so it cannot be "
                                  "in the PRIMARY KEY",
                                  Quote(name.parts[0]))
              .WithErrorCode("RT2015");
        }
        if (std::find(table_.primary_key.begin(), table_.primary_key.end(), column) !=
            table_.primary_key.end()) {
          return Status::Validate(name.position, "the PRIMARY KEY has {} twice",
                                  Quote(name.parts[0]))
              .WithErrorCode("RT2015");
        }
        table_.primary_key.push_back(column);
      }
      table_.primary_key_name = constraint.name;
    }
    if (table_.primary_key_name.empty() && !table_.primary_key.empty()) {
      for (const int key : table_.primary_key) {
        table_.primary_key_name += (table_.primary_key_name.empty() ? "PK_" : "_") +
                                   table_.columns[static_cast<size_t>(key)].name;
      }
    }
    // NOT NULL goes into the expressions that read the columns, too.
    std::vector<Expression> columns;
    for (const int key : table_.primary_key)
      table_.columns[static_cast<size_t>(key)].type.nullable = false;
    for (size_t i = 0; i < table_.columns.size(); ++i)
      columns.push_back(Expression::Input(static_cast<int>(i), table_.columns[i].type));
    for (TableColumn& column : table_.columns) {
      if (column.kind == TableColumn::Kind::kComputed)
        column.expression = Substitute(column.expression, columns);
    }
    if (table_.watermark)
      table_.watermark->expression = Substitute(table_.watermark->expression, columns);
    return statement_.constraints.empty() ? Status::Ok() : BindComputed();
  }

  Status AddPartitions() {
    for (const ast::Name& name : statement_.partitioned_by) {
      if (Find(name.parts[0]) < 0) return NoColumn(name);
      table_.partition_keys.push_back(name.parts[0]);
    }
    return Status::Ok();
  }

  Status AddOptions() {
    for (const ast::OptionEntry& option : statement_.options) {
      if (like_ && includes_options_ && like_->options.contains(option.key)) {
        return Status::Validate(option.position, "the table behind LIKE has the option {} already",
                                Quote(option.key))
            .WithHint("Write LIKE … (OVERWRITING OPTIONS).");
      }
      if (context_.checks_references)
        RT_TRY(Status(ResolveReferences(option.value).status()).At(option.value_position));
      table_.options[option.key] = option.value;
    }
    return Status::Ok();
  }

  // Where columns are, of those that have been looked at so far.
  mutable std::unordered_map<std::string, int> places_;
  mutable size_t indexed_ = 0;
  const ast::CreateTable& statement_;
  BindContext& context_;
  CatalogTable table_;
  TablePointer like_;
  size_t like_width_ = 0;
  bool overwrites_generated_ = false;
  bool overwrites_metadata_ = false;
  bool overwrites_watermark_ = false;
  bool includes_options_ = false;
};

// The names that a SELECT list gives itself, before they are made unique.
std::vector<std::string> UnaliasedNames(const ast::Query& query) {
  std::vector<std::string> names;
  const auto* select = std::get_if<ast::Select>(&query.body);
  if (!select) return names;
  for (const ast::SelectItem& item : select->items) {
    const auto* ref = item.expression->as<ast::NameRef>();
    if (!item.alias.empty()) {
      names.push_back(item.alias.parts[0]);
    } else if (ref) {
      names.push_back(ref->name.parts.back());
    }
  }
  return names;
}

}  // namespace

Result<CatalogTable> BindCreateTable(const ast::CreateTable& statement, BindContext& context,
                                     const AbilityLookup& lookup) {
  RT_ASSIGN(CatalogTable table, TableBuilder(statement, context).Build());
  if (lookup) RT_TRY(lookup(&table));
  return table;
}

Result<CatalogView> BindCreateView(const ast::CreateView& statement, BindContext& context) {
  CatalogView view;
  RT_ASSIGN(view.path, NewPath(statement.name, statement.temporary, *context.catalog));
  RT_ASSIGN(const LogicalPointer bound, BindQuery(*statement.query, context));
  for (const ast::Name& name : statement.columns) view.column_names.push_back(name.parts[0]);
  if (!view.column_names.empty() &&
      static_cast<int>(view.column_names.size()) != bound->schema.size()) {
    return Status::Validate(statement.name.position,
                            "the view names {} columns, and its query gives {}",
                            view.column_names.size(), bound->schema.size())
        .WithErrorCode("RT2019");
  }
  std::vector<std::string> names =
      view.column_names.empty() ? UnaliasedNames(*statement.query) : view.column_names;
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    return Status::Validate(statement.name.position, "the view has column {} twice", Quote(*twice))
        .WithErrorCode("RT2014");
  view.query_sql = statement.query_sql;
  view.home_catalog = context.catalog->current_catalog();
  view.home_database = context.catalog->current_database();
  view.comment = statement.comment;
  view.temporary = statement.temporary;
  return view;
}

}  // namespace rowtide

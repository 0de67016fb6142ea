#include "planner/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/secrets.h"
#include "operators/expressions/aggregate_types.h"
#include "operators/expressions/registry.h"
#include "planner/binder/bind_statement.h"
#include "planner/sql/lexer.h"
#include "planner/sql/secrets.h"

namespace rowtide {

namespace {

// SQL's LIKE: % any characters, _ one.
bool Matches(std::string_view text, std::string_view pattern) {
  size_t at = 0, in = 0, star = std::string_view::npos, tried = 0;
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '%') {
      star = in++;
      tried = at;
    } else if (in < pattern.size() && (pattern[in] == '_' || pattern[in] == text[at])) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++tried;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '%') ++in;
  return in == pattern.size();
}

// Whether the statement's [NOT] LIKE or ILIKE lets the name through.
bool IsShown(const std::string& name, const ast::Show& show) {
  if (!show.like) return true;
  const bool matches = show.ignores_case ? Matches(UpperCase(name), UpperCase(*show.like))
                                         : Matches(name, *show.like);
  return matches != show.negated;
}

TextTable OneColumn(const char* title, const std::vector<std::string>& values,
                    const ast::Show& show) {
  TextTable table{{title}, {}};
  for (const std::string& value : values) {
    if (IsShown(value, show)) table.rows.push_back({value});
  }
  return table;
}

std::string BackTicked(const std::string& name) {
  std::string text = "`";
  for (const char c : name) text += c == '`' ? "``" : std::string(1, c);
  return text + "`";
}

std::string BackTicked(const ObjectPath& path) {
  return BackTicked(path.catalog) + "." + BackTicked(path.database) + "." + BackTicked(path.name);
}

std::string Quoted(const std::string& text) { return Quote(text); }

// As SHOW CREATE TABLE writes types.
std::string DeclaredType(const Type& type) {
  std::string text;
  switch (type.kind) {
    case TypeKind::kInt: text = "INT"; break;
    case TypeKind::kTimestampLtz:
      text = fmt::format("TIMESTAMP({}) WITH LOCAL TIME ZONE", type.precision);
      break;
    default: text = TypeText(type); break;
  }
  return type.nullable ? text : text + " NOT NULL";
}

std::string ColumnLine(const TableColumn& column) {
  std::string line = "  " + BackTicked(column.name) + " ";
  if (column.kind == TableColumn::Kind::kComputed) {
    line += "AS " + column.expression_sql;
  } else {
    line += DeclaredType(column.type);
  }
  if (column.kind == TableColumn::Kind::kMetadata) {
    line += " METADATA";
    if (column.metadata_key != column.name) line += " FROM " + Quoted(column.metadata_key);
    if (column.metadata_virtual) line += " VIRTUAL";
  }
  if (!column.comment.empty()) line += " COMMENT " + Quoted(column.comment);
  return line;
}

std::string ColumnList(const CatalogTable& table, const std::vector<int>& columns, bool ticks) {
  std::string list;
  for (const int column : columns) {
    const std::string& name = table.columns[static_cast<size_t>(column)].name;
    list += (list.empty() ? "" : ", ") + (ticks ? BackTicked(name) : name);
  }
  return list;
}

std::string CreateTableText(const CatalogTable& table) {
  std::vector<std::string> lines;
  for (const TableColumn& column : table.columns) lines.push_back(ColumnLine(column));
  if (table.watermark) {
    lines.push_back(
        fmt::format("  WATERMARK FOR {} AS {}",
                    BackTicked(table.columns[static_cast<size_t>(table.watermark->column)].name),
                    table.watermark->expression_sql));
  }
  if (!table.primary_key.empty()) {
    lines.push_back(fmt::format("  CONSTRAINT {} PRIMARY KEY ({}) NOT ENFORCED",
                                BackTicked(table.primary_key_name),
                                ColumnList(table, table.primary_key, true)));
  }
  std::string text = fmt::format("CREATE {}TABLE {} (\n{}\n)", table.temporary ? "TEMPORARY " : "",
                                 BackTicked(table.path), fmt::join(lines, ",\n"));
  if (!table.comment.empty()) text += "\nCOMMENT " + Quoted(table.comment);
  if (!table.partition_keys.empty()) {
    text += fmt::format("\nPARTITIONED BY (`{}`)", fmt::join(table.partition_keys, "`, `"));
  }
  if (table.options.empty()) return text + "\n";
  lines.clear();
  for (const auto& [key, value] : table.options)
    lines.push_back("  " + Quoted(key) + " = " + Quoted(ShownValue(key, value)));
  return text + fmt::format("\nWITH (\n{}\n)\n", fmt::join(lines, ",\n"));
}

Result<TextTable> ShowCreateTable(const ast::Show& show, const Catalog& catalog) {
  if (catalog.FindView(catalog.Resolve(show.name.parts))) {
    return Status::Plan("{} is a view", Quote(show.name.ToString()))
        .At(show.name.position)
        .WithHint("Write SHOW CREATE VIEW.");
  }
  RT_ASSIGN(const TablePointer table, FindTableOrNearest(show.name, catalog));
  return TextTable{{"result"}, {{CreateTableText(*table)}}};
}

std::string ExtrasOf(const TableColumn& column) {
  if (column.kind == TableColumn::Kind::kComputed) return "AS " + column.expression_sql;
  if (column.kind != TableColumn::Kind::kMetadata) return "";
  std::string text = "METADATA";
  if (column.metadata_key != column.name) text += " FROM " + Quoted(column.metadata_key);
  return column.metadata_virtual ? text + " VIRTUAL" : text;
}

std::string TypeWithAttribute(Type type) {
  const TimeAttribute attribute = type.time_attribute;
  type.nullable = true;
  type.time_attribute = TimeAttribute::kNone;
  std::string text = ToString(type);
  if (attribute == TimeAttribute::kRowtime) text += " *ROWTIME*";
  if (attribute == TimeAttribute::kProctime) text += " *PROCTIME*";
  return text;
}

// The database of SHOW TABLES FROM, else the current one.
Result<ObjectPath> DatabaseOf(const ast::Show& show, const Catalog& catalog) {
  std::vector<std::string> parts = show.name.parts;
  if (parts.size() > 2)
    return Status::Validate(show.name.position, "FROM takes a database, or catalog.database");
  if (parts.empty()) parts = {catalog.current_database()};
  parts.push_back("");
  const ObjectPath path = catalog.Resolve(parts);
  if (catalog.HasDatabase(path.catalog, path.database)) return path;
  return Status::Validate(show.name.position, "there is no database {} in catalog {}",
                          Quote(path.database), Quote(path.catalog))
      .WithErrorCode("RT2023");
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names = ScalarFunctionNames();
  names.insert(names.end(), AggregateNames().begin(), AggregateNames().end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

Result<TextTable> ShowStatement(const ast::Show& show, SourcePosition at, const Catalog& catalog) {
  if (show.what == "TABLES" || show.what == "VIEWS") {
    RT_ASSIGN(const ObjectPath in, DatabaseOf(show, catalog));
    if (show.what == "TABLES")
      return OneColumn("table name", catalog.TableNames(in.catalog, in.database), show);
    return OneColumn("view name", catalog.ViewNames(in.catalog, in.database), show);
  }
  if (show.what == "CATALOGS") return OneColumn("catalog name", catalog.CatalogNames(), show);
  if (show.what == "DATABASES") {
    if (!show.name.empty() && !catalog.HasCatalog(show.name.ToString())) {
      return Status::Validate(show.name.position, "there is no catalog {}",
                              Quote(show.name.ToString()))
          .WithErrorCode("RT2023");
    }
    return OneColumn("database name", catalog.DatabaseNames(), show);
  }
  if (show.what == "FUNCTIONS") {
    return OneColumn("function name",
                     show.only_users ? std::vector<std::string>() : FunctionNames(), show);
  }
  if (show.what == "CURRENT CATALOG")
    return OneColumn("current catalog name", {catalog.current_catalog()}, show);
  if (show.what == "CURRENT DATABASE")
    return OneColumn("current database name", {catalog.current_database()}, show);
  if (show.what == "CREATE TABLE") return ShowCreateTable(show, catalog);
  return Status::Unsupported("SHOW {} is not supported", show.what)
      .At(at)
      .WithHint(
          "SHOW knows CATALOGS, DATABASES, TABLES, VIEWS, FUNCTIONS, COLUMNS, CREATE TABLE, "
          "CREATE VIEW, CURRENT CATALOG and CURRENT DATABASE.");
}

TextTable ColumnsShown(TextTable described, const ast::Show& show) {
  std::erase_if(described.rows,
                [&](const std::vector<std::string>& row) { return !IsShown(row[0], show); });
  return described;
}

TextTable ShowCreateView(const CatalogView& view, const Schema& schema) {
  std::vector<std::string> names;
  for (const Field& field : schema.fields()) names.push_back("  " + BackTicked(field.name));
  std::string text = fmt::format("CREATE {}VIEW {} (\n{}\n)\n", view.temporary ? "TEMPORARY " : "",
                                 BackTicked(view.path), fmt::join(names, ",\n"));
  if (!view.comment.empty()) text += "COMMENT " + Quoted(view.comment) + "\n";
  return TextTable{{"result"}, {{text + "AS " + WithoutSecretValues(view.query_sql) + "\n"}}};
}

Result<TextTable> DescribeTable(const ast::Name& name, const Catalog& catalog) {
  RT_ASSIGN(const TablePointer table, FindTableOrNearest(name, catalog));
  const Schema schema = table->QuerySchema();
  const auto comments = [](const TableColumn& column) { return !column.comment.empty(); };
  const bool any_comment = std::any_of(table->columns.begin(), table->columns.end(), comments);
  TextTable described{{"name", "type", "null", "key", "extras", "watermark"}, {}};
  if (any_comment) described.columns.push_back("comment");
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const int column = static_cast<int>(i);
    const auto& key = table->primary_key;
    const bool in_key = std::find(key.begin(), key.end(), column) != key.end();
    const bool has_watermark = table->watermark && table->watermark->column == column;
    std::vector<std::string> row = {table->columns[i].name,
                                    TypeWithAttribute(schema.type(column)),
                                    schema.type(column).nullable ? "TRUE" : "FALSE",
                                    in_key ? "PRI(" + ColumnList(*table, key, false) + ")" : "",
                                    ExtrasOf(table->columns[i]),
                                    has_watermark ? table->watermark->expression_sql : ""};
    if (any_comment) row.push_back(table->columns[i].comment);
    described.rows.push_back(std::move(row));
  }
  return described;
}

TextTable DescribeSchema(const Schema& schema) {
  TextTable described{{"name", "type", "null", "key", "extras", "watermark"}, {}};
  for (const Field& field : schema.fields()) {
    described.rows.push_back({field.name, TypeWithAttribute(field.type),
                              field.type.nullable ? "TRUE" : "FALSE", "", "", ""});
  }
  return described;
}

}  // namespace rowtide

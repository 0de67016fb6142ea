#include "planner/show.h"

#include <fmt/format.h>

#include <algorithm>

#include "planner/binder/bind_statement.h"

namespace rowtide {

namespace {

// SQL's LIKE: % any characters, _ one.
bool Matches(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%') {
    for (size_t skipped = 0; skipped <= text.size(); ++skipped) {
      if (Matches(text.substr(skipped), pattern.substr(1))) return true;
    }
    return false;
  }
  return !text.empty() && (pattern[0] == '_' || pattern[0] == text[0]) &&
         Matches(text.substr(1), pattern.substr(1));
}

TextTable OneColumn(const char* title, const std::vector<std::string>& values,
                    const std::string& like = "") {
  TextTable table{{title}, {}};
  for (const std::string& value : values) {
    if (like.empty() || Matches(value, like)) table.rows.push_back({value});
  }
  return table;
}

std::string BackTicked(const std::string& name) { return "`" + name + "`"; }

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
  lines.clear();
  for (const auto& [key, value] : table.options)
    lines.push_back("  " + Quoted(key) + " = " + Quoted(value));
  return text + fmt::format(" WITH (\n{}\n)\n", fmt::join(lines, ",\n"));
}

std::string CreateViewText(const CatalogView& view) {
  std::string columns;
  if (!view.column_names.empty())
    columns = fmt::format(" (`{}`)", fmt::join(view.column_names, "`, `"));
  return fmt::format("CREATE {}VIEW {}{} AS {}\n", view.temporary ? "TEMPORARY " : "",
                     BackTicked(view.path), columns, view.query_sql);
}

Result<TextTable> ShowCreate(const ast::Show& show, const Catalog& catalog) {
  const ObjectPath path = catalog.Resolve(show.name.parts);
  if (show.what == "CREATE VIEW") {
    const CatalogView* view = catalog.FindView(path);
    if (view == nullptr) {
      return Status::Validate(show.name.position, "there is no view {}",
                              Quote(show.name.ToString()));
    }
    return OneColumn("result", {CreateViewText(*view)});
  }
  RT_ASSIGN(const TablePointer table, FindTableOrNearest(show.name, catalog));
  return OneColumn("result", {CreateTableText(*table)});
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

}  // namespace

Result<TextTable> ShowStatement(const ast::Show& show, SourcePosition at, const Catalog& catalog) {
  if (show.what == "TABLES") return OneColumn("table name", catalog.TableNames(), show.like);
  if (show.what == "VIEWS") return OneColumn("view name", catalog.ViewNames(), show.like);
  if (show.what == "CATALOGS") return OneColumn("catalog name", catalog.CatalogNames(), show.like);
  if (show.what == "DATABASES")
    return OneColumn("database name", catalog.DatabaseNames(), show.like);
  if (show.what == "CURRENT CATALOG")
    return OneColumn("current catalog name", {catalog.current_catalog()});
  if (show.what == "CURRENT DATABASE")
    return OneColumn("current database name", {catalog.current_database()});
  if (show.what == "COLUMNS") return DescribeTable(show.name, catalog);
  if (show.what.starts_with("CREATE ")) return ShowCreate(show, catalog);
  return Status::Unsupported("SHOW {} is not supported", show.what).At(at);
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

// What SHOW and DESCRIBE print, from the catalog alone, in the columns and words of Flink's SQL
// client.
#pragma once

#include <string>
#include <vector>

#include "planner/catalog.h"
#include "planner/sql/ast.h"

namespace rowtide {

struct TextTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

Result<TextTable> ShowStatement(const ast::Show& show, SourcePosition at, const Catalog& catalog);
// The rows of SHOW COLUMNS that its LIKE lets through.
TextTable ColumnsShown(TextTable described, const ast::Show& show);
TextTable ShowCreateView(const CatalogView& view, const Schema& schema);
// DESCRIBE t and SHOW COLUMNS FROM t, of a table and of a view whose columns are `schema`.
Result<TextTable> DescribeTable(const ast::Name& name, const Catalog& catalog);
TextTable DescribeSchema(const Schema& schema);

}  // namespace rowtide

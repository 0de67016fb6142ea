// From syntax to meaning: names looked up, types settled, and the logical plan that Calcite would
// make.
//
//   INSERT INTO s SELECT k FROM t     Sink s ← Project k ← Scan t
//   CREATE TABLE …                    a CatalogTable, checked
//   CREATE VIEW …                     a CatalogView: its text, after its query has been bound once
//
// The binder changes nothing: catalogs and options are read. Errors are of kind validate, with a
// place and the nearest known name; a construct that Rowtide does not have is kUnsupported with its
// name.
#pragma once

#include <functional>

#include "planner/catalog.h"
#include "planner/logical/plan.h"
#include "planner/options.h"
#include "planner/sql/ast.h"

namespace rowtide {

// Fills CatalogTable::source and ::sink from its connector: when the table is declared, and where
// OPTIONS hints change it.
using AbilityLookup = std::function<Status(CatalogTable*)>;

struct BindContext {
  const Catalog* catalog = nullptr;
  const Options* options = nullptr;
  const AbilityLookup* abilities = nullptr;  // none: hints change no abilities
  bool checks_references = true;  // in values of options; false: nothing will be read or written
  int expansions = 0;                        // of views and WITH names so far, in this statement
};

Result<LogicalPointer> BindQuery(const ast::Query& query, BindContext& context);
Result<LogicalPointer> BindInsert(const ast::Insert& insert, BindContext& context);
// INSERT … of an EXPLAIN STATEMENT SET and EXECUTE STATEMENT SET are bound one by one.

Result<CatalogTable> BindCreateTable(const ast::CreateTable& statement, BindContext& context,
                                     const AbilityLookup& lookup);
Result<CatalogView> BindCreateView(const ast::CreateView& statement, BindContext& context);

// The table of a statement, or an error that names the nearest.
Result<TablePointer> FindTableOrNearest(const ast::Name& name, const Catalog& catalog);

}  // namespace rowtide

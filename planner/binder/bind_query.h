// Queries: FROM, SELECT blocks, set operations, VALUES, ORDER BY. One binder per query with the
// views and WITH names that are in sight; sub-queries get a binder of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "planner/binder/bind_expression.h"
#include "planner/binder/bind_statement.h"

namespace rowtide {

// What INSERT INTO t (b, a) makes of the SELECT list: for each column of the sink the query's
// column, or NULL.
struct InsertShape {
  std::vector<int> sources;  // -1: NULL of the type
  std::vector<Type> types;
};

inline constexpr int kMaxViewNesting = 64;
inline constexpr int kMaxExpansions = 10000;  // a view used twice by a view used twice by …

struct WithScope {
  const WithScope* outer = nullptr;
  std::map<std::string, const ast::WithItem*> items;
  const ast::WithItem* Find(const std::string& name) const;
};

class QueryBinder {
 public:
  QueryBinder(BindContext& context, const WithScope* with, int view_depth)
      : context_(context), with_(with), view_depth_(view_depth) {}

  // `outer`: the scope around a LATERAL query, or null. `shape`: of the INSERT the query is for, or
  // null.
  Result<LogicalPointer> Bind(const ast::Query& query, const Scope* outer = nullptr,
                              const InsertShape* shape = nullptr);

 private:
  struct Item;
  struct Block;
  struct Source {  // what a part of FROM comes to
    LogicalPointer node;
    Scope scope;
  };

  // bind_query.cc
  Result<LogicalPointer> BindBody(const ast::Query& query, const Scope* outer,
                                  const InsertShape* shape);
  Result<LogicalPointer> BindValues(const ast::Values& values, const InsertShape* shape,
                                    SourcePosition position);
  Result<LogicalPointer> BindSetOperation(const ast::SetOperation& operation, const Scope* outer,
                                          const InsertShape* shape, SourcePosition position);
  Result<LogicalPointer> OrderOutput(LogicalPointer node, const ast::Query& query);
  Result<LogicalPointer> Sorted(LogicalPointer node, std::vector<SortKey> keys,
                                const ast::Query& query);

  // bind_select.cc
  Result<LogicalPointer> BindSelect(const ast::Select& select, const ast::Query& query,
                                    const Scope* outer, const InsertShape* shape);
  Status ExpandItems(Block* block);
  Status ExpandStar(const ast::Star& star, SourcePosition position, Block* block);
  Status ShapeItems(const InsertShape& shape, SourcePosition position, Block* block);
  Status BindItems(Block* block);
  Status BindOrder(const ast::Query& query, Block* block);
  Status Aggregate(Block* block);
  Result<LogicalPointer> Output(Block* block, const ast::Query& query);

  // bind_from.cc
  Result<Source> BindTable(const ast::TableRef& table, const Scope* outer);
  Result<Source> BindNamed(const ast::NamedTable& named, const ast::TableRef& table);
  Status CountExpansion(SourcePosition position);
  Result<LogicalPointer> BindView(const CatalogView& view);
  static Status InView(Status error, const CatalogView& view, SourcePosition used);
  Result<LogicalPointer> BindScan(TablePointer table, const ast::NamedTable& named);
  Result<Source> BindJoin(const ast::JoinTable& join, const ast::TableRef& table,
                          const Scope* outer);
  Result<Source> BindLateral(Source left, const ast::JoinTable& join);
  Result<Source> Aliased(LogicalPointer node, const ast::TableRef& table,
                         std::vector<std::string> path);

  BindContext& context_;
  const WithScope* with_;
  int view_depth_;
};

}  // namespace rowtide

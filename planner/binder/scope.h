// Which names an expression may use: the columns of the tables in FROM, with the position each has
// in the rows below.
//
//   FROM t JOIN u AS x ON …     tables: t at 0, x at t's width      k, t.k, x.k, db.t.k
//
// A LATERAL query sees the scope around it through `outer`; what it takes from there is noted in
// `outer_columns`.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/schema.h"
#include "planner/sql/ast.h"

namespace rowtide {

struct ScopeTable {
  std::string alias;  // "" for a sub-query without one
  // Catalog, database, name; empty when there is an alias or no name.
  std::vector<std::string> path;
  std::vector<Field> columns;
  int first = 0;             // position of its first column
  std::vector<bool> hidden;  // JOIN USING: the right one of a pair shows only as x.k; empty = none
};

struct ResolvedColumn {
  int column = -1;
  Type type;
  std::string name;
  bool is_outer = false;
  size_t parts_used = 0;  // of the name; what remains are fields of a row
};

class Scope {
 public:
  std::vector<ScopeTable> tables;
  const Scope* outer = nullptr;
  mutable std::set<int> outer_columns;  // of this scope: what queries inside take
  // USING columns: name, and the pair that COALESCE takes in outer joins.
  struct Merged {
    std::string name;
    int left = 0, right = 0;
    bool coalesces = false;
  };
  std::vector<Merged> merged;

  int width() const;
  // Errors: unknown, ambiguous; with the nearest name.
  Result<ResolvedColumn> Resolve(const ast::Name& name) const;
  // The table that `q.*` means, or an error.
  Result<const ScopeTable*> FindTable(const ast::Name& qualifier) const;

 private:
  Result<ResolvedColumn> ResolveHere(const ast::Name& name) const;
  bool Matches(const ScopeTable& table, const ast::Name& name, size_t parts) const;
};

}  // namespace rowtide

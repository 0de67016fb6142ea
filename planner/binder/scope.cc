#include "planner/binder/scope.h"

#include <algorithm>

namespace rowtide {

int Scope::width() const {
  int width = 0;
  for (const ScopeTable& table : tables)
    width = std::max(width, table.first + static_cast<int>(table.columns.size()));
  return width;
}

// Do the first `parts` parts of the name say this table?
bool Scope::Matches(const ScopeTable& table, const ast::Name& name, size_t parts) const {
  if (parts == 1 && !table.alias.empty()) return table.alias == name.parts[0];
  if (table.path.size() != 3 || parts > 3) return false;
  return std::equal(name.parts.begin(), name.parts.begin() + static_cast<long>(parts),
                    table.path.end() - static_cast<long>(parts));
}

Result<ResolvedColumn> Scope::ResolveHere(const ast::Name& name) const {
  // table.column before column.field, the longest table name first.
  for (size_t prefix = std::min<size_t>(3, name.parts.size() - 1) + 1; prefix-- > 0;) {
    ResolvedColumn found;
    for (const ScopeTable& table : tables) {
      if (prefix > 0 && !Matches(table, name, prefix)) continue;
      for (size_t i = 0; i < table.columns.size(); ++i) {
        if (table.columns[i].name != name.parts[prefix]) continue;
        if (prefix == 0 && !table.hidden.empty() && table.hidden[i]) continue;
        if (found.column >= table.first) {
          return Status::Validate(name.position, "column {} is twice in its table",
                                  Quote(name.ToString()))
              .WithErrorCode("RT2014")
              .WithHint("Give the columns different names with AS.");
        }
        if (found.column >= 0) {
          return Status::Validate(name.position, "column {} is in more than one table",
                                  Quote(name.ToString()))
              .WithErrorCode("RT2014")
              .WithHint("Write the table before it, as in t." + name.parts[prefix] + ".");
        }
        found = {table.first + static_cast<int>(i), table.columns[i].type, table.columns[i].name,
                 false, prefix + 1};
      }
    }
    if (found.column >= 0) return found;
  }
  return ResolvedColumn();
}

Result<ResolvedColumn> Scope::Resolve(const ast::Name& name) const {
  RT_ASSIGN(ResolvedColumn here, ResolveHere(name));
  if (here.column >= 0) return here;
  if (outer) {
    RT_ASSIGN(ResolvedColumn around, outer->ResolveHere(name));
    if (around.column >= 0) {
      around.is_outer = true;
      outer->outer_columns.insert(around.column);
      return around;
    }
  }
  std::vector<std::string> candidates;
  std::vector<std::string> table_names;
  for (const ScopeTable& table : tables) {
    const std::string& shown =
        table.alias.empty() && !table.path.empty() ? table.path.back() : table.alias;
    if (!shown.empty()) table_names.push_back(shown);
    const bool wanted = name.parts.size() < 2 || shown == name.parts[name.parts.size() - 2];
    for (const Field& field : table.columns) {
      if (wanted) candidates.push_back(field.name);
    }
  }
  Status status = Status::Validate(name.position, "there is no column {}", Quote(name.ToString()))
                      .WithErrorCode("RT2002");
  if (name.parts.size() > 1 && candidates.empty()) {
    status = Status::Validate(name.position, "there is no table {} in FROM for the column {}",
                              Quote(name.parts[name.parts.size() - 2]), Quote(name.ToString()))
                 .WithErrorCode("RT2001");
    const std::string nearest = Nearest(name.parts[name.parts.size() - 2], table_names);
    return nearest.empty() ? status
                           : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
  }
  const std::string nearest = Nearest(name.parts.back(), candidates);
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

Result<const ScopeTable*> Scope::FindTable(const ast::Name& qualifier) const {
  std::vector<std::string> names;
  for (const ScopeTable& table : tables) {
    if (Matches(table, qualifier, qualifier.parts.size())) return &table;
    if (!table.alias.empty()) names.push_back(table.alias);
    if (table.alias.empty() && !table.path.empty()) names.push_back(table.path.back());
  }
  Status status = Status::Validate(qualifier.position, "there is no table {} in FROM",
                                   Quote(qualifier.ToString()))
                      .WithErrorCode("RT2001");
  const std::string nearest = Nearest(qualifier.parts.back(), names);
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

}  // namespace rowtide

#include "planner/catalog.h"

#include <algorithm>
#include <set>

namespace rowtide {

namespace {
constexpr const char* kDefaultCatalog = "default_catalog";
constexpr const char* kDefaultDatabase = "default_database";
}  // namespace

std::vector<int> CatalogTable::ScanColumns() const {
  std::vector<int> scanned;
  for (const TableColumn::Kind kind :
       {TableColumn::Kind::kPhysical, TableColumn::Kind::kMetadata}) {
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].kind == kind) scanned.push_back(static_cast<int>(i));
    }
  }
  return scanned;
}

Schema CatalogTable::QuerySchema() const {
  Schema schema;
  for (size_t i = 0; i < columns.size(); ++i) {
    Type type = columns[i].type;
    if (watermark && watermark->column == static_cast<int>(i))
      type = type.WithTimeAttribute(TimeAttribute::kRowtime);
    schema.Add({columns[i].name, type});
  }
  return schema;
}

Schema CatalogTable::SinkSchema() const {
  Schema schema;
  for (const TableColumn& column : columns) {
    if (column.kind == TableColumn::Kind::kComputed || column.metadata_virtual) continue;
    schema.Add({column.name, column.type.WithoutTimeAttribute()});
  }
  return schema;
}

Catalog::Catalog() : current_catalog_(kDefaultCatalog), current_database_(kDefaultDatabase) {
  databases_[kDefaultCatalog] = {kDefaultDatabase};
}

ObjectPath Catalog::Resolve(const std::vector<std::string>& parts) const {
  const size_t count = parts.size();
  return {count > 2 ? parts[count - 3] : current_catalog_,
          count > 1 ? parts[count - 2] : current_database_, parts[count - 1]};
}

TablePointer Catalog::FindTable(const ObjectPath& path) const {
  const auto found = tables_.find(path);
  return found == tables_.end() ? nullptr : found->second;
}

const CatalogView* Catalog::FindView(const ObjectPath& path) const {
  const auto found = views_.find(path);
  return found == views_.end() ? nullptr : &found->second;
}

Status Catalog::AddTable(CatalogTable table, bool if_not_exists) {
  if (FindTable(table.path) || FindView(table.path)) {
    if (if_not_exists) return Status::Ok();
    return Status::InvalidArgument("there is a table or view {} already", table.path.ToString());
  }
  const ObjectPath path = table.path;
  tables_[path] = std::make_shared<const CatalogTable>(std::move(table));
  return Status::Ok();
}

Status Catalog::AddView(CatalogView view, bool if_not_exists) {
  if (FindTable(view.path) || FindView(view.path)) {
    if (if_not_exists) return Status::Ok();
    return Status::InvalidArgument("there is a table or view {} already", view.path.ToString());
  }
  const ObjectPath path = view.path;
  views_[path] = std::move(view);
  return Status::Ok();
}

namespace {

Status Absent(const char* what, const ObjectPath& path, const std::vector<std::string>& names) {
  Status status =
      Status::InvalidArgument("there is no {} {}", what, path.ToString()).WithErrorCode("RT2001");
  const std::string nearest = Nearest(path.name, names);
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

Status SayTemporary(const char* what, const ObjectPath& path, bool is_temporary) {
  if (is_temporary)
    return Status::InvalidArgument("{} is temporary; write DROP TEMPORARY {}", path.ToString(),
                                   what);
  return Status::InvalidArgument("{} is not temporary; write DROP {}", path.ToString(), what);
}

}  // namespace

Status Catalog::DropTable(const ObjectPath& path, bool temporary, bool if_exists) {
  const TablePointer table = FindTable(path);
  if (!table) return if_exists ? Status::Ok() : Absent("table", path, TableNames());
  if (table->temporary != temporary) return SayTemporary("TABLE", path, table->temporary);
  tables_.erase(path);
  return Status::Ok();
}

Status Catalog::DropView(const ObjectPath& path, bool temporary, bool if_exists) {
  const CatalogView* view = FindView(path);
  if (!view) return if_exists ? Status::Ok() : Absent("view", path, ViewNames());
  if (view->temporary != temporary) return SayTemporary("VIEW", path, view->temporary);
  views_.erase(path);
  return Status::Ok();
}

std::vector<std::string> Catalog::TableNames() const {
  std::vector<std::string> names = ViewNames();
  for (const auto& [path, table] : tables_) {
    if (path.catalog == current_catalog_ && path.database == current_database_)
      names.push_back(path.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> Catalog::ViewNames() const {
  std::vector<std::string> names;
  for (const auto& [path, view] : views_) {
    if (path.catalog == current_catalog_ && path.database == current_database_)
      names.push_back(path.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status Catalog::UseCatalog(const std::string& name) {
  if (!databases_.contains(name)) {
    return Status::InvalidArgument("there is no catalog {}", Quote(name)).WithKind(ErrorKind::kRun);
  }
  current_catalog_ = name;
  current_database_ = databases_[name].empty() ? "" : databases_[name].front();
  return Status::Ok();
}

Status Catalog::UseDatabase(const std::vector<std::string>& parts) {
  const std::string catalog = parts.size() > 1 ? parts[parts.size() - 2] : current_catalog_;
  const std::string& database = parts.back();
  const auto found = databases_.find(catalog);
  if (found == databases_.end())
    return Status::InvalidArgument("there is no catalog {}", Quote(catalog));
  if (std::find(found->second.begin(), found->second.end(), database) == found->second.end()) {
    return Status::InvalidArgument("there is no database {} in catalog {}", Quote(database),
                                   Quote(catalog))
        .WithKind(ErrorKind::kRun);
  }
  current_catalog_ = catalog;
  current_database_ = database;
  return Status::Ok();
}

std::vector<std::string> Catalog::CatalogNames() const {
  std::vector<std::string> names;
  for (const auto& [name, databases] : databases_) names.push_back(name);
  return names;
}

std::vector<std::string> Catalog::DatabaseNames() const {
  const auto found = databases_.find(current_catalog_);
  return found == databases_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace rowtide

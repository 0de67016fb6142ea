#include "planner/catalog.h"

#include <algorithm>

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

// --- tables and views --------------------------------------------------------------------------

const Catalog::Object* Catalog::Find(const ObjectPath& path) const {
  for (const Objects* objects : {&temporary_, &permanent_}) {
    const auto found = objects->find(path);
    if (found != objects->end()) return &found->second;
  }
  return nullptr;
}

TablePointer Catalog::FindTable(const ObjectPath& path) const {
  const Object* object = Find(path);
  return object ? object->table : nullptr;
}

const CatalogView* Catalog::FindView(const ObjectPath& path) const {
  const Object* object = Find(path);
  return object && object->view ? &*object->view : nullptr;
}

Status Catalog::Add(const ObjectPath& path, Object object, bool temporary, bool if_not_exists) {
  const bool made = (temporary ? temporary_ : permanent_).emplace(path, std::move(object)).second;
  if (made || if_not_exists) return Status::Ok();
  return Status::InvalidArgument("there is a table or view {} already", path.ToString())
      .WithErrorCode("RT2014");
}

Status Catalog::AddTable(CatalogTable table, bool if_not_exists) {
  const ObjectPath path = table.path;
  const bool temporary = table.temporary;
  Object object;
  object.table = std::make_shared<const CatalogTable>(std::move(table));
  return Add(path, std::move(object), temporary, if_not_exists);
}

Status Catalog::AddView(CatalogView view, bool if_not_exists) {
  const ObjectPath path = view.path;
  const bool temporary = view.temporary;
  Object object;
  object.view = std::move(view);
  return Add(path, std::move(object), temporary, if_not_exists);
}

// A temporary object must go before the permanent one that it hides.
Status Catalog::Drop(const ObjectPath& path, bool is_view, bool temporary, bool if_exists) {
  const std::string kind = is_view ? "VIEW" : "TABLE";
  const auto is_wanted = [&](const Objects& objects) {
    const auto found = objects.find(path);
    return found != objects.end() && found->second.view.has_value() == is_view;
  };
  if (!temporary && is_wanted(temporary_)) {
    return Status::InvalidArgument("{} is temporary; write DROP TEMPORARY {}", path.ToString(),
                                   kind);
  }
  Objects& objects = temporary ? temporary_ : permanent_;
  if (is_wanted(objects)) {
    objects.erase(path);
    return Status::Ok();
  }
  if (if_exists) return Status::Ok();
  if (temporary && is_wanted(permanent_)) {
    return Status::InvalidArgument("{} is not temporary; write DROP {}", path.ToString(), kind);
  }
  Status status =
      Status::InvalidArgument("there is no {} {}", is_view ? "view" : "table", path.ToString())
          .WithErrorCode("RT2001");
  if (const Object* other = Find(path); other && other->view.has_value() != is_view) {
    return std::move(status).WithHint(is_view ? "It is a table: write DROP TABLE."
                                              : "It is a view: write DROP VIEW.");
  }
  const std::string nearest = Nearest(path.name, Names(path.catalog, path.database, is_view));
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

Status Catalog::DropTable(const ObjectPath& path, bool temporary, bool if_exists) {
  return Drop(path, false, temporary, if_exists);
}

Status Catalog::DropView(const ObjectPath& path, bool temporary, bool if_exists) {
  return Drop(path, true, temporary, if_exists);
}

std::vector<std::string> Catalog::Names(const std::string& catalog, const std::string& database,
                                        bool only_views) const {
  std::set<std::string> names;
  for (const Objects* objects : {&temporary_, &permanent_}) {
    for (const auto& [path, object] : *objects) {
      if (path.catalog != catalog || path.database != database) continue;
      if (!only_views || object.view) names.insert(path.name);
    }
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> Catalog::TableNames() const {
  return TableNames(current_catalog_, current_database_);
}
std::vector<std::string> Catalog::ViewNames() const {
  return ViewNames(current_catalog_, current_database_);
}
std::vector<std::string> Catalog::TableNames(const std::string& catalog,
                                             const std::string& database) const {
  return Names(catalog, database, false);
}
std::vector<std::string> Catalog::ViewNames(const std::string& catalog,
                                            const std::string& database) const {
  return Names(catalog, database, true);
}

// --- catalogs and databases --------------------------------------------------------------------

namespace {

Status NoCatalog(const std::string& name) {
  return Status::InvalidArgument("there is no catalog {}", Quote(name)).WithErrorCode("RT2023");
}

Status NoDatabase(const std::string& catalog, const std::string& database,
                  const std::set<std::string>& known) {
  Status status = Status::InvalidArgument("there is no database {} in catalog {}", Quote(database),
                                          Quote(catalog))
                      .WithErrorCode("RT2023")
                      .WithKind(ErrorKind::kRun);
  const std::string nearest =
      Nearest(database, std::vector<std::string>(known.begin(), known.end()));
  return nearest.empty() ? status
                         : std::move(status).WithHint("The nearest is " + Quote(nearest) + ".");
}

}  // namespace

bool Catalog::HasDatabase(const std::string& catalog, const std::string& database) const {
  const auto found = databases_.find(catalog);
  return found != databases_.end() && found->second.contains(database);
}

Status Catalog::UseCatalog(const std::string& name) {
  if (!HasCatalog(name)) return NoCatalog(name).WithKind(ErrorKind::kRun);
  current_catalog_ = name;
  current_database_ = kDefaultDatabase;
  return Status::Ok();
}

Status Catalog::UseDatabase(const std::vector<std::string>& parts) {
  if (parts.size() > 2) return Status::InvalidArgument("USE takes a database, or catalog.database");
  const std::string catalog = parts.size() > 1 ? parts[0] : current_catalog_;
  const auto found = databases_.find(catalog);
  if (found == databases_.end()) return NoCatalog(catalog);
  if (!found->second.contains(parts.back()))
    return NoDatabase(catalog, parts.back(), found->second);
  current_catalog_ = catalog;
  current_database_ = parts.back();
  return Status::Ok();
}

Status Catalog::AddDatabase(const std::vector<std::string>& parts, bool if_not_exists) {
  if (parts.size() > 2)
    return Status::InvalidArgument("the name of a database has two parts at most");
  const std::string catalog = parts.size() > 1 ? parts[0] : current_catalog_;
  const auto found = databases_.find(catalog);
  if (found == databases_.end()) return NoCatalog(catalog);
  if (found->second.insert(parts.back()).second || if_not_exists) return Status::Ok();
  return Status::InvalidArgument("there is a database {} in catalog {} already",
                                 Quote(parts.back()), Quote(catalog))
      .WithErrorCode("RT2014")
      .WithKind(ErrorKind::kRun);
}

Status Catalog::DropDatabase(const std::vector<std::string>& parts, bool if_exists, bool cascade) {
  if (parts.size() > 2)
    return Status::InvalidArgument("the name of a database has two parts at most");
  const std::string catalog = parts.size() > 1 ? parts[0] : current_catalog_;
  const std::string& database = parts.back();
  const auto found = databases_.find(catalog);
  if (found == databases_.end()) return NoCatalog(catalog);
  if (catalog == current_catalog_ && database == current_database_) {
    return Status::InvalidArgument("the database {} is the current one and cannot be dropped",
                                   Quote(database))
        .WithHint("Write USE with another database first.");
  }
  if (!found->second.contains(database))
    return if_exists ? Status::Ok() : NoDatabase(catalog, database, found->second);
  const auto inside = [&](const auto& entry) {
    return entry.first.catalog == catalog && entry.first.database == database;
  };
  const auto objects = std::count_if(permanent_.begin(), permanent_.end(), inside);
  if (objects > 0 && !cascade) {
    return Status::InvalidArgument("the database {} holds {} tables and views", Quote(database),
                                   objects)
        .WithKind(ErrorKind::kRun)
        .WithHint("DROP DATABASE … CASCADE drops them, too.");
  }
  std::erase_if(permanent_, inside);
  found->second.erase(database);
  return Status::Ok();
}

std::vector<std::string> Catalog::CatalogNames() const {
  std::vector<std::string> names;
  for (const auto& [name, databases] : databases_) names.push_back(name);
  return names;
}

std::vector<std::string> Catalog::DatabaseNames() const {
  const auto found = databases_.find(current_catalog_);
  if (found == databases_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace rowtide

// What CREATE statements leave behind: tables and views by name, with everything that planning asks
// of them.
//
// Names are case-sensitive and live in catalog.database, `default_catalog.default_database` unless
// USE says otherwise. A table is immutable once registered and shared by the plans that read it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/changelog_mode.h"
#include "engine/schema.h"
#include "operators/expressions/expression.h"

namespace rowtide {

struct ObjectPath {
  std::string catalog;
  std::string database;
  std::string name;
  std::string ToString() const { return catalog + "." + database + "." + name; }
  friend auto operator<=>(const ObjectPath&, const ObjectPath&) = default;
};

struct TableColumn {
  enum class Kind : uint8_t { kPhysical, kMetadata, kComputed };
  std::string name;
  Type type;  // of a rowtime column the plain type; PROCTIME() columns are computed and carry it
  Kind kind = Kind::kPhysical;
  std::string metadata_key;       // kMetadata: FROM 'key', or the name
  bool metadata_virtual = false;  // kMetadata: not part of the sink schema
  Type metadata_type;     // kMetadata: what the source produces, cast to `type`; kNull: not known
  Expression expression;  // kComputed: over the table's columns by their position in `columns`
  std::string expression_sql;  // its text, for SHOW CREATE TABLE
  std::string comment;
};

struct TableWatermark {
  int column = 0;            // position in `columns`
  Expression expression;     // over `columns`
  bool from_source = false;  // SOURCE_WATERMARK()
  std::string expression_sql;
};

// What the planner may hand to the connector of a table. Filled from connectors/registry.h when the
// table is made.
struct SourceAbilities {
  ChangelogMode mode;       // of the rows it produces
  bool projection = false;  // reads only the columns asked for; the scan prints project=[…]
  bool filter =
      false;  // takes a condition for information; the scan prints filter=[…], Calc keeps it
  bool limit = false;
  bool watermark = false;  // makes watermarks itself
  bool bounded = true;
  std::vector<std::string> metadata;  // keys of METADATA columns it can give
};

struct SinkAbilities {
  // Empty = takes whatever the query gives (print, collect); `default_without_before` = the same
  // but no -U (blackhole).
  std::optional<ChangelogMode> mode;
  bool default_without_before = false;
  bool overwrite = false;  // takes INSERT OVERWRITE
  std::vector<std::string> metadata;  // keys of METADATA columns that can be written
};

struct CatalogTable {
  ObjectPath path;
  std::vector<TableColumn> columns;
  std::optional<TableWatermark> watermark;
  std::vector<int> primary_key;  // positions in `columns`; empty = none
  std::string primary_key_name;
  std::vector<std::string> partition_keys;
  std::map<std::string, std::string> options;  // without hints
  std::string comment;
  bool temporary = false;
  std::optional<SourceAbilities> source;  // none: the connector cannot be read
  std::optional<SinkAbilities> sink;      // none: the connector cannot be written

  std::string connector() const {
    const auto found = options.find("connector");
    return found == options.end() ? "" : found->second;
  }
  // Columns of the scan: physical ones, then metadata, in declaration order (Flink's produced
  // type).
  std::vector<int> ScanColumns() const;
  // All columns with time attributes: what SELECT * gives.
  Schema QuerySchema() const;
  // Columns an INSERT must give: neither computed nor virtual.
  Schema SinkSchema() const;
};
using TablePointer = std::shared_ptr<const CatalogTable>;

struct CatalogView {
  ObjectPath path;
  std::vector<std::string> column_names;  // empty = the query's own
  std::string query_sql;                  // parsed again where it is used
  // Where the names of its query are looked up: what was current when it was made.
  std::string home_catalog;
  std::string home_database;
  std::string comment;
  bool temporary = false;
};

// Temporary objects live beside the others and hide those of the same name.
class Catalog {
 public:
  Catalog();
  // "" parts are filled from the current catalog and database.
  ObjectPath Resolve(const std::vector<std::string>& parts) const;
  TablePointer FindTable(const ObjectPath& path) const;       // null when absent
  const CatalogView* FindView(const ObjectPath& path) const;  // null when absent
  Status AddTable(CatalogTable table, bool if_not_exists);
  Status AddView(CatalogView view, bool if_not_exists);
  Status DropTable(const ObjectPath& path, bool temporary, bool if_exists);
  Status DropView(const ObjectPath& path, bool temporary, bool if_exists);
  // Tables and views, sorted; of the current database unless another is named.
  std::vector<std::string> TableNames() const;
  std::vector<std::string> ViewNames() const;
  std::vector<std::string> TableNames(const std::string& catalog,
                                      const std::string& database) const;
  std::vector<std::string> ViewNames(const std::string& catalog, const std::string& database) const;
  const std::string& current_catalog() const { return current_catalog_; }
  const std::string& current_database() const { return current_database_; }
  Status UseCatalog(const std::string& name);
  Status UseDatabase(const std::vector<std::string>& parts);
  std::vector<std::string> CatalogNames() const;
  std::vector<std::string> DatabaseNames() const;  // of the current catalog
  bool HasCatalog(const std::string& catalog) const { return databases_.contains(catalog); }
  bool HasDatabase(const std::string& catalog, const std::string& database) const;
  Status AddDatabase(const std::vector<std::string>& parts, bool if_not_exists);
  // With `cascade` its permanent tables and views go, too.
  Status DropDatabase(const std::vector<std::string>& parts, bool if_exists, bool cascade);

 private:
  struct Object {  // one of the two
    TablePointer table;
    std::optional<CatalogView> view;
  };
  using Objects = std::map<ObjectPath, Object>;

  const Object* Find(const ObjectPath& path) const;
  Status Add(const ObjectPath& path, Object object, bool temporary, bool if_not_exists);
  Status Drop(const ObjectPath& path, bool is_view, bool temporary, bool if_exists);
  std::vector<std::string> Names(const std::string& catalog, const std::string& database,
                                 bool only_views) const;

  std::string current_catalog_;
  std::string current_database_;
  std::map<std::string, std::set<std::string>> databases_;  // by catalog
  Objects permanent_;
  Objects temporary_;
};

}  // namespace rowtide

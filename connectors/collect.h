// The rows that reached `'connector'='collect'` tables, as script text, in order. Filled by the
// sink, read by whoever runs the script.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "connectors/registry.h"

namespace rowtide {

struct CollectedRow {
  RowKind kind;
  std::string text;  // `["a",1]`
};

class CollectedRows {
 public:
  std::vector<CollectedRow>& of(const std::string& table) { return rows_[table]; }
  const std::map<std::string, std::vector<CollectedRow>>& all() const { return rows_; }
  void Clear() { rows_.clear(); }

 private:
  std::map<std::string, std::vector<CollectedRow>> rows_;  // by table name
};

Result<std::unique_ptr<Sink>> CreateCollectSink(const TableSpec& table,
                                                const ConnectorContext& context);

}  // namespace rowtide

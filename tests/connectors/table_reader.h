// Reads a table of the filesystem connector to its end, for tests: rows as script text, or the
// error after them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "connectors/registry.h"
#include "engine/operator.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"

namespace rowtide {

// A folder of its own for each test, gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rowtide-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, std::string_view text) const {
    const std::string path = path_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

 private:
  std::string path_;
};

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class RowCollector final : public Collector {
 public:
  explicit RowCollector(const Schema& schema) : schema_(schema) {}
  Status Emit(RowBatch batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      rows.emplace_back();
      AppendScriptRow(batch, row, schema_, &rows.back());
    }
    batches.push_back(std::move(batch));
    return Status::Ok();
  }
  Status Advance(Time time) override {
    rows.push_back("watermark " + std::to_string(time.millis));
    return Status::Ok();
  }
  std::vector<std::string> rows;
  std::vector<RowBatch> batches;

 private:
  Schema schema_;
};

struct ReadResult {
  std::vector<std::string> rows;
  Status status;
  std::string text() const {
    std::string text;
    for (const std::string& row : rows) text += row + "\n";
    return text;
  }
};

inline ScanSpec AllColumns(const TableSpec& table) {
  ScanSpec scan;
  for (int i = 0; i < table.schema.size(); ++i) scan.columns.push_back(i);
  return scan;
}

inline ReadResult ReadAll(const TableSpec& table, const ScanSpec& scan,
                          const ConnectorContext& context = {}) {
  Result<std::unique_ptr<Source>> source = CreateSource(table, scan, context);
  if (!source.ok()) return {{}, source.status()};
  RowCollector out((*source)->output_schema());
  while (true) {
    Result<SourceState> state = (*source)->Poll(out);
    if (!state.ok()) return {out.rows, state.status()};
    if (*state == SourceState::kEnd) return {out.rows, Status::Ok()};
  }
}

inline TableSpec CsvTable(const std::string& path, Schema schema, TableOptions options = {}) {
  options["connector"] = "filesystem";
  options["format"] = "csv";
  options["path"] = path;
  return {"t", std::move(options), std::move(schema)};
}

}  // namespace rowtide

#include "cli/output.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>

#include "cli/terminal.h"
#include "cli/text_table.h"
#include "engine/batch_builder.h"
#include "engine/value_text.h"

namespace rowtide {

namespace {

constexpr size_t kPrintBytes = 1 << 16;

constexpr std::array<std::pair<std::string_view, OutputMode>, 5> kModes = {{
    {"changelog", OutputMode::kChangelog},
    {"tableau", OutputMode::kTableau},
    {"table", OutputMode::kTable},
    {"json", OutputMode::kJson},
    {"csv", OutputMode::kCsv},
}};

void AppendCsv(const std::string& value, std::string* text) {
  if (value.find_first_of(",\"\r\n") == std::string::npos) {
    text->append(value);
    return;
  }
  text->push_back('"');
  for (const char c : value) {
    if (c == '"') text->push_back('"');
    text->push_back(c);
  }
  text->push_back('"');
}

class ChangelogResult final : public ResultSink {
 public:
  using ResultSink::ResultSink;
  void AppendRow(const RowBatch& batch, int row, std::string* text) override {
    AppendScriptRow(batch, row, schema_, text);
    text->push_back('\n');
  }
};

class JsonResult final : public ResultSink {
 public:
  using ResultSink::ResultSink;
  void AppendRow(const RowBatch& batch, int row, std::string* text) override {
    if (options_.kinds)
      text->append("{\"op\":\"").append(Text(batch.kind(row))).append("\",\"row\":");
    text->push_back('{');
    for (int column = 0; column < schema_.size(); ++column) {
      if (column > 0) text->push_back(',');
      AppendJsonString(schema_.name(column), text);
      text->push_back(':');
      AppendJson(batch.columns[static_cast<size_t>(column)], row, schema_.type(column), text);
    }
    text->append(options_.kinds ? "}}\n" : "}\n");
  }

 private:
  // Script text is JSON already; only decimals are quoted there, and are numbers here.
  static void AppendJson(const Column& column, int row, const Type& type, std::string* text) {
    const size_t begin = text->size();
    AppendScriptText(column, row, type, text);
    if (type.kind != TypeKind::kDecimal || (*text)[begin] != '"') return;
    text->erase(begin, 1);
    text->pop_back();
  }
};

class CsvResult final : public ResultSink {
 public:
  using ResultSink::ResultSink;
  void Begin(std::string* text) override {
    if (options_.kinds) text->append("op");
    for (int column = 0; column < schema_.size(); ++column) {
      if (column > 0 || options_.kinds) text->push_back(',');
      AppendCsv(schema_.name(column), text);
    }
    text->push_back('\n');
  }
  void AppendRow(const RowBatch& batch, int row, std::string* text) override {
    if (options_.kinds) text->append(Text(batch.kind(row)));
    for (int column = 0; column < schema_.size(); ++column) {
      if (column > 0 || options_.kinds) text->push_back(',');
      if (batch.columns[static_cast<size_t>(column)].IsNull(row)) continue;
      const std::string value = CastText(batch, row, column, "");
      value.empty() ? void(text->append("\"\"")) : AppendCsv(value, text);
    }
    text->push_back('\n');
  }
};

class TableauResult final : public ResultSink {
 public:
  TableauResult(ResultOptions options, Schema schema, std::FILE* out)
      : ResultSink(std::move(options), std::move(schema), out), layout_(Widths()) {}

  void Begin(std::string* text) override {
    layout_.AppendBorder(text);
    std::vector<std::string> header;
    if (options_.kinds) header.emplace_back("op");
    for (const Field& field : schema_.fields()) header.push_back(field.name);
    layout_.AppendRow(header, Align::kRight, text);
    layout_.AppendBorder(text);
  }
  void AppendRow(const RowBatch& batch, int row, std::string* text) override {
    const RowKind kind = batch.kind(row);
    std::vector<std::string> cells;
    if (options_.kinds) cells.emplace_back(Text(kind));
    for (int column = 0; column < schema_.size(); ++column) {
      cells.push_back(CastText(batch, row, column, "<NULL>"));
    }
    layout_.AppendRow(cells, Align::kRight, text, options_.color ? ColorOf(kind) : "");
  }
  void End(bool terminated, std::string* text) override {
    if (rows_ > 0) layout_.AppendBorder(text);
    const char* plural = rows_ == 1 ? "" : "s";
    *text += fmt::format("{} total of {} row{}\n",
                         terminated ? "Query terminated, received a" : "Received a", rows_, plural);
  }

 private:
  std::vector<int> Widths() const {
    std::vector<int> widths, narrow;
    if (options_.kinds) widths = narrow = {2};
    for (const Field& field : schema_.fields()) {
      widths.push_back(StreamingWidth(field.type, field.name, options_.column_width_max));
    }
    for (const Field& field : schema_.fields()) narrow.push_back(NarrowWidth(field));
    FitWidths(narrow, options_.terminal_columns, &widths);
    return widths;
  }

  // Texts may be cut, numbers and times may not.
  static int NarrowWidth(const Field& field) {
    const int whole = StreamingWidth(field.type, field.name, kDefaultColumnWidth);
    return IsText(field.type) ? std::min(whole, DisplayWidth(field.name)) : whole;
  }
  static bool IsText(const Type& type) {
    return type.kind == TypeKind::kChar || type.kind == TypeKind::kVarChar ||
           type.kind == TypeKind::kBinary || type.kind == TypeKind::kVarBinary;
  }

  TableLayout layout_;
};

// Keeps the rows of the result as a bag, in the order of their first arrival.
class FinalTable final : public ResultSink {
 public:
  using ResultSink::ResultSink;
  void AppendRow(const RowBatch& batch, int row, std::string* /*text*/) override {
    std::vector<std::string> cells;
    for (int column = 0; column < schema_.size(); ++column) {
      cells.push_back(CastText(batch, row, column, "<NULL>"));
    }
    const auto [at, added] = bag_.try_emplace(std::move(cells), Entry{0, next_arrival_});
    next_arrival_ += added;
    at->second.count += Adds(batch.kind(row)) ? 1 : -1;
    if (at->second.count == 0) bag_.erase(at);
  }
  void End(bool terminated, std::string* text) override {
    std::vector<std::pair<int64_t, std::vector<std::string>>> rows;
    for (const auto& [cells, entry] : bag_) {
      for (int64_t i = 0; i < entry.count; ++i) rows.emplace_back(entry.arrival, cells);
    }
    std::sort(rows.begin(), rows.end());
    std::vector<std::vector<std::string>> sorted;
    const size_t all = rows.size();
    if (options_.rows_max && all > static_cast<size_t>(*options_.rows_max)) {
      rows.resize(static_cast<size_t>(*options_.rows_max));
    }
    for (auto& [arrival, cells] : rows) sorted.push_back(std::move(cells));
    *text += ResultTable(schema_.names(), sorted, Align::kRight);
    if (full()) {
      *text += "PARTIAL: there is more, left out by --limit\n";
    } else if (sorted.size() < all) {
      *text += fmt::format("PARTIAL: {} more, left out by --limit\n", all - sorted.size());
    }
    if (terminated)
      *text += "PARTIAL: the query ended before its input, these are the rows so far\n";
    partial_ = terminated || sorted.size() < all;
  }
  bool partial() const override { return partial_; }
  // Rows that stay need not all be seen: one more than is printed tells that there are more.
  bool full() const override {
    return options_.insert_only && options_.rows_max && rows_ > *options_.rows_max;
  }

 private:
  struct Entry {
    int64_t count;
    int64_t arrival;
  };
  std::map<std::vector<std::string>, Entry> bag_;
  int64_t next_arrival_ = 0;
  bool partial_ = false;
};

}  // namespace

std::string TextRows(OutputMode mode, const std::vector<std::string>& names,
                     const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  if (mode == OutputMode::kCsv) {
    const auto append = [&](const std::vector<std::string>& cells) {
      for (size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) text.push_back(',');
        AppendCsv(cells[i], &text);
      }
      text.push_back('\n');
    };
    append(names);
    for (const auto& row : rows) append(row);
    return text;
  }
  if (mode != OutputMode::kJson) return ResultTable(names, rows, Align::kRight);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text.push_back(i == 0 ? '{' : ',');
      AppendJsonString(names[i], &text);
      text.push_back(':');
      AppendJsonString(row[i], &text);
    }
    text += "}\n";
  }
  return text;
}

std::optional<OutputMode> OutputModeByName(std::string_view name) {
  for (const auto& [known, mode] : kModes) {
    if (name == known) return mode;
  }
  return std::nullopt;
}

std::unique_ptr<ResultSink> ResultSink::Create(ResultOptions options, Schema schema,
                                               std::FILE* out) {
  switch (options.mode) {
    case OutputMode::kChangelog:
      return std::make_unique<ChangelogResult>(std::move(options), std::move(schema), out);
    case OutputMode::kTableau:
      return std::make_unique<TableauResult>(std::move(options), std::move(schema), out);
    case OutputMode::kTable:
      return std::make_unique<FinalTable>(std::move(options), std::move(schema), out);
    case OutputMode::kJson:
      return std::make_unique<JsonResult>(std::move(options), std::move(schema), out);
    case OutputMode::kCsv:
      return std::make_unique<CsvResult>(std::move(options), std::move(schema), out);
  }
  return nullptr;
}

Status ResultSink::Write(const RowBatch& batch) {
  BeginOnce();
  for (int row = 0; row < batch.rows && !full(); ++row) {
    AppendRow(batch, row, &text_);
    ++rows_;
  }
  return text_.size() >= kPrintBytes ? Print() : Status::Ok();
}

Status ResultSink::Flush() { return Print(); }

Status ResultSink::Finish() {
  BeginOnce();
  End(false, &text_);
  return Print();
}

Status ResultSink::Terminate() {
  BeginOnce();
  End(true, &text_);
  return Print();
}

void ResultSink::BeginOnce() {
  if (std::exchange(begun_, true)) return;
  Begin(&text_);
}

Status ResultSink::Print() {
  if (text_.empty()) return Status::Ok();
  if (options_.before_print) options_.before_print();
  const bool written =
      std::fwrite(text_.data(), 1, text_.size(), out_) == text_.size() && std::fflush(out_) == 0;
  text_.clear();
  if (!written) return Status::External("the output cannot be written: {}", std::strerror(errno));
  return Status::Ok();
}

std::string ResultSink::CastText(const RowBatch& batch, int row, int column,
                                 const char* null) const {
  const Value value = ValueAt(batch, column, row, schema_.type(column));
  if (IsNull(value)) return null;
  std::string text;
  AppendCastText(value, schema_.type(column), options_.local_time_zone, &text);
  return text;
}

}  // namespace rowtide

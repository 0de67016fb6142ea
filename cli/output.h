// Where the rows of a SELECT go: printed as they come, in one of five forms.
//
//   changelog   +I ["a",1]                  script text, as in `.test` files; the form of a pipe
//   tableau     | +I |  a |  1 |                    aligned, with borders; the form of a terminal,
//                                                   where kinds are coloured and columns fitted to
//                                                   its width
//   json        {"op":"+I","row":{"k":"a","n":1}}
//   csv         op,k,n  then  +I,a,1                NULL is nothing, an empty text is ""
//   table       the final rows only: what the changelog folds to, printed at the end
//
// In batch mode there are final rows alone, and tableau, json and csv have no kinds:
// {"k":"a","n":1} and k,n.
//
// --limit ends the query after so many rows of the changelog; of `table` it prints so many rows.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/schema.h"
#include "engine/sink.h"

namespace rowtide {

enum class OutputMode : uint8_t { kChangelog, kTableau, kTable, kJson, kCsv };
std::optional<OutputMode> OutputModeByName(std::string_view name);

// What SHOW and DESCRIBE give: json and csv as rows of a SELECT without kinds, else one table.
std::string TextRows(OutputMode mode, const std::vector<std::string>& names,
                     const std::vector<std::vector<std::string>>& rows);

struct ResultOptions {
  OutputMode mode = OutputMode::kChangelog;
  std::optional<int64_t> rows_max;  // --limit: rows after these are not printed
  bool kinds = true;  // the kind of each row stands before it; `changelog` always has it
  bool color = false;
  bool insert_only = false;  // rows are never taken back: `table` is complete at --limit, too
  int terminal_columns = 0;  // 0: no terminal
  // Called before anything is printed: whoever else writes to the terminal makes room.
  std::function<void()> before_print;
  std::string local_time_zone = "UTC";
  int column_width_max = 30;  // table.display.max-column-width
};

class ResultSink : public Sink {
 public:
  // Writes to `out`, which is borrowed.
  static std::unique_ptr<ResultSink> Create(ResultOptions options, Schema schema, std::FILE* out);

  Status Write(const RowBatch& batch) final;
  Status Flush() final;
  Status Finish() final;
  // The query ended before its input: the user stopped it, or it failed.
  Status Terminate();
  int64_t rows() const { return rows_; }
  // As many rows are printed as were asked for.
  // It has printed a table, but not the whole one: the query ended early, or --limit cut it.
  virtual bool partial() const { return false; }
  virtual bool full() const { return options_.rows_max && rows_ >= *options_.rows_max; }

  ResultSink(ResultOptions options, Schema schema, std::FILE* out)
      : options_(std::move(options)), schema_(std::move(schema)), out_(out) {}

 protected:
  // Each appends what is to be printed.
  virtual void Begin(std::string* /*text*/) {}
  virtual void AppendRow(const RowBatch& batch, int row, std::string* text) = 0;
  virtual void End(bool /*terminated*/, std::string* /*text*/) {}
  std::string CastText(const RowBatch& batch, int row, int column, const char* null) const;

  ResultOptions options_;
  Schema schema_;
  int64_t rows_ = 0;

 private:
  Status Print();
  void BeginOnce();

  std::FILE* out_;
  std::string text_;
  bool begun_ = false;
};

}  // namespace rowtide

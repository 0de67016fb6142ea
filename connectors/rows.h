// The rows that a script gives to its `'connector'='rows'` tables, one sequence over all of them.
//
//   orders +I ["o1",5]      0   orders
//   sales  +I ["a",7]       1   sales
//   orders +U ["o1",6]      2   orders
//   (end)                   3   orders ends, 4 sales ends: in the order of their names
//
// Each source hands out its own rows, but never one that stands behind a row which another source
// has not handed out yet. So what meets what in a join is settled by the script, whatever the task
// does.
//
// A source may hand out several rows in one batch when no other table's row stands between them;
// the feed says how many (random cuts in tests). One thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/registry.h"

namespace rowtide {

struct ScriptEvent {
  std::string table;
  bool is_watermark = false;
  RowKind kind = RowKind::kInsert;
  // A row: JSON array of the physical columns; a watermark: its timestamp, unquoted.
  std::string text;
  int line = 0;  // of the script, for messages
};

// One line of an `input` block: `table +I [..]` or `table WATERMARK "…"`. `line` is for messages.
Result<ScriptEvent> ParseScriptEvent(std::string_view text, int line);
// The lines of a `rows` block: CSV without header or quotes, an empty field is NULL.
void AppendCsvEvents(const std::string& table, std::string_view csv,
                     std::vector<ScriptEvent>* events);

class RowsFeed {
 public:
  explicit RowsFeed(std::vector<ScriptEvent> events) : events_(std::move(events)) {}
  // How many rows the next batch may hold at most; asked per batch.
  void SetCuts(std::function<int()> next_rows_max) { next_rows_max_ = std::move(next_rows_max); }
  const std::vector<ScriptEvent>& events() const { return events_; }
  // Forgets the sources of an earlier job, so that a job can be built again over the same rows.
  void Reset() { places_.clear(); }

 private:
  friend class RowsSource;
  std::vector<ScriptEvent> events_;
  std::function<int()> next_rows_max_;
  struct Place {
    std::string table;
    size_t next;  // its next event; all of them: it may end; then kOver
  };
  std::vector<std::unique_ptr<Place>> places_;
};

Result<std::unique_ptr<Source>> CreateRowsSource(const TableSpec& table, const ScanSpec& scan,
                                                 const ConnectorContext& context);

}  // namespace rowtide

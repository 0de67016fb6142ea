// Keys and rows of looked-at state as text: what `state get` and `state diff` print.
//
//   table   a heading, then aligned columns; key columns that the rows have are not shown twice
//   json    {"node":3,"operator":"Deduplicate","state":"rows","key":{"id":"o1"},"row":{…}}
//   csv     a line of names whenever the columns change: node,state, then as a table
//
// With changes (+ and -), that is the first column, or the first field.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/state_look.h"

namespace rowtide {

// One row of a key, as it is printed; equal rows have equal texts.
struct RowText {
  std::string json;                // {"id":"o1","n":3}
  std::vector<std::string> cells;  // of table and csv
  friend bool operator==(const RowText& a, const RowText& b) { return a.json == b.json; }
};

class StateRows {
 public:
  StateRows(OutputMode mode, std::string local_time_zone, bool with_changes)
      : mode_(mode), zone_(std::move(local_time_zone)), with_changes_(with_changes) {}
  ~StateRows() { End(); }
  StateRows(const StateRows&) = delete;
  StateRows& operator=(const StateRows&) = delete;

  // What follows is of that state. Nothing is printed before the first row.
  void Begin(const LookedNode& node, const LookedState& state);
  // `change`: + or -.
  void Print(char change, const std::vector<Value>& key, const RowText& row);
  void End();
  int64_t rows() const { return rows_; }

  // The rows of each of these keys.
  Result<std::vector<std::vector<RowText>>> RowsOf(LookedState& state, const KeyBatch& keys) const;

 private:
  void PrintTable();
  std::string Cell(const Value& value, const Type& type) const;

  OutputMode mode_;
  std::string zone_;
  bool with_changes_;
  const LookedNode* node_ = nullptr;
  const LookedState* state_ = nullptr;
  std::vector<int> key_columns_;  // of the key, that are no columns of the rows
  std::vector<std::string> names_;
  bool has_heading_ = false;
  std::vector<std::vector<std::string>> table_;
  int64_t rows_ = 0;
};

}  // namespace rowtide

// The key that `rowtide state get` is asked for: values of some or all key columns.
//
//   id=o1 day=2026-01-02        {"id":"o1","day":"2026-01-02"}
//
// Values are written as in a script's rows, without quotes in pairs. NULL is null in JSON, and the
// word where the column is no text. A state is asked by lookup when all of its key columns are
// given, else all of its keys are gone through; one without such columns is passed over.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/schema.h"
#include "engine/status.h"
#include "engine/value.h"

namespace rowtide {

class StateKey {
 public:
  static Result<StateKey> Parse(const std::vector<std::string>& words);

  bool empty() const { return columns_.empty(); }
  // Whether a state with these key columns can be asked for it.
  bool Fits(const Schema& key) const;
  // By key column; none where the column is not given. Requires: Fits.
  Result<std::vector<std::optional<Value>>> ValuesOf(const Schema& key) const;
  std::vector<std::string> names() const;

 private:
  struct Text {
    std::string text;
    bool is_json = false;
    bool is_null = false;
  };
  static Result<Value> ValueOf(const Text& text, const Field& column);
  Status TakeJson(const std::string& word);

  std::map<std::string, Text> columns_;
};

}  // namespace rowtide

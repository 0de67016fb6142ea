// The names and types of the columns of a stream. Small, copied freely; order matters, names need
// not be unique inside a plan (SQL disambiguates by position).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/types.h"

namespace rowtide {

struct Field {
  std::string name;
  Type type;
  friend bool operator==(const Field& a, const Field& b) = default;
};

class Schema {
 public:
  Schema() = default;
  explicit Schema(std::vector<Field> fields) : fields_(std::move(fields)) {}

  int size() const { return static_cast<int>(fields_.size()); }
  const Field& field(int column) const { return fields_[static_cast<size_t>(column)]; }
  const std::string& name(int column) const { return field(column).name; }
  const Type& type(int column) const { return field(column).type; }
  const std::vector<Field>& fields() const { return fields_; }
  std::vector<std::string> names() const;
  void Add(Field field) { fields_.push_back(std::move(field)); }

  // The first column of that name, or -1. Names are case-sensitive, as in Flink.
  int Find(std::string_view name) const;

  friend bool operator==(const Schema& a, const Schema& b) = default;

 private:
  std::vector<Field> fields_;
};

// The candidate nearest to `name` (edit distance, case folded), or "" when none is near. For
// messages.
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);
// 'name' in single quotes, inner ones doubled. For messages.
std::string Quote(std::string_view name);

}  // namespace rowtide

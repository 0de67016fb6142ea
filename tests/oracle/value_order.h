// Values compared as ORDER BY compares them, written as plainly as can be: what the encoded sort
// keys are held against.
#pragma once

#include <cmath>
#include <vector>

#include "engine/value.h"
#include "operators/expressions/expression.h"

namespace rowtide {

inline int CompareFloats(double a, double b) {
  if (std::isnan(a) || std::isnan(b))
    return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

// Requires: not NULL, same alternative.
inline int CompareValues(const Value& a, const Value& b) {
  if (const double* left = std::get_if<double>(&a))
    return CompareFloats(*left, std::get<double>(b));
  if (const WideTime* left = std::get_if<WideTime>(&a)) {
    const WideTime& right = std::get<WideTime>(b);
    if (left->millis != right.millis) return left->millis < right.millis ? -1 : 1;
    return left->nanos < right.nanos ? -1 : left->nanos > right.nanos ? 1 : 0;
  }
  if (const std::string* left = std::get_if<std::string>(&a)) {
    // char_traits<char> compares unsigned bytes
    const int order = left->compare(std::get<std::string>(b));
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  if (const bool* left = std::get_if<bool>(&a))
    return static_cast<int>(*left) - static_cast<int>(std::get<bool>(b));
  if (const int128* left = std::get_if<int128>(&a))
    return *left < std::get<int128>(b) ? -1 : *left > std::get<int128>(b) ? 1 : 0;
  const int64_t left = std::get<int64_t>(a), right = std::get<int64_t>(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

inline int CompareRows(const std::vector<Value>& a, const std::vector<Value>& b,
                       const std::vector<SortKey>& order) {
  for (const SortKey& key : order) {
    const Value& left = a[static_cast<size_t>(key.column)];
    const Value& right = b[static_cast<size_t>(key.column)];
    if (IsNull(left) && IsNull(right)) continue;
    if (IsNull(left) || IsNull(right)) return IsNull(left) == key.nulls_first ? -1 : 1;
    const int compared = CompareValues(left, right);
    if (compared != 0) return key.descending ? -compared : compared;
  }
  return 0;
}

// Equal content: NULL = NULL, NaN = NaN, -0.0 = 0.0.
inline bool EqualValue(const Value& a, const Value& b) {
  if (IsNull(a) || IsNull(b)) return IsNull(a) == IsNull(b);
  return CompareValues(a, b) == 0;
}
inline bool EqualValues(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!EqualValue(a[i], b[i])) return false;
  }
  return true;
}

}  // namespace rowtide

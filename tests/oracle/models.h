// Naive models of deduplication and ranking: they keep every row and start afresh each time they
// are asked.
#pragma once

#include <algorithm>

#include "operators/deduplicate.h"
#include "operators/rank.h"
#include "tests/oracle/oracle.h"
#include "tests/oracle/value_order.h"

namespace rowtide {

inline bool SameKey(const std::vector<Value>& a, const std::vector<Value>& b,
                    const std::vector<int>& columns) {
  return std::all_of(columns.begin(), columns.end(), [&](int column) {
    return EqualValue(a[static_cast<size_t>(column)], b[static_cast<size_t>(column)]);
  });
}

class DeduplicateModel final : public Model {
 public:
  explicit DeduplicateModel(DeduplicateSpec spec) : spec_(std::move(spec)) {}

  void Row(const TestRow& row, int /*input*/) override {
    if (!spec_.outputs_insert_only || TimeOf(row.values) >= watermark_) rows_.push_back(row.values);
  }
  // With insert-only output, a key's best row goes out for good with the first watermark that
  // reaches it.
  void Watermark(int64_t millis) override {
    watermark_ = millis;
    if (!spec_.outputs_insert_only) return;
    for (size_t i = 0; i < rows_.size(); ++i) {
      const bool is_out = std::any_of(out_.begin(), out_.end(), [&](const std::vector<Value>& row) {
        return SameKey(row, rows_[i], spec_.keys);
      });
      if (!is_out && IsBest(i) && TimeOf(rows_[i]) <= millis) out_.push_back(rows_[i]);
    }
  }

  TableText Table(const Schema& output) const override {
    TableText table;
    if (spec_.outputs_insert_only) {
      for (const std::vector<Value>& row : out_) table.insert(ValuesText(row, output));
      return table;
    }
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (IsBest(i)) table.insert(ValuesText(rows_[i], output));
    }
    return table;
  }

 private:
  int64_t TimeOf(const std::vector<Value>& row) const {
    return std::get<int64_t>(row[static_cast<size_t>(spec_.order_column)]);
  }
  // No other row of the key is preferred.
  bool IsBest(size_t at) const {
    for (size_t other = 0; other < rows_.size(); ++other) {
      if (other != at && SameKey(rows_[at], rows_[other], spec_.keys) && IsPreferred(other, at))
        return false;
    }
    return true;
  }
  bool IsPreferred(size_t a, size_t b) const {
    if (spec_.rowtime) {
      const int64_t left = TimeOf(rows_[a]), right = TimeOf(rows_[b]);
      if (left != right) return spec_.keeps_last ? left > right : left < right;
    }
    return spec_.keeps_last ? a > b : a < b;
  }

  DeduplicateSpec spec_;
  int64_t watermark_ = Time::kNoWatermark;
  std::vector<std::vector<Value>> rows_;
  std::vector<std::vector<Value>> out_;
};

class RankModel final : public Model {
 public:
  explicit RankModel(RankSpec spec) : spec_(std::move(spec)) {}

  void Row(const TestRow& row, int /*input*/) override {
    if (spec_.variable_end >= 0) FixEnd(row.values);
    if (spec_.strategy == RankSpec::Strategy::kUpdateFast) return Upsert(row.values);
    if (Adds(row.kind)) {
      rows_.push_back(row.values);
      return;
    }
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const std::vector<Value>& other) {
      return EqualValues(other, row.values);
    });
    if (at != rows_.end()) rows_.erase(at);
  }

  TableText Table(const Schema& output) const override {
    std::vector<std::vector<Value>> sorted = rows_;
    std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return CompareRows(a, b, spec_.order) < 0;
    });
    TableText table;
    for (size_t i = 0; i < sorted.size(); ++i) {
      int64_t rank = 1;
      for (size_t j = 0; j < i; ++j) rank += SameKey(sorted[i], sorted[j], spec_.partition);
      if (rank < spec_.start || rank > EndOf(sorted[i])) continue;
      std::vector<Value> row = sorted[i];
      if (spec_.outputs_number()) row.emplace_back(rank);
      table.insert(ValuesText(row, output));
    }
    return table;
  }

 private:
  // A row key keeps its place among equals until its sort key changes.
  void Upsert(const std::vector<Value>& row) {
    const auto at = std::find_if(rows_.begin(), rows_.end(), [&](const std::vector<Value>& other) {
      return SameKey(other, row, spec_.row_key);
    });
    if (at == rows_.end()) {
      rows_.push_back(row);
    } else if (CompareRows(*at, row, spec_.order) == 0) {
      *at = row;
    } else {
      rows_.erase(at);
      rows_.push_back(row);
    }
  }
  void FixEnd(const std::vector<Value>& row) {
    for (const auto& [first, end] : ends_) {
      if (SameKey(first, row, spec_.partition)) return;
    }
    const Value& end = row[static_cast<size_t>(spec_.variable_end)];
    ends_.emplace_back(row, IsNull(end) ? 0 : std::get<int64_t>(end));
  }
  int64_t EndOf(const std::vector<Value>& row) const {
    for (const auto& [first, end] : ends_) {
      if (SameKey(first, row, spec_.partition)) return end;
    }
    return spec_.end;
  }

  RankSpec spec_;
  std::vector<std::vector<Value>> rows_;
  std::vector<std::pair<std::vector<Value>, int64_t>> ends_;
};

}  // namespace rowtide

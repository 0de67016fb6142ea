// Makes a RowBatch row by row or column by column. Reused between batches: Finish hands the buffers
// over.
//
// An operator that emits from state calls, per row, AppendKind and then one Append... per column
// (state/row_codec.h does all columns of a BinaryRow at once). Long strings are copied into the
// builder's block, so the batch never points into state. Capacity is in rows; the caller finishes
// when `full()`.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/value.h"

namespace rowtide {

class ColumnBuilder {
 public:
  explicit ColumnBuilder(Layout layout) : layout_(layout), width_(WidthOf(layout)) {}

  Layout layout() const { return layout_; }
  void Reserve(int rows);  // makes room for that many rows from here on; keeps what is there
  int rows() const { return rows_; }
  // Fixed-width value of the layout's C++ type; Requires: room reserved.
  template <typename T>
  void Append(T value) {
    RowsOf<T>()[rows_++] = value;
  }
  // Copies width bytes.
  void AppendBytes(const char* value) {
    __builtin_memcpy(values_->data() + static_cast<size_t>(rows_) * static_cast<size_t>(width_),
                     value, static_cast<size_t>(width_));
    ++rows_;
  }
  void AppendNull();
  template <typename T>
  T* RowsOf() {
    return reinterpret_cast<T*>(values_->data());
  }
  Column Finish();

 private:
  Layout layout_;
  int width_;
  int rows_ = 0;
  int capacity_ = 0;
  std::shared_ptr<Block> values_;
  std::shared_ptr<Block> validity_;
};

// A growing chain of byte blocks that long strings are copied into.
class StringBlocks {
 public:
  // A view of a copy of `text`; short text stays inside the view.
  StringView Copy(std::string_view text) {
    if (text.size() <= StringView::kInlineBytes) return StringView(text);
    return StringView(Reserve(text), static_cast<uint32_t>(text.size()));
  }
  // Of all blocks since the last Finish.
  size_t bytes() const { return bytes_; }
  std::vector<BlockPointer> Finish();

 private:
  const char* Reserve(std::string_view text);
  std::vector<std::shared_ptr<Block>> blocks_;
  size_t used_ = 0;
  size_t bytes_ = 0;
};

class BatchBuilder {
 public:
  explicit BatchBuilder(const Schema& schema, int capacity = kBatchRows);

  int rows() const { return rows_; }
  bool empty() const { return rows_ == 0; }
  bool full() const { return rows_ >= capacity_; }
  // Begins a row: the caller then appends one value to every column.
  void AppendKind(RowKind kind) {
    if (rows_ == reserved_) [[unlikely]]
      Grow();
    kinds_->data()[rows_++] = static_cast<char>(kind);
    all_inserts_ &= kind == RowKind::kInsert;
  }
  ColumnBuilder& column(int index) { return columns_[static_cast<size_t>(index)]; }
  StringBlocks& strings() { return strings_; }
  // Keeps a block of another batch alive, for views that are passed on without a copy.
  void Share(const std::vector<BlockPointer>& blocks);
  // Slow path: one value of any kind.
  void AppendValue(int index, const Type& type, const Value& value);
  // The rows so far as a batch; the builder is empty afterwards.
  RowBatch Finish();

 private:
  void Begin();
  void Grow();
  int capacity_;
  int rows_ = 0;
  // Rows that there is room for; grows to the capacity, so that a batch of one row stays small.
  int reserved_ = 0;
  bool all_inserts_ = true;
  std::shared_ptr<Block> kinds_;
  std::vector<ColumnBuilder> columns_;
  StringBlocks strings_;
  std::vector<BlockPointer> shared_;
};

// A value out of a batch. Slow path.
Value ValueAt(const RowBatch& batch, int column, int row, const Type& type);
// Rows given as values, one vector a row. Slow path: VALUES, scripts, tests.
RowBatch BatchOf(const Schema& schema,
                 const std::vector<std::pair<RowKind, std::vector<Value>>>& rows);

}  // namespace rowtide

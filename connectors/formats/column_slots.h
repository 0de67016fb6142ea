// One column of a batch that is filled row by row, in any order of columns, by a decoder that may
// give a row up half-way: a slot is written, and written again for the next row.
//
//   Set(2, 7)            values    ... ... 7          validity is made at the first NULL
//   SetNull(2)           values    ... ... 0    0 at bit 2
#pragma once

#include <cstring>
#include <memory>

#include "engine/row_batch.h"

namespace rowtide {

class ColumnSlots {
 public:
  explicit ColumnSlots(const Type& type)
      : layout_(LayoutOf(type)), width_(static_cast<size_t>(WidthOf(layout_))) {}

  Layout layout() const { return layout_; }
  void Begin() {
    values_ = std::make_shared<Block>(kBatchRows * width_);
    validity_ = nullptr;
  }
  // Requires: T is the layout's type.
  template <typename T>
  void Set(int row, T value) {
    *Slot<T>(row) = value;
  }
  // Where the value is to be written.
  template <typename T>
  T* Slot(int row) {
    if (validity_) [[unlikely]]
      Bits(row) = static_cast<char>(Bits(row) | 1 << (row & 7));
    return reinterpret_cast<T*>(values_->data()) + row;
  }
  void SetNull(int row) {
    if (!validity_) {
      validity_ = std::make_shared<Block>(kBatchRows / 8);
      std::memset(validity_->data(), 0xff, validity_->size());
    }
    Bits(row) = static_cast<char>(Bits(row) & ~(1 << (row & 7)));
    std::memset(values_->data() + static_cast<size_t>(row) * width_, 0, width_);
  }
  Column Finish() { return Column(layout_, std::move(values_), std::move(validity_)); }

 private:
  char& Bits(int row) { return validity_->data()[row >> 3]; }

  Layout layout_;
  size_t width_;
  std::shared_ptr<Block> values_;
  std::shared_ptr<Block> validity_;
};

}  // namespace rowtide

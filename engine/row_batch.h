// What flows: up to 1,024 rows as dense columns, with one RowKind byte a row. Immutable once made,
// cheap to copy.
//
//   kinds    +I  +I  -U  +U
//   column 0  7   8   8   9        values in their width (engine/types.h), NULL slots hold zeros
//   validity  1   1   0   1        Arrow bitmap, lowest bit first; absent when nothing is null
//
// Long strings point into blocks that the batch shares: a decoder's input block, an operator's
// output block. Nothing points into state. Columns share their buffers, so a projection copies
// pointers only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/changelog_mode.h"
#include "engine/string_view.h"
#include "engine/types.h"

namespace rowtide {

inline constexpr int kBatchRows = 1024;

// Raw bytes with shared ownership: the one place where ownership is shared (house-style.md).
class Block {
 public:
  explicit Block(size_t bytes);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  char* data() { return data_; }
  const char* data() const { return data_; }
  size_t size() const { return bytes_; }

 private:
  char* data_;
  size_t bytes_;
};
using BlockPointer = std::shared_ptr<const Block>;

// Each thread keeps so many bytes of freed blocks for those that it makes next. Of the process.
void LimitFreeBlocks(size_t bytes);

class Column {
 public:
  Column() = default;
  // `values` holds `rows` values of `layout`; `validity` a bitmap or null.
  Column(Layout layout, BlockPointer values, BlockPointer validity)
      : layout_(layout), values_(std::move(values)), validity_(std::move(validity)) {}

  Layout layout() const { return layout_; }
  const char* data() const { return values_->data(); }
  template <typename T>
  const T* values() const {
    return reinterpret_cast<const T*>(values_->data());
  }
  bool may_have_nulls() const { return validity_ != nullptr; }
  // Null when nothing is null.
  const uint8_t* validity() const {
    return validity_ ? reinterpret_cast<const uint8_t*>(validity_->data()) : nullptr;
  }
  bool IsNull(int row) const { return validity_ && !((validity()[row >> 3] >> (row & 7)) & 1); }
  const BlockPointer& values_block() const { return values_; }
  const BlockPointer& validity_block() const { return validity_; }

 private:
  Layout layout_ = Layout::kBool;
  BlockPointer values_;
  BlockPointer validity_;
};

// Where the record of a row begins.
struct RowPlace {
  int64_t line = 0;  // from 1; below 0: of a topic, where there are no lines
  int64_t byte = 0;  // from the beginning of the (unpacked) file; of a topic: the offset
};

struct RowBatch {
  int rows = 0;
  BlockPointer kinds;  // one byte a row; null = all +I
  std::vector<Column> columns;
  std::vector<BlockPointer> blocks;  // what the strings point into
  int32_t split = 0;                 // which file or partition
  int64_t first_record = 0;          // number of the first row's record within the split
  BlockPointer places;  // a RowPlace a row, as long as rows are those of one file; else null
  BlockPointer file;    // the name of that file, or of the topic and its partition

  RowKind kind(int row) const {
    return kinds ? static_cast<RowKind>(kinds->data()[row]) : RowKind::kInsert;
  }
  const RowKind* kinds_or_null() const {
    return kinds ? reinterpret_cast<const RowKind*>(kinds->data()) : nullptr;
  }
  // Null when it is not known.
  const RowPlace* place_of(int row) const {
    return places ? reinterpret_cast<const RowPlace*>(places->data()) + row : nullptr;
  }
};

// "file orders.csv, line 3, byte 120: " for the head of a message; "" when it is not known.
std::string PlaceText(const RowBatch& batch, int row);

// Rows [first, first + rows) of a batch, values copied (strings still share their blocks).
RowBatch Slice(const RowBatch& batch, int first, int rows);
// The rows whose numbers are listed, in that order.
RowBatch Select(const RowBatch& batch, std::span<const int32_t> rows);

}  // namespace rowtide

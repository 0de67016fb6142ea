// The rows an operator emits, gathered as BinaryRows and turned into columns a batch at a time.
//
//   Add(kind, row)       the bytes lie in a block handed to Keep: nothing is copied
//   AddCopy(kind, row)   the bytes lie in state, which may change: they are copied into a block
//   FlushTo(out)         columns of up to 1,024 rows; long strings point into those blocks
//
// With one output column more than the codec has, each row carries a number (the rank) as its last,
// BIGINT column. Check `full()` after each input row and flush, so that what is gathered stays
// bounded.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/operator.h"
#include "engine/row_batch.h"
#include "state/row_codec.h"

namespace rowtide {

class OutputRows {
 public:
  // Borrows the codec.
  OutputRows(const RowCodec* codec, bool numbered) : codec_(codec), numbered_(numbered) {}

  bool full() const { return rows_.size() >= static_cast<size_t>(kBatchRows); }
  bool empty() const { return rows_.empty(); }
  // The block is handed on with the batches of the next flush, and forgotten then.
  void Keep(BlockPointer block) { kept_.push_back(std::move(block)); }

  void Add(RowKind kind, const char* row, int64_t number = 0) {
    rows_.push_back(row);
    kinds_.push_back(static_cast<char>(kind));
    if (numbered_) numbers_.push_back(number);
  }
  // Returns where the copy lies, valid until the flush.
  const char* AddCopy(RowKind kind, std::string_view row, int64_t number = 0) {
    const char* copy = Copy(row);
    Add(kind, copy, number);
    return copy;
  }
  // Copies without emitting; valid until the flush.
  const char* Copy(std::string_view row) {
    char* to = Room(row.size());
    std::memcpy(to, row.data(), row.size());
    return to;
  }
  // Where the caller writes a row of that size; valid until the flush.
  char* Room(size_t bytes) {
    if (bytes > left_) MakeRoom(bytes);
    char* to = next_;
    next_ += bytes;
    left_ -= bytes;
    return to;
  }
  Status FlushTo(Collector& out);

 private:
  void MakeRoom(size_t bytes);
  RowBatch BatchOf(size_t first, size_t rows) const;

  const RowCodec* codec_;
  bool numbered_;
  std::vector<const char*> rows_;
  std::vector<char> kinds_;
  std::vector<int64_t> numbers_;
  std::vector<BlockPointer> kept_;
  std::vector<BlockPointer> copies_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

// Emits the listed rows of `batch` with the given kinds (null = all +I). Columns are shared when
// every row is listed.
Status EmitSelected(const RowBatch& batch, const std::vector<int32_t>& rows,
                    const std::vector<char>* kinds, Collector& out);

}  // namespace rowtide

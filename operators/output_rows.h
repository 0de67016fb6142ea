// The rows an operator emits, gathered as BinaryRows and turned into columns a batch at a time.
//
//   Add(kind, row)         the bytes lie in a block handed to Keep: nothing is copied
//   AddCopy(kind, row)     the bytes lie in state, which may change: they are copied into a block
//   AddInput(kind, row)    a row of the batch handed to Begin: its columns are taken as they are
//   FlushTo(out)           columns of up to 1,024 rows; long strings point into those blocks
//   AddNamed, FlushNamed   instead of these: rows whose bytes the caller keeps, by their names
//                          (engine/named_rows.h)
//
// With one output column more than the codec has, each row carries a number (the rank) as its last,
// BIGINT column. Check `full()` after each input row and flush, so that what is gathered stays
// bounded.
#pragma once

#include <cstring>
#include <memory>
#include <span>
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

  bool full() const { return rows_ >= static_cast<size_t>(kBatchRows); }
  bool empty() const { return rows_ == 0; }
  // The block is handed on with the batches of the next flush, and forgotten then.
  void Keep(BlockPointer block) { kept_.push_back(std::move(block)); }
  // Borrows the batch that AddInput speaks of until the last flush of its rows.
  void Begin(const RowBatch& batch) { input_ = &batch; }

  void Add(RowKind kind, const char* row, int64_t number = 0) { AddRow(kind, row, 0, number); }
  void AddInput(RowKind kind, int32_t row, int64_t number = 0) {
    has_input_ = true;
    AddRow(kind, nullptr, row, number);
  }
  // Requires: numbered, and all rows until the flush are named.
  void AddNamed(RowKind kind, const char* row, uint64_t name, int64_t number) {
    if (rows_ == kinds_.size()) [[unlikely]]
      Grow();
    stored_.data()[rows_] = row;
    picks_.data()[rows_] = 0;
    names_.data()[rows_] = name;
    numbers_.data()[rows_] = number;
    kinds_.data()[rows_++] = static_cast<char>(kind);
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
  // Places for up to `rows` more, to be filled from the first one on: of each row its kind, and
  // either its bytes or, with null there, its number among those of the batch handed to Begin; and
  // its name, where FlushNamed follows. `Take` says how many were. For rows without a number of
  // their own.
  struct Places {
    const char** stored;
    int32_t* picks;
    RowKind* kinds;
    uint64_t* names;
  };
  Places Offer(size_t rows);
  void Take(size_t rows) {
    has_input_ = true;
    rows_ += rows;
  }
  Status FlushTo(Collector& out);
  Status FlushNamed(NamedRowsTaker& taker);

 private:
  class Named;
  void AddRow(RowKind kind, const char* stored, int32_t pick, int64_t number) {
    if (rows_ == kinds_.size()) [[unlikely]]
      Grow();
    // Through pointers: an index would be checked for each row.
    stored_.data()[rows_] = stored;
    picks_.data()[rows_] = pick;
    kinds_.data()[rows_] = static_cast<char>(kind);
    if (numbered_) numbers_.data()[rows_] = number;
    ++rows_;
  }
  void Grow();
  void Clear();
  void MakeRoom(size_t bytes);
  RowBatch BatchOf(size_t first, size_t rows);
  void MixColumns(std::span<const int32_t> picks, std::span<const char* const> stored,
                  std::vector<Column>* columns) const;
  BlockPointer MixValidity(int column, std::span<const int32_t> picks,
                           std::span<const RowCodec::PlacedRow> placed) const;

  const RowCodec* codec_;
  bool numbered_;
  // What is gathered, a place each: the first `rows_` of these.
  size_t rows_ = 0;
  std::vector<const char*> stored_;  // null for rows of the input
  std::vector<int32_t> picks_;       // rows of the input; 0 for those that are not of it
  std::vector<char> kinds_;
  std::vector<int64_t> numbers_;
  std::vector<uint64_t> names_;
  bool has_input_ = false;
  const RowBatch* input_ = nullptr;
  mutable std::vector<RowCodec::PlacedRow> placed_;  // scratch of a batch in the making
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

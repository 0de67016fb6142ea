// Rows that wait and then leave, about in the order in which they came: appended to blocks one
// after the other, so that writing and reading both run through memory forwards.
//
//   block 0   | row | row | (gone) |        handed on with the rows that leave: nothing is copied
//   block 1   | row | row | ...             the open one
//
// A block is given up when all of its rows are gone. A row that stays long keeps its block; when
// blocks hold four times what the rows in them need, `wasteful` says so and the owner copies what
// is left into a new log. Bytes of the rows are accounted in StateSize. One lane.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/operator.h"
#include "engine/row_batch.h"

namespace rowtide {

class RowLog {
 public:
  struct Row {
    char* bytes = nullptr;
    uint32_t size = 0;
    uint32_t block = 0;
    std::string_view view() const { return {bytes, size}; }
  };

  explicit RowLog(StateSize* size) : size_(size) {}
  ~RowLog() { Clear(); }
  RowLog(const RowLog&) = delete;
  RowLog& operator=(const RowLog&) = delete;

  // Room for a row, to be written by the caller. Requires: at most kRowBytesMax.
  Row Append(size_t bytes) {
    if (bytes > left_) [[unlikely]]
      Open(bytes);
    Row row{next_, static_cast<uint32_t>(bytes), open_};
    next_ += bytes;
    left_ -= bytes;
    ++blocks_[open_].rows;
    live_bytes_ += bytes;
    size_->bytes += static_cast<int64_t>(bytes);
    return row;
  }
  // What keeps the row's bytes alive when the row is released.
  const BlockPointer& BlockOf(const Row& row) const { return blocks_[row.block].bytes; }
  void Release(const Row& row) {
    live_bytes_ -= row.size;
    size_->bytes -= row.size;
    if (--blocks_[row.block].rows == 0 && row.block != open_) GiveUp(row.block);
  }
  bool wasteful() const { return held_bytes_ > 4 * live_bytes_ + kSlackBytes; }
  void Clear();
  void Swap(RowLog& other) noexcept;

 private:
  static constexpr size_t kBlockBytes = size_t{64} << 10;
  static constexpr size_t kSlackBytes = size_t{1} << 20;
  struct Rows {
    BlockPointer bytes;
    uint32_t rows = 0;
  };
  void Open(size_t bytes);
  void GiveUp(uint32_t block);

  StateSize* size_;
  std::vector<Rows> blocks_;
  std::vector<uint32_t> free_;  // numbers of blocks that were given up
  uint32_t open_ = 0;
  char* next_ = nullptr;
  size_t left_ = 0;
  size_t live_bytes_ = 0;
  size_t held_bytes_ = 0;
};

}  // namespace rowtide

#include "state/row_log.h"

#include <algorithm>
#include <utility>

namespace rowtide {

void RowLog::Open(size_t bytes) {
  const bool had_one = next_ != nullptr;
  const uint32_t before = open_;
  if (free_.empty()) {
    open_ = static_cast<uint32_t>(blocks_.size());
    blocks_.emplace_back();
  } else {
    open_ = free_.back();
    free_.pop_back();
  }
  auto block = std::make_shared<Block>(std::max(bytes, kBlockBytes));
  next_ = block->data();
  left_ = block->size();
  held_bytes_ += block->size();
  blocks_[open_] = {std::move(block), 0};
  if (had_one && blocks_[before].rows == 0) GiveUp(before);
}

void RowLog::GiveUp(uint32_t block) {
  held_bytes_ -= blocks_[block].bytes->size();
  blocks_[block].bytes = nullptr;
  free_.push_back(block);
}

void RowLog::Clear() {
  size_->bytes -= static_cast<int64_t>(live_bytes_);
  blocks_.clear();
  free_.clear();
  open_ = 0;
  next_ = nullptr;
  left_ = live_bytes_ = held_bytes_ = 0;
}

void RowLog::Swap(RowLog& other) noexcept {
  std::swap(blocks_, other.blocks_);
  std::swap(free_, other.free_);
  std::swap(open_, other.open_);
  std::swap(next_, other.next_);
  std::swap(left_, other.left_);
  std::swap(live_bytes_, other.live_bytes_);
  std::swap(held_bytes_, other.held_bytes_);
}

}  // namespace rowtide

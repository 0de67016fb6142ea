#include "operators/recent_rows.h"

#include <algorithm>
#include <cstring>

namespace rowtide {

RecentRows::Copy RecentRows::CopyOf(const OrderedState::Cursor& row) {
  const std::string_view stored = row.row();
  char* const bytes = Room(stored.size());
  std::memcpy(bytes, stored.data(), stored.size());
  const uint64_t name = next_name_++;
  const size_t number = name % kRows;
  rows_[number] = {row.place(), {bytes, name}};
  numbers_[HashOf(row.place())] = static_cast<uint16_t>(number);
  return {bytes, name};
}

char* RecentRows::Room(size_t bytes) {
  if (bytes > left_) {
    auto block = std::make_unique<Block>(std::max(kBlockBytes, bytes));
    next_ = block->data();
    left_ = block->size();
    blocks_.push_back({std::move(block), next_name_});
  }
  char* const room = next_;
  next_ += bytes;
  left_ -= bytes;
  return room;
}

void RecentRows::Trim() {
  while (blocks_.size() > kKeptBlocks) blocks_.pop_front();
  if (!blocks_.empty()) first_name_ = blocks_.front().first_name;
}

void RecentRows::Follow() {
  if (written_ == state_->rows_written()) return;
  written_ = state_->rows_written();
  blocks_.clear();
  first_name_ = next_name_;
  left_ = 0;
}

}  // namespace rowtide

#include "engine/runtime/channel.h"

#include <iterator>
#include <utility>

namespace rowtide {
namespace {

constexpr int64_t kSentParts = 8;  // of the limit

int64_t RowsOf(const ChannelEvent& event) {
  const auto* batch = std::get_if<RowBatch>(&event);
  return batch != nullptr ? batch->rows : 0;
}

int64_t BytesOf(const BlockPointer& block) {
  return block != nullptr ? static_cast<int64_t>(block->size()) : 0;
}

}  // namespace

// Batches of one block of the input follow each other: it counts with the first of them.
int64_t Channel::BytesOf(const ChannelEvent& event) {
  const auto* batch = std::get_if<RowBatch>(&event);
  if (batch == nullptr) return 0;
  int64_t bytes = rowtide::BytesOf(batch->kinds) + rowtide::BytesOf(batch->places);
  for (const Column& column : batch->columns)
    bytes += rowtide::BytesOf(column.values_block()) + rowtide::BytesOf(column.validity_block());
  const Block* const before = last_block_;
  for (const BlockPointer& block : batch->blocks) {
    if (block.get() != before) bytes += rowtide::BytesOf(block);
    last_block_ = block.get();
  }
  return bytes;
}

void Channel::Push(ChannelEvent event) {
  const int64_t bytes = BytesOf(event);
  rows_ += RowsOf(event);
  bytes_ += bytes;
  std::vector<Held> home;
  {
    const std::lock_guard lock(mutex_);
    pushed_.push_back({std::move(event), bytes});
    home.swap(spent_);
    ++events_;
  }
  if (consumer_ != nullptr) consumer_->Notify();
}

const ChannelEvent* Channel::Front() {
  if (at_ < taken_.size()) return &taken_[at_].event;
  if (is_empty()) return nullptr;
  if (SendHome() && producer_ != nullptr) producer_->Notify();
  taken_.clear();
  sent_ = at_ = 0;
  const std::lock_guard lock(mutex_);
  taken_.swap(pushed_);
  return &taken_[at_].event;
}

void Channel::Pop() {
  const Held& popped = taken_[at_++];
  const int64_t rows = RowsOf(popped.event);
  popped_bytes_ += popped.bytes;
  --events_;
  const int64_t before = rows_.fetch_sub(rows);
  bool is_half_free = before > rows_max_ / 2 && before - rows <= rows_max_ / 2;
  if (popped_bytes_ > bytes_max_ / kSentParts) is_half_free |= SendHome();
  if (is_half_free && producer_ != nullptr) producer_->Notify();
}

bool Channel::SendHome() {
  {
    const auto first = taken_.begin() + static_cast<ptrdiff_t>(sent_);
    const auto end = taken_.begin() + static_cast<ptrdiff_t>(at_);
    const std::lock_guard lock(mutex_);
    spent_.insert(spent_.end(), std::move_iterator(first), std::move_iterator(end));
  }
  sent_ = at_;
  const int64_t bytes = std::exchange(popped_bytes_, 0);
  const int64_t before = bytes_.fetch_sub(bytes);
  return before > bytes_max_ / 2 && before - bytes <= bytes_max_ / 2;
}

}  // namespace rowtide

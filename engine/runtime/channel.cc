#include "engine/runtime/channel.h"

#include <iterator>
#include <utility>

namespace rowtide {
namespace {

int64_t RowsOf(const ChannelEvent& event) {
  const auto* batch = std::get_if<RowBatch>(&event);
  return batch != nullptr ? batch->rows : 0;
}

}  // namespace

void Channel::Push(ChannelEvent event) {
  rows_ += RowsOf(event);
  std::vector<ChannelEvent> home;
  {
    const std::lock_guard lock(mutex_);
    pushed_.push_back(std::move(event));
    home.swap(spent_);
    ++events_;
  }
  if (consumer_ != nullptr) consumer_->Notify();
}

const ChannelEvent* Channel::Front() {
  if (at_ < taken_.size()) return &taken_[at_];
  if (is_empty()) return nullptr;
  const std::lock_guard lock(mutex_);
  if (spent_.empty()) {
    spent_.swap(taken_);
  } else {
    std::move(taken_.begin(), taken_.end(), std::back_inserter(spent_));
    taken_.clear();
  }
  taken_.swap(pushed_);
  at_ = 0;
  return &taken_[at_];
}

void Channel::Pop() {
  const int64_t rows = RowsOf(taken_[at_++]);
  --events_;
  const int64_t before = rows_.fetch_sub(rows);
  const bool is_half_free = before > rows_max_ / 2 && before - rows <= rows_max_ / 2;
  if (is_half_free && producer_ != nullptr) producer_->Notify();
}

}  // namespace rowtide

#include "engine/runtime/exchange.h"

#include <algorithm>

namespace rowtide {

Exchange::Exchange(std::unique_ptr<Partitioner> partitioner, std::vector<Channel*> targets)
    : partitioner_(std::move(partitioner)),
      targets_(std::move(targets)),
      rows_of_lane_(targets_.size()) {
  RT_CHECK(partitioner_ != nullptr || targets_.size() == 1);
}

Status Exchange::Process(int /*input*/, const RowBatch& batch, Collector& /*out*/) {
  if (targets_.size() == 1) {
    targets_[0]->Push(batch);
    return Status::Ok();
  }
  RT_TRY(partitioner_->LanesOf(batch, &lanes_));
  for (std::vector<int32_t>& rows : rows_of_lane_) rows.clear();
  for (int32_t row = 0; row < batch.rows; ++row)
    rows_of_lane_[lanes_[static_cast<size_t>(row)]].push_back(row);
  for (size_t lane = 0; lane < targets_.size(); ++lane) {
    const std::vector<int32_t>& rows = rows_of_lane_[lane];
    if (rows.empty()) continue;
    const bool is_whole = rows.size() == static_cast<size_t>(batch.rows);
    targets_[lane]->Push(is_whole ? batch : Select(batch, rows));
  }
  return Status::Ok();
}

Status Exchange::Advance(int /*input*/, Time time, Collector& /*out*/) {
  for (Channel* target : targets_) target->Push(time);
  return Status::Ok();
}

void Exchange::Send(Barrier barrier) {
  for (Channel* target : targets_) target->Push(barrier);
}

bool Exchange::is_over_limit() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const Channel* target) { return target->is_over_limit(); });
}

void Exchange::SetProducer(LaneSignal* producer) {
  for (Channel* target : targets_) target->SetProducer(producer);
}

}  // namespace rowtide

#include "engine/runtime/input_gate.h"

#include <algorithm>

#include "engine/runtime/batch_prefetch.h"

namespace rowtide {

InputGate::InputGate(int channels, int64_t rows_max)
    : times_(channels), is_held_(static_cast<size_t>(channels)) {
  for (int i = 0; i < channels; ++i) channels_.push_back(std::make_unique<Channel>(rows_max));
}

void InputGate::LimitBytes(int64_t bytes_max) {
  for (const auto& channel : channels_) channel->LimitBytes(bytes_max);
}

void InputGate::SetConsumer(LaneSignal* consumer) {
  for (const auto& channel : channels_) channel->SetConsumer(consumer);
}

bool InputGate::is_ready() const {
  for (size_t i = 0; i < channels_.size(); ++i) {
    if (!is_held_[i] && !channels_[i]->is_empty()) return true;
  }
  return false;
}

Result<bool> InputGate::Step(Collector& out) {
  for (size_t tried = 0; tried < channels_.size(); ++tried) {
    const size_t channel = turn_;
    turn_ = (turn_ + 1) % channels_.size();
    if (is_held_[channel]) continue;
    const ChannelEvent* const event = channels_[channel]->Front();
    if (event == nullptr) continue;
    Status status = Take(channel, *event, out);
    channels_[channel]->Pop();
    if (!status.ok()) return status;
    return true;
  }
  return false;
}

Status InputGate::Take(size_t channel, const ChannelEvent& event, Collector& out) {
  if (const auto* batch = std::get_if<RowBatch>(&event)) {
    Prefetch(*batch);
    return out.Emit(*batch);
  }
  if (const auto* time = std::get_if<Time>(&event)) {
    const std::optional<Time> merged = times_.Advance(static_cast<int>(channel), *time);
    return merged ? out.Advance(*merged) : Status::Ok();
  }
  const Barrier barrier = std::get<Barrier>(event);
  if (held_ > 0 && barrier.epoch != barrier_->epoch) {
    return Status::Internal("barrier {} comes while barrier {} is not here on all channels",
                            barrier.epoch, barrier_->epoch);
  }
  barrier_ = barrier;
  is_held_[channel] = true;
  ++held_;
  return Status::Ok();
}

std::optional<Barrier> InputGate::aligned() const {
  return held_ == channels_.size() ? barrier_ : std::nullopt;
}

void InputGate::Release() {
  std::fill(is_held_.begin(), is_held_.end(), false);
  held_ = 0;
}

bool InputGate::ended() const {
  return times_.all_ended() && std::all_of(channels_.begin(), channels_.end(),
                                           [](const auto& channel) { return channel->is_empty(); });
}

}  // namespace rowtide

// Where the rows of all lanes come into one: a channel from each, merged into one stream.
//
//   from lane 0   rows  W 5  | 7 |  rows …    has brought barrier 7: held back until all have
//   from lane 1   rows  rows  W 9  | 7 | …
//   out           rows rows rows  W 5  | 7 |
//
// Channels take turns, event by event. The watermark is the minimum over those that are neither
// idle nor over (engine/runtime/time_merger.h). A channel that has brought the barrier waits, its
// events stay in its queue, and what comes behind goes on with Release. Used by its lane's thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/operator.h"
#include "engine/runtime/channel.h"
#include "engine/runtime/time_merger.h"

namespace rowtide {

class InputGate {
 public:
  explicit InputGate(int channels, int64_t rows_max = Channel::kRowsMax);

  // Of each channel; before the first event.
  void LimitBytes(int64_t bytes_max);
  int channels() const { return static_cast<int>(channels_.size()); }
  Channel* channel(int from) { return channels_[static_cast<size_t>(from)].get(); }
  void SetConsumer(LaneSignal* consumer);

  // Hands on the next event. False: there is none, or the barrier is here on all channels.
  Result<bool> Step(Collector& out);
  bool is_ready() const;  // Step would hand something on

  // The barrier that all channels have brought, until it is released.
  std::optional<Barrier> aligned() const;
  void Release();
  // All channels are over, and nothing is left in them.
  bool ended() const;

  // As of a snapshot: what all that feeds the gate was told, merged; the gate has told it.
  void RestoreTimes(StreamTime told) { times_.SetAll(told); }

 private:
  Status Take(size_t channel, const ChannelEvent& event, Collector& out);

  std::vector<std::unique_ptr<Channel>> channels_;
  TimeMerger times_;
  std::vector<bool> is_held_;
  size_t held_ = 0;
  std::optional<Barrier> barrier_;  // the newest that some channel has brought
  size_t turn_ = 0;
};

}  // namespace rowtide

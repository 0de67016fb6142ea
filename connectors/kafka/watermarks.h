// The watermark of a lane that reads several partitions: the lowest of those that are not idle.
//
//   partition 0   10   12
//   partition 1        3    idle
//   lane          -    3    12          it never falls
//
// A partition without a row so far holds the others back until it is idle. It is idle when it has
// had no row for `idle_millis` while it could have been read: `Waited` says how long that was, so
// time in which nobody read it (back-pressure, alignment, a broker that is away) does not count.
// When all are idle the lane is, and its watermark stays. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/clock.h"

namespace rowtide {

// Of one partition; part of its position in the snapshot.
struct PartitionWatermark {
  int64_t newest = Time::kNoWatermark;
  int64_t waited_millis = 0;  // since its last row
  bool is_idle = false;

  void Take(int64_t watermark) {
    if (watermark > newest) newest = watermark;
    waited_millis = 0;
    is_idle = false;
  }
  void Waited(int64_t millis, int64_t idle_millis) {
    waited_millis += millis;
    if (idle_millis > 0 && waited_millis >= idle_millis) is_idle = true;
  }
};

// What a lane has told.
class LaneWatermark {
 public:
  // What there is to tell of these partitions, or nothing. `Partitions`: a range of things with a
  // member `watermark`, and `is_done` where nothing more comes.
  template <typename Partitions>
  std::optional<Time> Next(const Partitions& partitions) {
    bool is_idle = true;
    int64_t lowest = Time::kMaxWatermark;
    for (const auto& partition : partitions) {
      if (partition.is_done || partition.watermark.is_idle) continue;
      is_idle = false;
      if (partition.watermark.newest < lowest) lowest = partition.watermark.newest;
    }
    if (is_idle) {
      if (was_idle_) return std::nullopt;
      was_idle_ = true;
      return Time::Idle();
    }
    if (lowest <= told_ && !was_idle_) return std::nullopt;
    if (lowest <= told_ && lowest == Time::kNoWatermark) return std::nullopt;
    // After idleness the watermark is told again, so that this lane counts again.
    was_idle_ = false;
    if (lowest > told_) told_ = lowest;
    return Time::Watermark(told_);
  }

 private:
  int64_t told_ = Time::kNoWatermark;
  bool was_idle_ = false;
};

}  // namespace rowtide

#include "engine/runtime/time_merger.h"

#include <algorithm>

namespace rowtide {

std::optional<Time> TimeMerger::Advance(int input, Time time) {
  Input& one = inputs_[static_cast<size_t>(input)];
  switch (time.kind) {
    case Time::Kind::kWatermark:
      one.watermark = std::max(one.watermark, time.millis);
      one.idle = false;
      return Merged();
    case Time::Kind::kTick:
      if (time.millis <= tick_) return std::nullopt;
      tick_ = time.millis;
      return time;
    case Time::Kind::kIdle: one.idle = true; return Merged();
    case Time::Kind::kEnd: {
      one.ended = true;
      const bool all =
          std::all_of(inputs_.begin(), inputs_.end(), [](const Input& i) { return i.ended; });
      if (all) return Time::End();
      return Merged();
    }
  }
  return std::nullopt;
}

std::optional<Time> TimeMerger::Merged() {
  int64_t lowest = Time::kMaxWatermark;
  bool active = false;
  for (const Input& one : inputs_) {
    if (one.idle) continue;
    active = true;
    lowest = std::min(lowest, one.watermark);
  }
  const bool was_idle = std::exchange(idle_, !active);
  if (!active) return was_idle ? std::nullopt : std::optional(Time::Idle());
  if (lowest <= watermark_) return std::nullopt;
  watermark_ = lowest;
  return Time::Watermark(lowest);
}

void TimeMerger::Snapshot(SnapshotWriter& writer) const {
  writer.PutU32(static_cast<uint32_t>(inputs_.size()));
  for (const Input& one : inputs_) {
    writer.PutI64(one.watermark);
    writer.PutU8(static_cast<uint8_t>(one.idle | (one.ended << 1)));
  }
  writer.PutI64(watermark_);
  writer.PutI64(tick_);
  writer.PutU8(idle_);
}

Status TimeMerger::Restore(SnapshotReader& reader) {
  RT_ASSIGN(const uint32_t count, reader.U32("number of inputs"));
  if (count != inputs_.size()) {
    return Status::Corruption("the snapshot has a node of {} inputs where the job has {}", count,
                              inputs_.size());
  }
  for (Input& one : inputs_) {
    RT_ASSIGN(one.watermark, reader.I64("watermark of an input"));
    RT_ASSIGN(const uint8_t flags, reader.U8("flags of an input"));
    one.idle = (flags & 1) != 0;
    one.ended = (flags & 2) != 0;
  }
  RT_ASSIGN(watermark_, reader.I64("watermark"));
  RT_ASSIGN(tick_, reader.I64("tick"));
  RT_ASSIGN(const uint8_t idle, reader.U8("idle"));
  idle_ = idle != 0;
  return Status::Ok();
}

}  // namespace rowtide

#include "engine/runtime/time_merger.h"

#include <algorithm>

namespace rowtide {

void StreamTime::Take(Time time) {
  switch (time.kind) {
    case Time::Kind::kWatermark:
      watermark = std::max(watermark, time.millis);
      idle = false;
      return;
    case Time::Kind::kTick: return;
    case Time::Kind::kIdle: idle = true; return;
    case Time::Kind::kEnd: ended = true; return;
  }
}

StreamTime StreamTime::Of(std::span<const StreamTime> lanes) {
  StreamTime merged{Time::kMaxWatermark, true, true};
  for (const StreamTime& lane : lanes) {
    merged.idle &= lane.idle;
    merged.ended &= lane.ended;
  }
  for (const StreamTime& lane : lanes) {
    if (merged.idle || !lane.idle) merged.watermark = std::min(merged.watermark, lane.watermark);
  }
  return merged;
}

void StreamTime::Snapshot(SnapshotWriter& writer) const {
  writer.PutI64(watermark);
  writer.PutU8(static_cast<uint8_t>(idle | (ended << 1)));
}

Status StreamTime::Restore(SnapshotReader& reader) {
  RT_ASSIGN(watermark, reader.I64("watermark of an input"));
  RT_ASSIGN(const uint8_t flags, reader.U8("flags of an input"));
  idle = (flags & 1) != 0;
  ended = (flags & 2) != 0;
  return Status::Ok();
}

std::optional<Time> TimeMerger::Advance(int input, Time time) {
  StreamTime& one = inputs_[static_cast<size_t>(input)];
  if (one.ended) return std::nullopt;
  one.Take(time);
  switch (time.kind) {
    case Time::Kind::kTick:
      if (std::exchange(tick_is_restored_, false) ? time.millis == tick_ : time.millis <= tick_)
        return std::nullopt;
      tick_ = time.millis;
      return time;
    case Time::Kind::kEnd:
      if (all_ended()) return Time::End();
      return Merged();
    case Time::Kind::kWatermark:
    case Time::Kind::kIdle: return Merged();
  }
  return std::nullopt;
}

bool TimeMerger::all_ended() const {
  return std::all_of(inputs_.begin(), inputs_.end(), [](const StreamTime& i) { return i.ended; });
}

std::optional<Time> TimeMerger::Merged() {
  int64_t lowest = Time::kMaxWatermark;
  bool active = false;
  for (const StreamTime& one : inputs_) {
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

void TimeMerger::SetAll(StreamTime time) {
  std::fill(inputs_.begin(), inputs_.end(), time);
  watermark_ = time.watermark;
  idle_ = time.idle;
}

void TimeMerger::Snapshot(SnapshotWriter& writer) const {
  writer.PutU32(static_cast<uint32_t>(inputs_.size()));
  for (const StreamTime& one : inputs_) one.Snapshot(writer);
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
  for (StreamTime& one : inputs_) RT_TRY(one.Restore(reader));
  RT_ASSIGN(watermark_, reader.I64("watermark"));
  RT_ASSIGN(tick_, reader.I64("tick"));
  tick_is_restored_ = true;
  RT_ASSIGN(const uint8_t idle, reader.U8("idle"));
  idle_ = idle != 0;
  return Status::Ok();
}

Status TimeMerger::Merge(SnapshotReader& reader) {
  TimeMerger other(static_cast<int>(inputs_.size()));
  RT_TRY(other.Restore(reader));
  for (size_t i = 0; i < inputs_.size(); ++i)
    inputs_[i] = StreamTime::Of({{inputs_[i], other.inputs_[i]}});
  watermark_ = std::min(watermark_, other.watermark_);
  tick_ = std::max(tick_, other.tick_);
  idle_ &= other.idle_;
  return Status::Ok();
}

}  // namespace rowtide

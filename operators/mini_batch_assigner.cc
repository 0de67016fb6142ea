#include "operators/mini_batch_assigner.h"

#include <algorithm>

#include "engine/snapshot.h"

namespace rowtide {

Result<std::unique_ptr<Operator>> MiniBatchAssigner::Create(MiniBatchAssignerSpec spec,
                                                            const Schema& input,
                                                            const OperatorContext&) {
  if (spec.interval_millis <= 0) {
    return Status::InvalidArgument(
        "table.exec.mini-batch.allow-latency must be more than 0 ms, not {}", spec.interval_millis);
  }
  return std::unique_ptr<Operator>(new MiniBatchAssigner(spec, input));
}

MiniBatchAssigner::MiniBatchAssigner(MiniBatchAssignerSpec spec, const Schema& schema)
    : spec_(spec), schema_(schema), next_(spec.interval_millis - 1) {}

Status MiniBatchAssigner::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  return out.Emit(batch);
}

Status MiniBatchAssigner::Advance(int /*input*/, Time time, Collector& out) {
  return spec_.rowtime ? AdvanceRowtime(time, out) : AdvanceProctime(time, out);
}

int64_t MiniBatchAssigner::StartOfInterval(int64_t millis) const {
  const int64_t rest = millis % spec_.interval_millis;
  return millis - (rest < 0 ? rest + spec_.interval_millis : rest);
}

Status MiniBatchAssigner::EmitWatermark(Collector& out) {
  held_back_ = false;
  RT_TRY(out.Advance(Time::Watermark(current_)));
  const int64_t end = StartOfInterval(current_) + spec_.interval_millis - 1;
  next_ = end > current_ ? end : end + spec_.interval_millis;
  return Status::Ok();
}

Status MiniBatchAssigner::AdvanceRowtime(Time time, Collector& out) {
  switch (time.kind) {
    case Time::Kind::kTick:
    case Time::Kind::kIdle: return out.Advance(time);
    case Time::Kind::kEnd:
      if (held_back_) RT_TRY(EmitWatermark(out));
      return out.Advance(time);
    case Time::Kind::kWatermark: break;
  }
  if (time.millis == Time::kMaxWatermark) {
    current_ = time.millis;
    held_back_ = false;
    return out.Advance(time);
  }
  held_back_ |= time.millis > current_;
  current_ = std::max(current_, time.millis);
  return current_ >= next_ ? EmitWatermark(out) : Status::Ok();
}

Status MiniBatchAssigner::AdvanceProctime(Time time, Collector& out) {
  switch (time.kind) {
    case Time::Kind::kIdle:
    case Time::Kind::kEnd: return out.Advance(time);
    case Time::Kind::kWatermark:
      return time.millis == Time::kMaxWatermark ? out.Advance(time) : Status::Ok();
    case Time::Kind::kTick: break;
  }
  const int64_t start = StartOfInterval(time.millis);
  if (start == current_) return Status::Ok();  // lower: of a process whose clock was ahead
  current_ = start;
  return out.Advance(Time::Tick(start));
}

Status MiniBatchAssigner::Snapshot(SnapshotWriter& writer) const {
  writer.PutI64(current_);
  writer.PutI64(next_);
  writer.PutU8(held_back_ ? 1 : 0);
  return Status::Ok();
}

Status MiniBatchAssigner::Restore(SnapshotReader& reader) {
  RT_ASSIGN(current_, reader.I64("mini-batch watermark"));
  RT_ASSIGN(next_, reader.I64("mini-batch end"));
  RT_ASSIGN(const uint8_t held_back, reader.U8("mini-batch held back"));
  held_back_ = held_back != 0;
  return Status::Ok();
}

Status MiniBatchAssigner::Merge(SnapshotReader& reader) {
  RT_ASSIGN(const int64_t current, reader.I64("mini-batch watermark"));
  RT_ASSIGN(const int64_t next, reader.I64("mini-batch end"));
  RT_ASSIGN(const uint8_t held_back, reader.U8("mini-batch held back"));
  current_ = std::min(current_, current);
  next_ = std::min(next_, next);
  held_back_ |= held_back != 0;
  return Status::Ok();
}

}  // namespace rowtide

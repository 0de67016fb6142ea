// Says when mini-batch bundles downstream are flushed: once per `allow-latency` interval.
//
//   ProcTime   a tick of each interval goes on, event-time watermarks end here
//   RowTime    watermarks 3 7 12 14 25, interval 10   ->   12 25: the first at or behind each last
//              millisecond (9, 19, …), and what was held back at the end
//
// Rows pass unchanged. State: the newest watermark (or tick) and where the next one is due. Behaves
// as Flink's ProcTime- and RowTimeMiniBatchAssigner.
#pragma once

#include <memory>

#include "engine/operator.h"

namespace rowtide {

struct MiniBatchAssignerSpec {
  int64_t interval_millis = 0;
  bool rowtime = false;
};

class MiniBatchAssigner final : public Operator {
 public:
  static Result<std::unique_ptr<Operator>> Create(MiniBatchAssignerSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  const Schema& output_schema() const override { return schema_; }
  Status Process(int input, const RowBatch& batch, Collector& out) override;
  Status Advance(int input, Time time, Collector& out) override;
  Status Snapshot(SnapshotWriter& writer) const override;
  Status Restore(SnapshotReader& reader) override;
  Status Merge(SnapshotReader& reader) override;

 private:
  MiniBatchAssigner(MiniBatchAssignerSpec spec, const Schema& schema);
  Status AdvanceRowtime(Time time, Collector& out);
  Status AdvanceProctime(Time time, Collector& out);
  int64_t StartOfInterval(int64_t millis) const;
  Status EmitWatermark(Collector& out);

  MiniBatchAssignerSpec spec_;
  Schema schema_;
  int64_t current_ = 0;  // newest watermark seen, or newest tick passed on
  int64_t next_ = 0;     // RowTime: the watermark at which the interval is over
  bool held_back_ = false;
};

}  // namespace rowtide

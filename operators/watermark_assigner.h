// Makes watermarks from rows: `WATERMARK FOR ts AS ts - INTERVAL '5' SECOND`.
//
//   rows      ts 10   ts 7   ts 12         (delay 5, a watermark after every row)
//   output    ts 10, WM 5, ts 7, ts 12, WM 7
//
// A watermark follows the row it comes from, or with `rows_between` > 1 every that many rows,
// counted, never timed, so a run can be repeated exactly; the batch is cut where one must come
// between. Watermarks only increase; an expression that is NULL makes none; a NULL row time fails
// the job. Watermarks from above end here, but for the last. Without an expression
// (SOURCE_WATERMARK) they pass. State: the newest watermark, rows since the last one.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>

#include "operators/expressions/evaluator.h"
#include "operators/keyed_operator.h"

namespace rowtide {

inline constexpr int kRowsBetweenWatermarks = 1024;

struct WatermarkAssignerSpec {
  int rowtime = 0;                            // a TIMESTAMP or TIMESTAMP_LTZ column
  std::optional<Expression> watermark;        // none: the source makes them
  int rows_between = kRowsBetweenWatermarks;  // 1 = on-event
  bool defers_to_batch_end =
      false;  // at most one watermark, after the batch: a test of what must not matter
};

class WatermarkAssigner final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(WatermarkAssignerSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  Status Advance(int input, Time time, Collector& out) override;

 private:
  WatermarkAssigner(WatermarkAssignerSpec spec, Schema schema, std::optional<Evaluator> watermark);
  Status EmitRows(const RowBatch& batch, int first, int end, Collector& out) const;
  Status EmitWatermark(Collector& out);

  struct Numbers {
    int64_t newest = Time::kNoWatermark;
    int64_t emitted = Time::kNoWatermark;
    int64_t rows = 0;  // since the last count of rows_between
    void Merge(const Numbers& other) {
      newest = std::min(newest, other.newest);
      emitted = std::min(emitted, other.emitted);
      rows = std::min(rows, other.rows);
    }
  };

  WatermarkAssignerSpec spec_;
  std::optional<Evaluator> watermark_;
  SavedNumbers<Numbers> numbers_;
};

}  // namespace rowtide

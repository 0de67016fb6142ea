// ON CONFLICT DO ERROR and DO NOTHING: lets a key's changes settle until the next watermark, then
// puts out what is left.
//
//   pending of key a since the last watermark     shown before   at the watermark
//   +I 1                                          –              +I 1
//   -U 1, +U 2 (in any order)                     1              +U 2
//   -D 2                                          2              -D 2
//   +I 1, +I 2                                    –              ERROR: fails   NOTHING: +I 1
//   +I 3                                          1              ERROR: fails   NOTHING: –
//
// Rows match as in sink_materializer.h. Keys leave in order of first arrival. flink-rank-dedup.md
// 9.3. State: pending rows of each key, the row shown of each key. Counter: `unmatched_retraction`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operators/keyed_operator.h"
#include "operators/mini_batch.h"
#include "operators/output_rows.h"
#include "state/value_state.h"

namespace rowtide {

struct WatermarkCompactingMaterializerSpec {
  std::vector<int> primary_key;
  std::vector<int> upsert_key;    // none = rows match by content
  bool fails_on_conflict = true;  // DO ERROR; else DO NOTHING
};

class WatermarkCompactingMaterializer final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(WatermarkCompactingMaterializerSpec spec,
                                                  const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  ShownStates Shown() override;
  Status Advance(int input, Time time, Collector& out) override;

 private:
  WatermarkCompactingMaterializer(WatermarkCompactingMaterializerSpec spec, const Schema& input,
                                  const OperatorContext& context);
  Status Compact(Collector& out);
  Status CompactKey(uint32_t key, Entry shown);
  // The index of the first of `rows_` that matches, or -1.
  int FindFirst(std::string_view row) const;
  bool SameUpsertKey(std::string_view a, std::string_view b) const;
  Status Conflict(std::string_view row) const;

  WatermarkCompactingMaterializerSpec spec_;
  Schema schema_;
  int64_t* unmatched_retractions_;
  int64_t* conflicts_;  // rows that ON CONFLICT DO NOTHING leaves out
  KeyCodec key_codec_;
  RowCodec row_codec_;
  Bundle pending_;
  ValueState shown_;
  OutputRows output_;

  // --- scratch ---
  KeyBatch keys_;
  EncodedRows encoded_;
  std::vector<Entry> entries_;
  std::vector<std::string_view> rows_;
};

}  // namespace rowtide

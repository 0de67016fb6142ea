// Turns an upsert stream into a full changelog: the last row of each key is kept, and compared with
// what comes.
//
//   +U a1   +U a1   +U a2          -D (a)   -D (b)        rows of the keys a and b
//   +I a1   –       -U a1, +U a2   -D a2    –
//
// A deletion puts out the stored row, not the incoming one, whose other columns may be NULL;
// deletions of unknown keys are counted. Equal rows are dropped unless a TTL is set. With a
// condition, only rows that pass it exist: one that ceases to pass is deleted. With mini-batch only
// the last message of a key in a bundle counts. flink-rank-dedup.md 6.4, 6.5, 9.4.
//
// State: a row per key; the bundle. Counters: `unmatched_retraction`, `expired`.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "operators/bundle_rows.h"
#include "operators/expressions/evaluator.h"
#include "operators/keyed_operator.h"
#include "operators/mini_batch.h"
#include "operators/output_rows.h"
#include "state/value_state.h"

namespace rowtide {

struct ChangelogNormalizeSpec {
  std::vector<int> keys;
  std::optional<Expression> condition;
  bool generates_update_before = true;
  MiniBatch mini_batch;
};

class ChangelogNormalize final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(ChangelogNormalizeSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  ShownStates Shown() override;
  Status Advance(int input, Time time, Collector& out) override;

 private:
  ChangelogNormalize(ChangelogNormalizeSpec spec, const Schema& input,
                     std::optional<Evaluator> condition, const OperatorContext& context);
  Status AddToBundle(const RowBatch& batch, Collector& out);
  Status FlushBundle(Collector& out);
  // Rows of `batch`, whose keys are `keys`.
  Status Apply(const RowBatch& batch, const KeyBatch& keys, Collector& out);
  void Upsert(Entry entry, std::string_view row, bool passes);
  void Delete(Entry entry);

  ChangelogNormalizeSpec spec_;
  bool ttl_;
  std::optional<Evaluator> condition_;
  int64_t* null_keys_;
  int64_t* unmatched_retractions_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  ValueState last_;
  Bundle bundle_;
  OutputRows output_;

  // --- scratch ---
  KeyBatch keys_;
  KeyBatch bundle_keys_;
  BundleRows bundle_rows_;
  EncodedRows arriving_;  // on their way into the bundle
  EncodedRows encoded_;
  std::vector<Entry> entries_;
  std::vector<int32_t> passing_;
  std::vector<uint8_t> passes_;
};

}  // namespace rowtide

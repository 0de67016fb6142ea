// Makes upserts by a sink's primary key out of a changelog that is keyed otherwise: the last of the
// rows that live under a key is the one that shows.
//
//   live rows of key a   -         [1]       [1 2]     [1 2 1]   [2 1]     [2]        []
//   input                    +I 1      +I 2      +I 1      -D 1      -D 1       -D 2
//   output                   +I 1      +U 2      +U 1      –         +U 2       -D 2
//
// Rows match by the input's upsert key, which a new version replaces in place, or else by content;
// a retraction takes the first match. What is not found is counted. A change costs O(log rows of
// the key). flink-rank-dedup.md 9.2.
//
// State: the rows of each key by arrival, and an index of them by what they match with. Counters:
// `unmatched_retraction`, `expired`.
#pragma once

#include <memory>
#include <vector>

#include "operators/keyed_operator.h"
#include "operators/output_rows.h"
#include "state/ordered_state.h"
#include "state/row_codec.h"

namespace rowtide {

struct SinkMaterializerSpec {
  std::vector<int> primary_key;  // of the sink
  std::vector<int> upsert_key;   // of the input; none = rows match by content
};

class SinkMaterializer final : public KeyedOperator {
 public:
  static Result<std::unique_ptr<Operator>> Create(SinkMaterializerSpec spec, const Schema& input,
                                                  const OperatorContext& context);

  Status Process(int input, const RowBatch& batch, Collector& out) override;
  ShownStates Shown() override;

 private:
  SinkMaterializer(SinkMaterializerSpec spec, const Schema& input, const OperatorContext& context);
  struct Key {
    Entry rows;
    Entry index;
  };
  struct Match {
    int64_t in_index = -1;  // positions; -1 = none
    int64_t in_rows = -1;
  };
  void Add(Key key, std::string_view row, SortKeyView match);
  void Remove(Key key, std::string_view row, SortKeyView match);
  Match FindFirst(Key key, std::string_view row, SortKeyView match) const;

  SinkMaterializerSpec spec_;
  int64_t* unmatched_retractions_;
  KeyCodec key_codec_;
  RowCodec row_codec_;
  SortKeyCodec match_codec_;
  OrderedState rows_;   // sort key: arrival, big-endian
  OrderedState index_;  // sort key: upsert key or hash of the content; row: the arrival
  OutputRows output_;

  // --- scratch ---
  KeyBatch keys_;
  SortKeyBatch matches_;
  EncodedRows encoded_;
  std::vector<Entry> row_keys_;
  std::vector<Entry> index_keys_;
};

}  // namespace rowtide

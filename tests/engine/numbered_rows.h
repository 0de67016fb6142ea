// Rows with a number, and a source of them in order: what tests of the runtime send through jobs.
// Where the source stands is the next number, so a test can tell what a snapshot must hold.
//
//   NumberedSource(schema, row_of, {3, 8}, 2)   ->   rows 3 4 | 5 6 | 7, then the end
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/snapshot.h"
#include "engine/source.h"

namespace rowtide {

using KeyedNumber = std::pair<int64_t, int64_t>;

inline Schema KeyAndNumber() { return Schema({{"k", Type::BigInt()}, {"n", Type::BigInt()}}); }

inline RowBatch BatchOf(const std::vector<KeyedNumber>& rows) {
  std::vector<std::pair<RowKind, std::vector<Value>>> values;
  for (const auto& [key, number] : rows)
    values.push_back({RowKind::kInsert, {Value(key), Value(number)}});
  return BatchOf(KeyAndNumber(), values);
}

class NumberedSource : public Source {
 public:
  using RowOf = std::function<std::vector<Value>(int64_t number)>;
  struct Range {
    int64_t next = 0;
    int64_t end = -1;  // below 0: for ever
  };
  NumberedSource(Schema schema, RowOf row_of, Range range, int64_t batch_rows)
      : schema_(std::move(schema)),
        row_of_(std::move(row_of)),
        range_(range),
        batch_rows_(batch_rows) {}
  // Rows of KeyAndNumber: each number under the key that `key_of` says.
  static RowOf Keyed(std::function<int64_t(int64_t)> key_of) {
    return [key_of = std::move(key_of)](int64_t number) {
      return std::vector<Value>{Value(key_of(number)), Value(number)};
    };
  }

  const Schema& output_schema() const override { return schema_; }
  Result<SourceState> Poll(Collector& out) override { return Give(batch_rows_, out); }
  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutI64(range_.next);
    return Status::Ok();
  }
  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(range_.next, reader.I64("next"));
    return Status::Ok();
  }
  // All of it is read by one lane: the others have come to nothing.
  Status Merge(SnapshotReader& reader) override {
    RT_ASSIGN(const int64_t other, reader.I64("next"));
    range_.next = std::max(range_.next, other);
    return Status::Ok();
  }

 protected:
  Result<SourceState> Give(int64_t rows, Collector& out) {
    std::vector<std::pair<RowKind, std::vector<Value>>> values;
    for (; rows > 0 && !is_over(); --rows)
      values.push_back({RowKind::kInsert, row_of_(range_.next++)});
    if (!values.empty()) RT_TRY(out.Emit(BatchOf(schema_, values)));
    return is_over() ? SourceState::kEnd : SourceState::kMore;
  }
  int64_t next() const { return range_.next; }
  bool is_over() const { return range_.end >= 0 && range_.next >= range_.end; }

 private:
  Schema schema_;
  RowOf row_of_;
  Range range_;
  int64_t batch_rows_;
};

}  // namespace rowtide

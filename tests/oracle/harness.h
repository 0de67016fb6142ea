// Drives one operator in a test: rows in as values, rows out as values, through any cut into
// batches and any number of restores through bytes; and folds a changelog into the table it stands
// for.
//
//   Harness harness([&](const OperatorContext& context) { return Create(spec, context); }, schema);
//   harness.Process({{RowKind::kInsert, {int64_t{1}, std::string("a")}}});
//   harness.Restore();                       snapshot, destroy, create, restore; the snapshot of
//                                            that is the same
//   harness.Take()                           what was emitted since
//
// Folded::Apply fails on a retraction of a row that is not there. Used by tests/operators and the
// oracle.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/script/map_backend.h"
#include "engine/batch_builder.h"
#include "engine/operator.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"
#include "state/state_tier.h"

namespace rowtide {

struct TestRow {
  RowKind kind = RowKind::kInsert;
  std::vector<Value> values;
};
using TestRows = std::vector<TestRow>;

inline std::string ValuesText(const std::vector<Value>& values, const Schema& schema) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += ",";
    AppendScriptText(values[i], schema.type(static_cast<int>(i)), &text);
  }
  return text + "]";
}

inline std::string RowText(const TestRow& row, const Schema& schema) {
  return std::string(Text(row.kind)) + " " + ValuesText(row.values, schema);
}

// The rows of a changelog, as a multiset of their text.
class Folded {
 public:
  // False when the row takes away what is not there.
  bool Apply(RowKind kind, const std::string& row) {
    if (Adds(kind)) {
      ++rows_[row];
      return true;
    }
    const auto at = rows_.find(row);
    if (at == rows_.end()) return false;
    if (--at->second == 0) rows_.erase(at);
    return true;
  }
  const std::map<std::string, int>& rows() const { return rows_; }

 private:
  std::map<std::string, int> rows_;
};

class Harness final : public Collector {
 public:
  using Factory = std::function<Result<std::unique_ptr<Operator>>(const OperatorContext&)>;

  // `more_inputs`: the schemas of inputs 1, 2, ... when they differ.
  Harness(Factory factory, Schema input, OperatorContext settings = {},
          std::vector<Schema> more_inputs = {})
      : factory_(std::move(factory)),
        input_(std::move(input)),
        more_inputs_(std::move(more_inputs)) {
    context_ = settings;
    context_.clock = &clock_;
    context_.counters = &counters_;
    context_.state_size = &size_;
    Make();
  }
  ~Harness() override { operator_.reset(); }

  ManualClock& clock() { return clock_; }
  const StateSize& size() const { return size_; }
  int64_t count(const std::string& counter) { return *counters_.Find(counter); }
  Operator& op() { return *operator_; }
  const Schema& output() const { return operator_->output_schema(); }
  const Schema& input(int number = 0) const {
    return number == 0 || more_inputs_.empty() ? input_
                                               : more_inputs_[static_cast<size_t>(number) - 1];
  }

  // The rows as one batch; the status is the operator's.
  Status Process(const TestRows& rows, int input = 0) {
    if (rows.empty()) return Status::Ok();
    std::vector<std::pair<RowKind, std::vector<Value>>> pairs;
    for (const TestRow& row : rows) pairs.emplace_back(row.kind, row.values);
    const RowBatch batch = BatchOf(this->input(input), pairs);
    RT_TRY(operator_->Process(input, batch, *this));
    return tier_ ? tier_->Work() : Status::Ok();
  }
  Status Watermark(int64_t millis) { return AdvanceTime(Time::Watermark(millis)); }
  Status AdvanceTime(Time time) {
    RT_TRY(operator_->Advance(0, time, *this));
    return tier_ ? tier_->Work() : Status::Ok();
  }

  // A new operator with a tier beneath, whose backend holds `below`. With a few bytes allowed,
  // every entry leaves memory after each batch.
  void UseTier(int64_t bytes_max, MapBackend::Table below = {}, bool restored = false) {
    operator_.reset();
    tier_.reset();
    tier_bytes_max_ = bytes_max;
    backend_ = std::make_unique<MapBackend>(std::move(below));
    tier_ =
        std::make_unique<StateTier>(backend_.get(), StateTier::Options{bytes_max, restored, true});
    context_.tier = tier_.get();
    Make();
  }
  // The operator's bytes; with a tier, what lies below goes to `below`.
  std::string Checkpoint(MapBackend::Table* below) {
    if (!tier_) return SnapshotBytes();
    EXPECT_TRUE(tier_->BeginCheckpoint("checkpoint").ok());
    std::string bytes = SnapshotBytes();
    EXPECT_TRUE(tier_->WaitWritten().ok());
    *below = backend_->checkpoint("checkpoint");
    return bytes;
  }

  std::string SnapshotBytes() const {
    SnapshotWriter writer;
    EXPECT_TRUE(operator_->Snapshot(writer).ok());
    return writer.Take();
  }
  // Through bytes into a new operator. The state's size has to come out the same as far as entries
  // go.
  void Restore() {
    MapBackend::Table below;
    const std::string bytes = Checkpoint(&below);
    const int64_t entries = size_.entries;
    operator_.reset();
    EXPECT_EQ(size_.entries, 0) << "entries are left over when the operator is gone";
    EXPECT_EQ(size_.bytes, 0) << "bytes are left over when the operator is gone";
    if (tier_) {
      UseTier(tier_bytes_max_, std::move(below), true);
    } else {
      Make();
    }
    SnapshotReader reader(bytes);
    const Status status = operator_->Restore(reader);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_TRUE(reader.AtEnd());
    EXPECT_TRUE(tier_ || size_.entries == entries);
    EXPECT_EQ(SnapshotBytes(), bytes) << "a restored operator has another snapshot";
  }

  // Into the operator as it was made, from the snapshots of several lanes.
  void RestoreFrom(const std::vector<std::string>& lanes) {
    for (size_t lane = 0; lane < lanes.size(); ++lane) {
      SnapshotReader reader(lanes[lane]);
      const Status status = lane == 0 ? operator_->Restore(reader) : operator_->Merge(reader);
      ASSERT_TRUE(status.ok()) << status.ToString();
      EXPECT_TRUE(reader.AtEnd());
    }
  }

  // What was emitted since the last call.
  TestRows Take() { return std::exchange(emitted_, {}); }
  std::string TakeText() {
    std::string text;
    for (const TestRow& row : Take()) text += RowText(row, output()) + "\n";
    return text;
  }
  int64_t watermarks() const { return watermarks_; }

  Status Emit(RowBatch batch) override {
    const Schema& schema = operator_->output_schema();
    EXPECT_GT(batch.rows, 0);
    EXPECT_LE(batch.rows, kBatchRows);
    EXPECT_EQ(static_cast<int>(batch.columns.size()), schema.size());
    for (int row = 0; row < batch.rows; ++row) {
      TestRow emitted{batch.kind(row), {}};
      for (int i = 0; i < schema.size(); ++i)
        emitted.values.push_back(ValueAt(batch, i, row, schema.type(i)));
      emitted_.push_back(std::move(emitted));
    }
    return Status::Ok();
  }
  Status Advance(Time /*time*/) override {
    ++watermarks_;
    return Status::Ok();
  }

 private:
  void Make() {
    auto made = factory_(context_);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    operator_ = std::move(*made);
  }

  Factory factory_;
  Schema input_;
  std::vector<Schema> more_inputs_;
  ManualClock clock_{1'700'000'000'000};
  Counters counters_;
  StateSize size_;
  OperatorContext context_;
  int64_t tier_bytes_max_ = 0;
  std::unique_ptr<MapBackend> backend_;
  std::unique_ptr<StateTier> tier_;
  std::unique_ptr<Operator> operator_;
  TestRows emitted_;
  int64_t watermarks_ = 0;
};

}  // namespace rowtide

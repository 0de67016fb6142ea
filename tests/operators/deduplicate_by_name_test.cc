// The last row of each key by name against the same rows by value: whoever remembers the first text
// of each name and never asks again sees the same changelog.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/named_rows.h"
#include "operators/deduplicate.h"
#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

Schema Bids() {
  return Schema({{"auction", Type::BigInt()},
                 {"channel", Type::String()},
                 {"at", Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime)},
                 {"extra", Type::String()}});
}

DeduplicateSpec Kept(bool last) {
  DeduplicateSpec spec;
  spec.schema = Bids();
  spec.keys = {0};
  spec.rowtime = true;
  spec.order_column = 2;
  spec.keeps_last = last;
  return spec;
}

// Takes rows by name. A name that is known is not asked for again, so a wrong one shows.
class ByName final : public Collector, private NamedRowsTaker {
 public:
  Status Emit(RowBatch batch) override { return out_.Emit(std::move(batch)); }
  Status Advance(Time time) override { return out_.Advance(time); }
  NamedRowsTaker* named_rows() override { return this; }
  std::vector<std::string>& lines() { return out_.lines; }
  size_t asked() const { return texts_.size(); }
  size_t by_name = 0;

 private:
  Status Take(const NamedRows& rows) override {
    EXPECT_TRUE(rows.numbers.empty());
    std::vector<int32_t> wanted;
    for (size_t row = 0; row < rows.names.size(); ++row) {
      EXPECT_NE(rows.names[row], 0u);
      if (texts_.try_emplace(rows.names[row]).second) wanted.push_back(static_cast<int32_t>(row));
    }
    // As many at once as may be.
    for (size_t first = 0; first < wanted.size(); first += kBatchRows) {
      const std::span<const int32_t> some = std::span<const int32_t>(wanted).subspan(
          first, std::min<size_t>(kBatchRows, wanted.size() - first));
      const RowBatch batch = rows.Values(some);
      EXPECT_EQ(batch.rows, static_cast<int>(some.size()));
      for (int row = 0; row < batch.rows; ++row) {
        const auto listed = static_cast<size_t>(some[static_cast<size_t>(row)]);
        AppendScriptRow(batch, row, Bids(), &texts_[rows.names[listed]]);
      }
    }
    for (size_t row = 0; row < rows.names.size(); ++row) {
      std::string line = texts_[rows.names[row]];
      line.replace(0, 2, Text(rows.kinds[row]));
      out_.lines.push_back(std::move(line));
    }
    by_name += rows.names.size();
    return Status::Ok();
  }

  ScriptCollector out_{Bids()};
  std::map<uint64_t, std::string> texts_;
};

// Few keys that come again and again; some fields are NULL, some long, times go back and forth.
RowBatch MadeUp(std::mt19937* random, int keys, int rows) {
  std::vector<std::pair<RowKind, std::vector<Value>>> made;
  for (int row = 0; row < rows; ++row) {
    const auto any = [&](int below) {
      return static_cast<int64_t>((*random)() % static_cast<unsigned>(below));
    };
    std::vector<Value> values = {any(keys), std::string(static_cast<size_t>(any(30)), 'c'),
                                 1'000'000 + any(5000),
                                 std::string(static_cast<size_t>(any(200)), 'e')};
    if (any(10) == 0) values[static_cast<size_t>(any(2))] = {};
    if (any(10) == 0) values[3] = {};
    made.emplace_back(RowKind::kInsert, std::move(values));
  }
  return BatchOf(Bids(), made);
}

void Compare(const DeduplicateSpec& spec, int keys, int rows, bool comes_by_name) {
  Bench bench[2];
  std::unique_ptr<Operator> ops[2];
  for (int i = 0; i < 2; ++i) {
    ops[i] = Made([&](const OperatorContext& context) { return Create(spec, context); },
                  bench[i].context);
  }
  ScriptCollector by_value(Bids());
  ByName by_name;
  std::mt19937 random(11);
  for (int step = 0; step < 60; ++step) {
    const RowBatch batch = MadeUp(&random, keys, step % 10 == 0 ? 1 : rows);
    ASSERT_TRUE(ops[0]->Process(0, batch, by_value).ok());
    ASSERT_TRUE(ops[1]->Process(0, batch, by_name).ok());
    ASSERT_EQ(by_name.lines(), by_value.lines);
    by_name.lines().clear();
    by_value.lines.clear();
    if (step % 9 != 8) continue;
    const std::string bytes = SnapshotOf(*ops[0]);
    EXPECT_EQ(SnapshotOf(*ops[1]), bytes);
    for (const auto& op : ops) {
      SnapshotReader reader(bytes);
      ASSERT_TRUE(op->Restore(reader).ok());
    }
  }
  EXPECT_EQ(by_name.by_name > 0, comes_by_name);
  if (comes_by_name) {
    EXPECT_LT(by_name.asked(), by_name.by_name);
  }
}

TEST(DeduplicateByName, SameRowsAsByValue) {
  for (const bool last : {true, false}) {
    Compare(Kept(last), 3, 900, true);
    Compare(Kept(last), 700, kBatchRows, true);
    Compare(Kept(last), 40, 5, true);
  }
}

TEST(DeduplicateByName, NothingGoesOutTwiceWithoutBefore) {
  DeduplicateSpec spec = Kept(true);
  spec.emits_update_before = false;
  Compare(spec, 40, 900, false);
}

}  // namespace
}  // namespace rowtide

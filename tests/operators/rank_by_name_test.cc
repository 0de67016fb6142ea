// Top-N rows by name against the same rows by value: whoever remembers the first text of each name
// and never asks again sees the same changelog.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/named_rows.h"
#include "operators/rank.h"
#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

Schema Bids() {
  return Schema({{"auction", Type::BigInt()},
                 {"price", Type::BigInt()},
                 {"channel", Type::String()},
                 {"extra", Type::String()}});
}

RankSpec TopN(int64_t start, int64_t end, bool before) {
  RankSpec spec;
  spec.input = Bids();
  spec.output = Bids();
  spec.output.Add({"rn", Type::BigInt().NotNull()});
  spec.partition = {0};
  spec.order = {{1, true, false}};
  spec.start = start;
  spec.end = end;
  spec.strategy = RankSpec::Strategy::kAppendFast;
  spec.emits_update_before = before;
  return spec;
}

// Takes rows by name. A name that is known is not asked for again, so a wrong one shows.
class ByName final : public Collector, private NamedRowsTaker {
 public:
  explicit ByName(const Schema& output) : values_(Bids()), out_(output) {}

  Status Emit(RowBatch batch) override { return out_.Emit(std::move(batch)); }
  Status Advance(Time time) override { return out_.Advance(time); }
  NamedRowsTaker* named_rows() override { return is_on ? this : nullptr; }
  std::vector<std::string>& lines() { return out_.lines; }
  size_t asked() const { return texts_.size(); }
  size_t by_name = 0;
  bool is_on = true;

 private:
  Status Take(const NamedRows& rows) override {
    std::vector<int32_t> wanted;
    for (size_t row = 0; row < rows.names.size(); ++row) {
      EXPECT_NE(rows.names[row], 0u);
      if (texts_.try_emplace(rows.names[row]).second) wanted.push_back(static_cast<int32_t>(row));
    }
    const RowBatch batch = rows.Values(wanted);
    EXPECT_EQ(batch.rows, static_cast<int>(wanted.size()));
    for (int row = 0; row < batch.rows; ++row) {
      std::string& text = texts_[rows.names[static_cast<size_t>(wanted[static_cast<size_t>(row)])]];
      AppendScriptRow(batch, row, values_, &text);
    }
    for (size_t row = 0; row < rows.names.size(); ++row) {
      std::string line = texts_[rows.names[row]];
      line.replace(0, 2, Text(rows.kinds[row]));
      line.replace(line.size() - 1, 1, "," + std::to_string(rows.numbers[row]) + "]");
      out_.lines.push_back(std::move(line));
    }
    by_name += rows.names.size();
    return Status::Ok();
  }

  Schema values_;
  ScriptCollector out_;
  std::map<uint64_t, std::string> texts_;
};

// Bids on a window of auctions that moves on, as in an auction house; some fields are NULL, some
// long.
RowBatch MadeUp(std::mt19937* random, int64_t first_auction, int64_t auctions, int rows) {
  std::vector<std::pair<RowKind, std::vector<Value>>> made;
  for (int row = 0; row < rows; ++row) {
    const auto any = [&](unsigned below) { return static_cast<int64_t>((*random)() % below); };
    std::vector<Value> values = {first_auction + any(static_cast<unsigned>(auctions)), any(50),
                                 std::string(static_cast<size_t>(any(30)), 'c'),
                                 std::string(static_cast<size_t>(any(200)), 'e')};
    if (any(10) == 0) values[static_cast<size_t>(any(4))] = {};
    if (any(3000) == 0) values[3] = std::string(70'000, 'x');
    made.emplace_back(RowKind::kInsert, std::move(values));
  }
  return BatchOf(Bids(), made);
}

struct Course {
  RankSpec spec;
  int64_t auctions = 40;
  int64_t ttl_millis = 0;
  bool restores = false;     // into the operators that already ran
  bool goes_astray = false;  // now and then rows go out by value
};

void Compare(const Course& course) {
  Bench bench[2];
  std::unique_ptr<Operator> ops[2];
  for (int i = 0; i < 2; ++i) {
    bench[i].context.state_ttl_millis = course.ttl_millis;
    ops[i] = Made([&](const OperatorContext& context) { return Create(course.spec, context); },
                  bench[i].context);
  }
  ScriptCollector by_value(course.spec.output);
  ByName by_name(course.spec.output);
  std::string older;
  std::mt19937 random(7);
  for (int step = 0; step < 60; ++step) {
    const RowBatch batch = MadeUp(&random, step * 3, course.auctions,
                                  step % 10 == 0 ? 1 : static_cast<int>(random() % 900));
    if (course.goes_astray) by_name.is_on = step % 7 != 3;
    ASSERT_TRUE(ops[0]->Process(0, batch, by_value).ok());
    ASSERT_TRUE(ops[1]->Process(0, batch, by_name).ok());
    ASSERT_EQ(by_name.lines(), by_value.lines);
    by_name.lines().clear();
    by_value.lines.clear();
    for (Bench& each : bench) each.clock.Advance(100);
    if (course.restores && step % 9 == 4) older = SnapshotOf(*ops[0]);
    if (course.restores && step % 9 == 8) {
      for (const auto& op : ops) {
        SnapshotReader reader(older);
        ASSERT_TRUE(op->Restore(reader).ok());
        ASSERT_TRUE(reader.AtEnd());
      }
    }
  }
  EXPECT_EQ(SnapshotOf(*ops[1]), SnapshotOf(*ops[0]));
  EXPECT_GT(by_name.by_name, 10'000u);
}

TEST(RankByName, SameRowsAsByValue) {
  Compare({TopN(1, 10, true)});
  Compare({TopN(1, 10, false)});
  Compare({TopN(3, 8, true)});
}

TEST(RankByName, MoreRowsThanAreKnown) {
  Compare({TopN(1, 10, true), 1000});
  Compare({TopN(1, 100, true), 100});
}

TEST(RankByName, PlacesUsedAgain) {
  Compare({TopN(1, 10, true), 40, 1'500});
  Compare({TopN(1, 10, true), 40, 0, true});
  Compare({TopN(1, 10, true), 40, 0, false, true});
}

TEST(RankByName, AVariableEnd) {
  RankSpec spec = TopN(1, 1, true);
  spec.variable_end = 1;  // prices from 0 to 49
  Compare({spec});
}

// What it is for: rows are asked for far less often than they go out.
TEST(RankByName, AsksSeldom) {
  Bench bench;
  const RankSpec spec = TopN(1, 10, true);
  const std::unique_ptr<Operator> op =
      Made([&](const OperatorContext& context) { return Create(spec, context); }, bench.context);
  ByName out(spec.output);
  std::mt19937 random(7);
  for (int step = 0; step < 100; ++step)
    ASSERT_TRUE(op->Process(0, MadeUp(&random, step * 3, 40, 100), out).ok());
  EXPECT_LT(4 * out.asked(), out.by_name);
}

}  // namespace
}  // namespace rowtide

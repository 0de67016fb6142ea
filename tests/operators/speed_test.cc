// The speed of single operators on bids in memory. Skipped unless ROWTIDE_SPEED_ROWS says how many
// rows.
//
//   ROWTIDE_SPEED_ROWS=5000000 unit_tests_operators --gtest_filter='Speed*'
//
// Rows are like Nexmark's bids in what matters here: skew of keys, 187 bytes a row, two strings and
// an extra. The output is counted and dropped. Best of three runs in CPU time; for comparing two
// builds alternately, not for claims.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "engine/batch_builder.h"
#include "operators/deduplicate.h"
#include "operators/rank.h"

namespace rowtide {
namespace {

Schema Bids() {
  return Schema({{"auction", Type::BigInt()},
                 {"bidder", Type::BigInt()},
                 {"price", Type::BigInt()},
                 {"channel", Type::String()},
                 {"url", Type::String()},
                 {"dateTime", Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime)},
                 {"extra", Type::String()}});
}

class Random {
 public:
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(Next() % static_cast<uint64_t>(bound));
  }

 private:
  uint64_t state_ = 42;
};

std::vector<RowBatch> MakeBids(int64_t rows) {
  const Schema schema = Bids();
  Random random;
  std::vector<RowBatch> batches;
  BatchBuilder builder(schema);
  const std::string filler(96, 'x');
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t event = row * 50 / 46;
    const int64_t auctions = event / 50 * 3 + 2;
    const int64_t people = event / 50;
    const int64_t auction = random.Below(2) == 0
                                ? auctions / 100 * 100
                                : std::max<int64_t>(0, auctions - 100 + random.Below(111));
    const int64_t bidder = random.Below(4) != 0
                               ? people / 100 * 100 + 1
                               : std::max<int64_t>(0, people - 1000 + random.Below(1010));
    builder.AppendKind(RowKind::kInsert);
    builder.column(0).Append<int64_t>(auction + 1000);
    builder.column(1).Append<int64_t>(bidder + 1000);
    builder.column(2).Append<int64_t>(100 + random.Below(random.Below(2) ? 10'000'000 : 10'000));
    builder.column(3).Append(builder.strings().Copy(random.Below(2) ? "Google" : "channel-1234"));
    builder.column(4).Append(builder.strings().Copy(filler.substr(0, 58 + random.Below(4))));
    builder.column(5).Append<int64_t>(1'700'000'000'000 + event / 10);
    builder.column(6).Append(builder.strings().Copy(filler.substr(0, 54 + random.Below(28))));
    if (builder.full()) batches.push_back(builder.Finish());
  }
  if (!builder.empty()) batches.push_back(builder.Finish());
  return batches;
}

class Counting final : public Collector {
 public:
  Status Emit(RowBatch batch) override {
    rows_ += batch.rows;
    return Status::Ok();
  }
  Status Advance(Time /*time*/) override { return Status::Ok(); }
  int64_t rows() const { return rows_; }

 private:
  int64_t rows_ = 0;
};

class SpeedTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* rows = std::getenv("ROWTIDE_SPEED_ROWS");
    if (rows == nullptr) GTEST_SKIP() << "ROWTIDE_SPEED_ROWS is not set";
    if (batches_.empty()) batches_ = MakeBids(std::atoll(rows));
  }

  template <typename Spec>
  void Measure(const char* name, const Spec& spec) {
    double best = 0;
    for (int run = 0; run < 3; ++run) {
      SystemClock clock;
      Counters counters;
      StateSize size;
      OperatorContext context;
      context.clock = &clock;
      context.counters = &counters;
      context.state_size = &size;
      auto made = Create(spec, context);
      ASSERT_TRUE(made.ok());
      Counting out;
      int64_t rows = 0;
      const std::clock_t begin = std::clock();
      for (const RowBatch& batch : batches_) {
        ASSERT_TRUE((*made)->Process(0, batch, out).ok());
        rows += batch.rows;
      }
      const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      best = std::max(best, static_cast<double>(rows) / seconds / 1e6);
      if (run == 2) {
        std::printf(
            "%-28s %6.2f M rows per CPU second, %.3f rows out per row, %lld entries, %.1f bytes "
            "each\n",
            name, best, static_cast<double>(out.rows()) / static_cast<double>(rows),
            static_cast<long long>(size.entries),
            static_cast<double>(size.bytes) /
                static_cast<double>(std::max<int64_t>(1, size.entries)));
      }
    }
  }

  static std::vector<RowBatch> batches_;
};
std::vector<RowBatch> SpeedTest::batches_;

TEST_F(SpeedTest, KeepFirst) {
  DeduplicateSpec spec;
  spec.schema = Bids();
  spec.keys = {0, 1};
  Measure("keep-first", spec);
}

DeduplicateSpec KeepLast() {
  DeduplicateSpec spec;
  spec.schema = Bids();
  spec.keys = {0, 1};
  spec.rowtime = true;
  spec.order_column = 5;
  spec.keeps_last = true;
  return spec;
}

TEST_F(SpeedTest, KeepLast) { Measure("keep-last", KeepLast()); }

TEST_F(SpeedTest, KeepLastUpsert) {
  DeduplicateSpec spec = KeepLast();
  spec.emits_update_before = false;
  Measure("keep-last, upsert", spec);
}

TEST_F(SpeedTest, KeepLastInBundles) {
  DeduplicateSpec spec = KeepLast();
  spec.mini_batch.size = 5000;
  spec.compacts_changes = true;
  Measure("keep-last, bundles of 5,000", spec);
}

RankSpec TopTen() {
  RankSpec spec;
  spec.input = Bids();
  spec.output = spec.input;
  spec.partition = {0};
  spec.order = {{2, true, false}};
  spec.end = 10;
  spec.strategy = RankSpec::Strategy::kAppendFast;
  return spec;
}

TEST_F(SpeedTest, TopTen) { Measure("top 10", TopTen()); }

TEST_F(SpeedTest, TopTenWithNumber) {
  RankSpec spec = TopTen();
  spec.output.Add({"rn", Type::BigInt().NotNull()});
  Measure("top 10 with number", spec);
}

TEST_F(SpeedTest, TopTenRetracting) {
  RankSpec spec = TopTen();
  spec.strategy = RankSpec::Strategy::kRetract;
  Measure("top 10, retracting", spec);
}

TEST_F(SpeedTest, TopOne) {
  RankSpec spec = TopTen();
  spec.end = 1;
  Measure("top 1", spec);
}

}  // namespace
}  // namespace rowtide

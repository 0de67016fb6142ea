// The speed of GROUP BY on rows in memory. Skipped unless ROWTIDE_SPEED_ROWS says how many rows.
//
//   ROWTIDE_SPEED_ROWS=5000000 unit_tests_operators --gtest_filter='GroupAggregateSpeed*'
//
// 10,000 groups; over updates, half the rows take back a row that was added before. The output is
// counted and dropped. Best of three runs; for comparing two builds alternately, not for claims.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "engine/batch_builder.h"
#include "tests/operators/two_phases.h"

namespace rowtide {
namespace {

using F = AggregateFunction;

const Schema kInput({{"k", Type::BigInt()}, {"v", Type::Int()}});
constexpr int64_t kGroups = 10'000;
constexpr int64_t kLag = 40'000;  // rows that live at a time

uint64_t Mixed(uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Row n is (group, value); over updates, once kLag rows live, each pair takes back the row kLag ago
// and adds another.
std::vector<RowBatch> MakeRows(int64_t rows, bool updates) {
  std::vector<RowBatch> batches;
  BatchBuilder builder(kInput);
  const auto add = [&](RowKind kind, int64_t n) {
    const uint64_t random = Mixed(static_cast<uint64_t>(n));
    builder.AppendKind(kind);
    builder.column(0).Append<int64_t>(static_cast<int64_t>(random % kGroups));
    builder.column(1).Append<int32_t>(static_cast<int32_t>((random >> 32) % 100'000));
    if (builder.full()) batches.push_back(builder.Finish());
  };
  int64_t added = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const bool updating = updates && added >= kLag;
    if (updating && row % 2 == 0) {
      add(RowKind::kUpdateBefore, added - kLag);
    } else {
      add(updating ? RowKind::kUpdateAfter : RowKind::kInsert, added);
      ++added;
    }
  }
  if (!builder.empty()) batches.push_back(builder.Finish());
  return batches;
}

class Counting final : public Collector {
 public:
  Status Emit(RowBatch batch) override {
    rows += batch.rows;
    return Status::Ok();
  }
  Status Advance(Time /*time*/) override { return Status::Ok(); }
  int64_t rows = 0;
};

void Measure(const char* name, bool updates, const std::vector<F>& functions, int64_t bundle = 0,
             bool two_phases = false) {
  const char* rows_text = std::getenv("ROWTIDE_SPEED_ROWS");
  if (rows_text == nullptr) GTEST_SKIP() << "ROWTIDE_SPEED_ROWS is not set";
  const std::vector<RowBatch> batches = MakeRows(std::atoll(rows_text), updates);
  GroupAggregateSpec spec;
  spec.group = {0};
  spec.counts_rows = updates;
  spec.output.Add(kInput.field(0));
  for (F function : functions) {
    const bool counts = function == F::kCount;
    spec.calls.push_back({function, counts ? std::vector<int>{} : std::vector<int>{1}, -1, false,
                          updates, counts ? Type::BigInt() : Type::Int()});
    spec.output.Add({"x", spec.calls.back().type});
  }
  spec.mini_batch.size = bundle;
  double best = 0;
  for (int run = 0; run < 3; ++run) {
    SystemClock clock;
    Counters counters;
    StateSize size;
    OperatorContext context;
    context.clock = &clock;
    context.counters = &counters;
    context.state_size = &size;
    auto made = two_phases ? CreateTwoPhases(kInput, spec, bundle, context)
                           : GroupAggregate::Create(spec, kInput, context);
    ASSERT_TRUE(made.ok());
    Counting out;
    int64_t rows = 0;
    const std::clock_t begin = std::clock();
    for (const RowBatch& batch : batches) {
      ASSERT_TRUE((*made)->Process(0, batch, out).ok());
      rows += batch.rows;
    }
    ASSERT_TRUE((*made)->Advance(0, Time::End(), out).ok());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    best = std::max(best, static_cast<double>(rows) / seconds / 1e6);
    if (run == 2) {
      std::printf("%-44s %6.2f M rows/s, %.3f rows out per row\n", name, best,
                  static_cast<double>(out.rows) / static_cast<double>(rows));
    }
  }
}

TEST(GroupAggregateSpeed, Inserts) {
  Measure("inserts: COUNT", false, {F::kCount});
  Measure("inserts: COUNT, SUM, MIN, MAX", false, {F::kCount, F::kSum, F::kMin, F::kMax});
}

TEST(GroupAggregateSpeed, Updates) {
  Measure("updates: COUNT", true, {F::kCount});
  Measure("updates: COUNT, SUM", true, {F::kCount, F::kSum});
  Measure("updates: COUNT, SUM, MIN, MAX", true, {F::kCount, F::kSum, F::kMin, F::kMax});
}

TEST(GroupAggregateSpeed, Bundles) {
  Measure("updates in bundles: COUNT, SUM, MIN, MAX", true, {F::kCount, F::kSum, F::kMin, F::kMax},
          50'000);
  Measure("two phases: COUNT, SUM", true, {F::kCount, F::kSum}, 50'000, true);
}

}  // namespace
}  // namespace rowtide

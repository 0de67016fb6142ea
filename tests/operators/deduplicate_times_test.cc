// Where nobody asks for -U, only the times of kept rows are kept: the same changelog, less state,
// and snapshots of the other form still do, or say why not.
#include <gtest/gtest.h>

#include "operators/deduplicate.h"
#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

Schema Orders() {
  return Schema({{"id", Type::String()},
                 {"status", Type::String()},
                 {"at", Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime)}});
}

DeduplicateSpec Last(bool before) {
  DeduplicateSpec spec;
  spec.schema = Orders();
  spec.keys = {0};
  spec.rowtime = true;
  spec.order_column = 2;
  spec.keeps_last = true;
  spec.emits_update_before = before;
  return spec;
}

std::unique_ptr<Operator> Made(const DeduplicateSpec& spec, Bench* bench, bool watched = false) {
  return Made(
      [&](const OperatorContext& context) {
        std::unique_ptr<ConflictWatch> watch;
        if (watched)
          watch = std::make_unique<ConflictWatch>(Orders(), spec.keys, nullptr, context.counters);
        return Create(spec, context, std::move(watch));
      },
      bench->context);
}

RowBatch Few(int second) {
  const std::string at = "\"2026-01-01 00:00:0" + std::to_string(second) + "\"]";
  return Rows(Orders(), {"+I [\"a\",\"" + std::string(500, 'x') + "\"," + at,
                         "+I [\"b\",\"" + std::string(500, 'y') + "\"," + at});
}

Status Restored(Operator* op, const std::string& bytes) {
  SnapshotReader reader(bytes);
  return op->Restore(reader);
}

TEST(DeduplicateTimes, StateIsSmall) {
  Bench with, without;
  const auto all = Made(Last(true), &with), times = Made(Last(false), &without);
  ScriptCollector out(Orders());
  ASSERT_TRUE(all->Process(0, Few(1), out).ok());
  ASSERT_TRUE(times->Process(0, Few(1), out).ok());
  EXPECT_GT(with.context.state_size->bytes, 1000);
  EXPECT_LT(without.context.state_size->bytes, 120);
  EXPECT_EQ(without.context.state_size->entries, 2);
}

TEST(DeduplicateTimes, RowsOfASnapshotGiveWayToTimes) {
  Bench watched_bench, bench;
  const auto watched = Made(Last(false), &watched_bench, true);
  ScriptCollector out(Orders());
  ASSERT_TRUE(watched->Process(0, Few(5), out).ok());
  const auto op = Made(Last(false), &bench);
  ASSERT_TRUE(Restored(op.get(), SnapshotOf(*watched)).ok());
  out.lines.clear();
  ASSERT_TRUE(op->Process(0, Few(4), out).ok());
  EXPECT_TRUE(out.lines.empty());
  ASSERT_TRUE(op->Process(0, Few(6), out).ok());
  EXPECT_EQ(out.lines.size(), 2u);
  EXPECT_LT(bench.context.state_size->bytes, 120);
}

TEST(DeduplicateTimes, AWatchCannotCompareTimes) {
  Bench bench, watched_bench;
  const auto op = Made(Last(false), &bench);
  ScriptCollector out(Orders());
  ASSERT_TRUE(op->Process(0, Few(5), out).ok());
  const auto watched = Made(Last(false), &watched_bench, true);
  ASSERT_TRUE(Restored(watched.get(), SnapshotOf(*op)).ok());
  ASSERT_TRUE(watched->Process(0, Few(5), out).ok());
  EXPECT_EQ(*watched_bench.context.counters->Find("uncompared"), 2);
  ASSERT_TRUE(watched->Process(0, Few(5), out).ok());
  EXPECT_EQ(*watched_bench.context.counters->Find("identical"), 2);
}

TEST(DeduplicateTimes, NoBeforeOutOfTimes) {
  Bench bench;
  const auto op = Made(Last(false), &bench);
  ScriptCollector out(Orders());
  ASSERT_TRUE(op->Process(0, Few(5), out).ok());
  for (const bool in_bundles : {false, true}) {
    Bench other_bench;
    DeduplicateSpec spec = Last(true);
    if (in_bundles) spec.mini_batch.size = 2;
    const auto other = Made(spec, &other_bench);
    const std::string bytes = SnapshotOf(*op);
    if (!Restored(other.get(), bytes).ok()) continue;  // bundles are a part more
    const Status status = other->Process(0, Few(6), out);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("asked for no -U rows"), std::string::npos);
  }
}

}  // namespace
}  // namespace rowtide

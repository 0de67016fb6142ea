#include "operators/watermark_assigner.h"

#include "operators/mini_batch_assigner.h"
#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"k", Type::Int()}, {"ts", Type::Timestamp(3)}});

WatermarkAssignerSpec Spec(int rows_between) {
  WatermarkAssignerSpec spec;
  spec.rowtime = 1;
  spec.watermark = Expression::Input(1, Type::Timestamp(3));
  spec.rows_between = rows_between;
  return spec;
}

std::string At(int k, const std::string& second) {
  return "+I [" + std::to_string(k) + R"(, "1970-01-01 00:00:)" + second + R"("])";
}

Lines Assigned(WatermarkAssignerSpec spec, const std::vector<Lines>& batches) {
  Bench bench;
  Result<std::unique_ptr<Operator>> op =
      WatermarkAssigner::Create(std::move(spec), kInput, bench.context);
  EXPECT_TRUE(op.ok()) << op.status().ToString();
  ScriptCollector out((*op)->output_schema(), true);
  for (const Lines& batch : batches) EXPECT_TRUE((*op)->Process(0, Rows(kInput, batch), out).ok());
  Lines short_lines;
  for (const std::string& line : out.lines) short_lines.push_back(line.substr(0, line.find(',')));
  return short_lines;
}

TEST(WatermarkAssigner, AHigherWatermarkFollowsItsRowAtOnce) {
  EXPECT_EQ(Assigned(Spec(1), {{At(1, "01.000"), At(2, "00.500"), At(3, "02.000")}}),
            (Lines{"+I [1", "WM 1000", "+I [2", "+I [3", "WM 2000"}));
}

TEST(WatermarkAssigner, CountsRowsAcrossBatches) {
  EXPECT_EQ(Assigned(Spec(2), {{At(1, "01.000")}, {At(2, "00.500"), At(3, "02.000")}}),
            (Lines{"+I [1", "+I [2", "WM 1000", "+I [3"}));
}

TEST(WatermarkAssigner, CanDeferToTheEndOfTheBatch) {
  WatermarkAssignerSpec spec = Spec(1);
  spec.defers_to_batch_end = true;
  EXPECT_EQ(Assigned(spec, {{At(1, "01.000"), At(2, "02.000")}}),
            (Lines{"+I [1", "+I [2", "WM 2000"}));
}

TEST(WatermarkAssigner, ANullRowTimeFailsTheJob) {
  Bench bench;
  auto op = Made(
      [](const OperatorContext& context) {
        return WatermarkAssigner::Create(Spec(1), kInput, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema(), true);
  const Status status = op->Process(0, Rows(kInput, {"+I [1, null]"}), out);
  EXPECT_EQ(status.code(), StatusCode::kDataError);
  EXPECT_EQ(status.kind(), ErrorKind::kRun);
}

TEST(WatermarkAssigner, OnlyTheLastWatermarkFromAbovePasses) {
  Bench bench;
  auto op = Made(
      [](const OperatorContext& context) {
        return WatermarkAssigner::Create(Spec(1), kInput, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema(), true);
  ASSERT_TRUE(op->Advance(0, Time::Watermark(5), out).ok());
  ASSERT_TRUE(op->Advance(0, Time::Watermark(Time::kMaxWatermark), out).ok());
  ASSERT_TRUE(op->Advance(0, Time::End(), out).ok());
  EXPECT_EQ(out.lines, (Lines{"WM MAX", "END"}));
}

TEST(MiniBatchAssigner, OneWatermarkAnInterval) {
  Bench bench;
  auto op = Made(
      [](const OperatorContext& context) {
        return MiniBatchAssigner::Create({10, true}, kInput, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema(), true);
  for (int64_t watermark : {3, 7, 12, 14, 25, 28})
    ASSERT_TRUE(op->Advance(0, Time::Watermark(watermark), out).ok());
  ASSERT_TRUE(op->Advance(0, Time::End(), out).ok());
  EXPECT_EQ(out.lines, (Lines{"WM 12", "WM 25", "WM 28", "END"}));
}

TEST(MiniBatchAssigner, TicksOfProcessingTime) {
  Bench bench;
  auto op = Made(
      [](const OperatorContext& context) {
        return MiniBatchAssigner::Create({10, false}, kInput, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema(), true);
  for (int64_t tick : {103, 107, 112, 119, 120})
    ASSERT_TRUE(op->Advance(0, Time::Tick(tick), out).ok());
  ASSERT_TRUE(op->Advance(0, Time::Watermark(5), out).ok());
  EXPECT_EQ(out.lines, (Lines{"TICK 100", "TICK 110", "TICK 120"}));
}

}  // namespace
}  // namespace rowtide

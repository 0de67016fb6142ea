#include "operators/calc.h"

#include <gtest/gtest.h>

#include "engine/batch_builder.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"
#include "operators/expressions/registry.h"

namespace rowtide {
namespace {

class Collected final : public Collector {
 public:
  explicit Collected(const Schema& schema) : schema_(schema) {}
  Status Emit(RowBatch batch) override {
    for (int row = 0; row < batch.rows; ++row) {
      if (!text.empty()) text += ' ';
      AppendScriptRow(batch, row, schema_, &text);
    }
    batches.push_back(std::move(batch));
    return Status::Ok();
  }
  Status Advance(Time time) override {
    watermark = time.millis;
    return Status::Ok();
  }

  std::string text;
  std::vector<RowBatch> batches;
  int64_t watermark = Time::kNoWatermark;

 private:
  Schema schema_;
};

const Schema kInput({{"n", Type::Int()}, {"s", Type::String()}});
const Expression kN = Expression::Input(0, Type::Int());
const Expression kS = Expression::Input(1, Type::String());
Expression Number(int64_t n) { return Expression::Literal(n, Type::Int().NotNull()); }

RowBatch Rows() {
  return BatchOf(kInput, {{RowKind::kInsert, {Value(int64_t{1}), Value(std::string("one"))}},
                          {RowKind::kUpdateBefore,
                           {Value(int64_t{2}), Value(std::string("two, a longer text"))}},
                          {RowKind::kUpdateAfter, {Value(int64_t{3}), Value()}}});
}

std::unique_ptr<Calc> Make(std::optional<Expression> condition,
                           std::vector<Expression> projections) {
  CalcSpec spec{kInput, std::move(condition), std::move(projections), {}};
  for (const Expression& e : spec.projections) spec.output.Add({"c", e.type});
  Result<std::unique_ptr<Calc>> calc = Calc::Create(std::move(spec), {});
  EXPECT_TRUE(calc.ok()) << calc.status().message();
  return std::move(*calc);
}

TEST(Calc, SharesPlainColumnsWhenEveryRowPasses) {
  const auto calc = Make(*MakeCall(">", {kN, Number(0)}), {kS, kN});
  Collected out(calc->output_schema());
  const RowBatch batch = Rows();
  ASSERT_TRUE(calc->Process(0, batch, out).ok());
  EXPECT_EQ(out.text, "+I [\"one\",1] -U [\"two, a longer text\",2] +U [null,3]");
  EXPECT_EQ(out.batches[0].columns[1].values_block(), batch.columns[0].values_block());
}

TEST(Calc, KeepsTheKindsOfTheRowsThatPass) {
  const auto calc = Make(*MakeCall(">=", {kN, Number(2)}),
                         {*MakeCall("UPPER", {kS}), *MakeCall("+", {kN, Number(1)})});
  Collected out(calc->output_schema());
  ASSERT_TRUE(calc->Process(0, Rows(), out).ok());
  EXPECT_EQ(out.text, "-U [\"TWO, A LONGER TEXT\",3] +U [null,4]");
}

TEST(Calc, EmitsNothingWhenNothingPasses) {
  const auto calc = Make(*MakeCall("<", {kN, Number(0)}), {kN});
  Collected out(calc->output_schema());
  ASSERT_TRUE(calc->Process(0, Rows(), out).ok());
  EXPECT_TRUE(out.batches.empty());
}

TEST(Calc, FailsOnARowThatPassesOnly) {
  const Expression quotient = *MakeCall("/", {Number(6), *MakeCall("-", {kN, Number(1)})});
  Collected out(kInput);
  const Status failed = Make(std::nullopt, {quotient})->Process(0, Rows(), out);
  EXPECT_EQ(failed.code(), StatusCode::kDataError);
  EXPECT_EQ(failed.message(), "division by zero in (6 / (n - 1)), computed of 6, 0");
  const auto guarded = Make(*MakeCall(">", {kN, Number(1)}), {quotient});
  Collected rest(guarded->output_schema());
  ASSERT_TRUE(guarded->Process(0, Rows(), rest).ok());
  EXPECT_EQ(rest.text, "-U [6] +U [3]");
}

TEST(Calc, RemembersTheWatermark) {
  const Type rowtime = Type::Timestamp(3).WithTimeAttribute(TimeAttribute::kRowtime);
  const Schema input({{"ts", rowtime}});
  CalcSpec spec{input,
                std::nullopt,
                {*MakeCall("CURRENT_WATERMARK", {Expression::Input(0, rowtime)})},
                Schema({{"w", Type::Timestamp(3)}})};
  auto calc = std::move(*Calc::Create(spec, {}));
  const RowBatch batch = BatchOf(input, {{RowKind::kInsert, {Value(int64_t{5})}}});
  Collected out(calc->output_schema());
  ASSERT_TRUE(calc->Process(0, batch, out).ok());
  ASSERT_TRUE(calc->Advance(0, Time::Watermark(2000), out).ok());
  EXPECT_EQ(out.watermark, 2000);
  SnapshotWriter writer;
  ASSERT_TRUE(calc->Snapshot(writer).ok());
  calc = std::move(*Calc::Create(spec, {}));
  SnapshotReader reader(writer.bytes());
  ASSERT_TRUE(calc->Restore(reader).ok());
  ASSERT_TRUE(calc->Process(0, batch, out).ok());
  EXPECT_EQ(out.text, "+I [null] +I [\"1970-01-01 00:00:02.000\"]");
}

}  // namespace
}  // namespace rowtide

#include "operators/sink_materializer.h"

#include "operators/watermark_compacting_materializer.h"
#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"k", Type::String()}, {"v", Type::Int()}});
const Schema kKeyed({{"id", Type::Int()}, {"k", Type::String()}, {"v", Type::String()}});

TEST(SinkMaterializer, MatchesByContentWithoutAnUpsertKey) {
  const MakeOperator make = [](const OperatorContext& context) {
    return SinkMaterializer::Create({{0}, {}}, kInput, context);
  };
  EXPECT_EQ(
      Changelog(make, kInput,
                {R"(+I ["a", 1])", R"(+I ["a", 2])", R"(+I ["a", 1])", R"(-D ["a", 9])",
                 R"(-D ["a", 1])", R"(-D ["a", 1])", R"(-D ["a", 2])", R"(-D ["a", 2])"}),
      (Lines{R"(+I ["a",1])", R"(+U ["a",2])", R"(+U ["a",1])", R"(+U ["a",2])", R"(-D ["a",2])"}));
}

// A new version of a row that is not the last one is replaced in place, and shown all the same.
TEST(SinkMaterializer, AnUpsertKeyReplacesInPlace) {
  const MakeOperator make = [](const OperatorContext& context) {
    return SinkMaterializer::Create({{1}, {0}}, kKeyed, context);
  };
  EXPECT_EQ(
      Changelog(make, kKeyed,
                {R"(+I [1, "a", "one"])", R"(+I [2, "a", "two"])",
                 R"(+U [1, "a", "one, but longer than before"])", R"(-D [2, "a", "whatever"])",
                 R"(-U [1, "a", "one, but longer than before"])"}),
      (Lines{R"(+I [1,"a","one"])", R"(+U [2,"a","two"])",
             R"(+U [1,"a","one, but longer than before"])",
             R"(+U [1,"a","one, but longer than before"])",
             R"(-D [1,"a","one, but longer than before"])"}));
}

TEST(SinkMaterializer, LongHistoriesAreNotScanned) {
  Bench bench;
  auto op = Made(
      [](const OperatorContext& context) {
        return SinkMaterializer::Create({{0}, {}}, kInput, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema());
  const int kRows = 20000;
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
  for (int64_t i = 0; i < kRows; ++i) rows.push_back({RowKind::kInsert, {std::string("a"), i}});
  for (int64_t i = 0; i < kRows; ++i) rows.push_back({RowKind::kDelete, {std::string("a"), i}});
  for (size_t first = 0; first < rows.size(); first += 1000) {
    const std::vector<std::pair<RowKind, std::vector<Value>>> part(
        rows.begin() + static_cast<int64_t>(first),
        rows.begin() + static_cast<int64_t>(first) + 1000);
    ASSERT_TRUE(op->Process(0, BatchOf(kInput, part), out).ok());
  }
  EXPECT_EQ(out.lines.size(), static_cast<size_t>(kRows) + 1);
  EXPECT_EQ(bench.state_size.entries, 0);
}

// --- ON CONFLICT DO ERROR, DO NOTHING ---

Lines Compacted(bool fails, const Lines& input, Status* status) {
  Lines result;
  for (const bool restores : {false, true}) {
    Bench bench;
    const MakeOperator make = [=](const OperatorContext& context) {
      return WatermarkCompactingMaterializer::Create({{0}, {}, fails}, kInput, context);
    };
    auto op = Made(make, bench.context);
    ScriptCollector out(op->output_schema());
    *status = Status::Ok();
    for (const std::string& line : input) {
      if (restores) {
        const std::string bytes = SnapshotOf(*op);
        op = Made(make, bench.context);
        SnapshotReader reader(bytes);
        EXPECT_TRUE(op->Restore(reader).ok());
      }
      *status = line == "WM" ? op->Advance(0, Time::Watermark(1), out)
                             : op->Process(0, Rows(kInput, {line}), out);
      if (!status->ok()) break;
    }
    if (restores) {
      EXPECT_EQ(out.lines, result);
    }
    result = out.lines;
  }
  return result;
}

TEST(WatermarkCompactingMaterializer, ChangesSettleUntilTheWatermark) {
  Status status;
  EXPECT_EQ(Compacted(true,
                      {R"(+I ["a", 1])", R"(+I ["b", 5])", "WM", R"(+U ["a", 2])", R"(-U ["a", 1])",
                       "WM", "WM", R"(-D ["a", 2])", R"(-U ["b", 5])", R"(+U ["b", 5])", "WM"},
                      &status),
            (Lines{R"(+I ["a",1])", R"(+I ["b",5])", R"(+U ["a",2])", R"(-D ["a",2])"}));
  EXPECT_TRUE(status.ok());
}

TEST(WatermarkCompactingMaterializer, AConflictFailsOrKeepsTheFirst) {
  Status status;
  const Lines input{R"(+I ["a", 1])", R"(+I ["a", 2])", "WM",
                    R"(+I ["b", 3])", R"(+I ["a", 4])", "WM"};
  EXPECT_EQ(Compacted(true, input, &status), Lines{});
  EXPECT_EQ(status.code(), StatusCode::kDataError);
  EXPECT_NE(status.message().find("[k=a]"), std::string::npos) << status.message();
  EXPECT_EQ(Compacted(false, input, &status), (Lines{R"(+I ["a",1])", R"(+I ["b",3])"}));
  EXPECT_TRUE(status.ok());
}

}  // namespace
}  // namespace rowtide

#include "operators/final_rows.h"

#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"k", Type::String()}, {"v", Type::Int()}});

Lines Final(std::vector<SortField> order, const Lines& rows) {
  const FinalRowsSpec spec{std::move(order)};
  const MakeOperator make = [=](const OperatorContext& context) {
    return FinalRows::Create(spec, kInput, context);
  };
  return Changelog(make, kInput, rows);
}

TEST(FinalRows, WhatIsLeftComesOutAtTheEndInTheOrderInWhichItBecameFinal) {
  EXPECT_EQ(Final({}, {R"(+I ["a",1])", R"(+I ["b",1])", R"(-U ["a",1])", R"(+U ["a",2])",
                       R"(+I ["c",null])", R"(-D ["c",null])", R"(+I ["d",null])"}),
            (Lines{R"(+I ["b",1])", R"(+I ["a",2])", R"(+I ["d",null])"}));
}

TEST(FinalRows, EqualRowsCount) {
  EXPECT_EQ(Final({}, {R"(+I ["a",1])", R"(+I ["b",1])", R"(+I ["a",1])", R"(+I ["a",1])",
                       R"(-D ["a",1])"}),
            (Lines{R"(+I ["a",1])", R"(+I ["a",1])", R"(+I ["b",1])"}));
}

TEST(FinalRows, AreSortedAndTiesKeepTheirArrival) {
  EXPECT_EQ(Final({{1, true, false}}, {R"(+I ["a",1])", R"(+I ["b",null])", R"(+I ["c",2])",
                                       R"(+I ["a",2])", R"(+I ["d",1])"}),
            (Lines{R"(+I ["c",2])", R"(+I ["a",2])", R"(+I ["a",1])", R"(+I ["d",1])",
                   R"(+I ["b",null])"}));
}

TEST(FinalRows, ARetractionOfNothingIsCounted) {
  Bench bench;
  const auto made = FinalRows::Create({}, kInput, bench.context);
  ASSERT_TRUE(made.ok());
  ScriptCollector out(kInput);
  ASSERT_TRUE((*made)->Process(0, Rows(kInput, {R"(-D ["a",1])", R"(+I ["a",1])"}), out).ok());
  ASSERT_TRUE((*made)->Advance(0, Time::End(), out).ok());
  EXPECT_EQ(out.lines, (Lines{R"(+I ["a",1])"}));
  EXPECT_EQ(*bench.counters.Find("unmatched_retraction"), 1);
}

}  // namespace
}  // namespace rowtide

#include "operators/group_aggregate.h"

#include <algorithm>
#include <random>

#include "tests/operators/script_rows.h"
#include "tests/operators/two_phases.h"

namespace rowtide {
namespace {

using F = AggregateFunction;

Aggregation Call(F function, std::vector<int> arguments, Type type, bool retracts = false) {
  return {function, std::move(arguments), -1, false, retracts, type};
}

Aggregation Distinct(Aggregation call) {
  call.distinct = true;
  return call;
}

Aggregation Filtered(Aggregation call, int filter) {
  call.filter = filter;
  return call;
}

const Type kBigInt = Type::BigInt().NotNull();

GroupAggregateSpec Spec(const Schema& input, std::vector<int> group, std::vector<Aggregation> calls,
                        bool counts_rows = false) {
  GroupAggregateSpec spec;
  spec.group = std::move(group);
  spec.calls = std::move(calls);
  spec.counts_rows = counts_rows;
  for (int column : spec.group) spec.output.Add(input.field(column));
  for (const Aggregation& call : spec.calls) spec.output.Add({"x", call.type});
  return spec;
}

MakeOperator Make(const Schema& input, const GroupAggregateSpec& spec) {
  return
      [=](const OperatorContext& context) { return GroupAggregate::Create(spec, input, context); };
}

const Schema kInput({{"k", Type::String()}, {"v", Type::Int()}});
const Schema kText({{"k", Type::String()}, {"s", Type::String()}});

TEST(GroupAggregate, PlainCallsOverInserts) {
  const auto spec = Spec(kInput, {0},
                         {Call(F::kCount, {}, kBigInt), Call(F::kCount, {1}, kBigInt),
                          Call(F::kSum, {1}, Type::Int()), Call(F::kMin, {1}, Type::Int()),
                          Call(F::kMax, {1}, Type::Int()), Call(F::kAvg, {1}, Type::Int())});
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput,
                      {R"(+I ["a", 1])", R"(+I ["a", 2])", R"(+I ["b", null])", R"(+I ["a", 4])",
                       R"(+I ["b", 7])"}),
            (Lines{R"(+I ["a",1,1,1,1,1,1])", R"(-U ["a",1,1,1,1,1,1])", R"(+U ["a",2,2,3,1,2,1])",
                   R"(+I ["b",1,0,null,null,null,null])", R"(-U ["a",2,2,3,1,2,1])",
                   R"(+U ["a",3,3,7,1,4,2])", R"(-U ["b",1,0,null,null,null,null])",
                   R"(+U ["b",2,1,7,7,7,7])"}));
}

TEST(GroupAggregate, DistinctOverInserts) {
  const auto spec = Spec(kInput, {0},
                         {Distinct(Call(F::kCount, {1}, kBigInt)),
                          Distinct(Call(F::kSum, {1}, Type::Int())), Call(F::kCount, {}, kBigInt)});
  EXPECT_EQ(
      Changelog(Make(kInput, spec), kInput,
                {R"(+I ["a", 1])", R"(+I ["a", 1])", R"(+I ["a", 2])", R"(+I ["a", null])"}),
      (Lines{R"(+I ["a",1,1,1])", R"(-U ["a",1,1,1])", R"(+U ["a",1,1,2])", R"(-U ["a",1,1,2])",
             R"(+U ["a",2,3,3])", R"(-U ["a",2,3,3])", R"(+U ["a",2,3,4])"}));
}

TEST(GroupAggregate, DistinctOverUpdates) {
  const auto spec = Spec(kInput, {0},
                         {Distinct(Call(F::kCount, {1}, kBigInt, true)),
                          Distinct(Call(F::kSum, {1}, Type::Int(), true))},
                         true);
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput,
                      {R"(+I ["a", 1])", R"(+I ["a", 1])", R"(+I ["a", 2])", R"(-D ["a", 1])",
                       R"(-D ["a", 1])"}),
            (Lines{R"(+I ["a",1,1])", R"(-U ["a",1,1])", R"(+U ["a",2,3])", R"(-U ["a",2,3])",
                   R"(+U ["a",1,2])"}));
}

TEST(GroupAggregate, FilterTakesOnlyTrue) {
  const Schema input({{"k", Type::String()},
                      {"v", Type::Int()},
                      {"big", Type::Boolean()},
                      {"small", Type::Boolean()}});
  const auto spec = Spec(input, {0},
                         {Call(F::kCount, {}, kBigInt), Filtered(Call(F::kCount, {}, kBigInt), 2),
                          Filtered(Call(F::kSum, {1}, Type::Int()), 3)});
  EXPECT_EQ(Changelog(Make(input, spec), input,
                      {R"(+I ["a", 1, false, true])", R"(+I ["a", 10, true, false])",
                       R"(+I ["a", null, null, null])"}),
            (Lines{R"(+I ["a",1,0,1])", R"(-U ["a",1,0,1])", R"(+U ["a",2,1,1])",
                   R"(-U ["a",2,1,1])", R"(+U ["a",3,1,1])"}));
}

TEST(GroupAggregate, FirstLastAndListOverInserts) {
  const Schema input({{"k", Type::String()}, {"s", Type::String()}, {"separator", Type::String()}});
  const auto spec =
      Spec(input, {0},
           {Call(F::kFirstValue, {1}, Type::String()), Call(F::kLastValue, {1}, Type::String()),
            Call(F::kListAgg, {1}, Type::String()), Call(F::kListAgg, {1, 2}, Type::String())});
  EXPECT_EQ(
      Changelog(Make(input, spec), input,
                {R"(+I ["a", "p", "|"])", R"(+I ["a", null, "|"])",
                 R"(+I ["a", "quite a long value", "|"])"}),
      (Lines{
          R"(+I ["a","p","p","p","p"])", R"(-U ["a","p","p","p","p"])",
          R"(+U ["a","p","quite a long value","p,quite a long value","p|quite a long value"])"}));
}

TEST(GroupAggregate, FirstLastAndListOverUpdates) {
  const auto spec = Spec(kText, {0},
                         {Call(F::kFirstValue, {1}, Type::String(), true),
                          Call(F::kLastValue, {1}, Type::String(), true),
                          Call(F::kListAgg, {1}, Type::String(), true)},
                         true);
  EXPECT_EQ(
      Changelog(Make(kText, spec), kText,
                {R"(+I ["a", "p"])", R"(+I ["a", "q"])", R"(+I ["a", "r"])", R"(-D ["a", "q"])",
                 R"(-U ["a", "p"])", R"(+U ["a", "z"])"}),
      (Lines{R"(+I ["a","p","p","p"])", R"(-U ["a","p","p","p"])", R"(+U ["a","p","q","p,q"])",
             R"(-U ["a","p","q","p,q"])", R"(+U ["a","p","r","p,q,r"])",
             R"(-U ["a","p","r","p,q,r"])", R"(+U ["a","p","r","p,r"])",
             R"(-U ["a","p","r","p,r"])", R"(+U ["a","r","r","r"])", R"(-U ["a","r","r","r"])",
             R"(+U ["a","r","z","r,z"])"}));
}

TEST(GroupAggregate, GlobalGroupIsDeletedWithItsLastRow) {
  const auto spec =
      Spec(kInput, {}, {Call(F::kCount, {}, kBigInt, true), Call(F::kSum, {1}, Type::Int(), true)},
           true);
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput, {}), Lines{});
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput,
                      {R"(+I ["a", 1])", R"(+I ["b", 2])", R"(-D ["a", 1])", R"(-D ["b", 2])"}),
            (Lines{"+I [1,1]", "-U [1,1]", "+U [2,3]", "-U [2,3]", "+U [1,2]", "-D [1,2]"}));
}

// FLINK-13216: when the last value that is not NULL goes, MAX becomes NULL.
TEST(GroupAggregate, ExtremesOverUpdates) {
  const auto spec =
      Spec(kInput, {0},
           {Call(F::kMax, {1}, Type::Int(), true), Call(F::kMin, {1}, Type::Int(), true)}, true);
  EXPECT_EQ(
      Changelog(Make(kInput, spec), kInput,
                {R"(+I ["k", 17])", R"(+I ["k", null])", R"(-D ["k", 17])", R"(+I ["k", 4])",
                 R"(-U ["k", 4])", R"(+U ["k", null])", R"(-D ["k", null])", R"(-D ["k", null])"}),
      (Lines{R"(+I ["k",17,17])", R"(-U ["k",17,17])", R"(+U ["k",null,null])",
             R"(-U ["k",null,null])", R"(+U ["k",4,4])", R"(-U ["k",4,4])", R"(+U ["k",null,null])",
             R"(-D ["k",null,null])"}));
}

// Whole numbers are kept in a way of their own (number_extremes.h), DECIMAL(20, 0) as all other
// values are: over streams with retractions of what never was, both must say the same.
TEST(GroupAggregate, ExtremesOfWholeNumbersAreThoseOfAnyOther) {
  const Schema numbers({{"k", Type::String()}, {"v", Type::BigInt()}});
  const Schema decimals({{"k", Type::String()}, {"v", Type::Decimal(20, 0)}});
  const auto changelog = [](const Schema& input, const Lines& rows) {
    const Type type = input.type(1);
    const auto spec =
        Spec(input, {0}, {Call(F::kMax, {1}, type, true), Call(F::kMin, {1}, type, true)}, true);
    Lines lines = Changelog(Make(input, spec), input, rows);
    for (std::string& line : lines)
      line.erase(std::remove(line.begin(), line.end(), '"'), line.end());
    return lines;
  };
  for (const unsigned unknown_of_100 : {0u, 3u, 50u}) {
    for (const unsigned universe : {3u, 40u, 3000u}) {
      std::mt19937 random(universe + unknown_of_100);
      Lines number_rows, decimal_rows;
      std::vector<std::string> live[3];
      for (int i = 0; i < 1500; ++i) {
        const unsigned group = random() % 3;
        std::vector<std::string>& values = live[group];
        std::string value = std::to_string(static_cast<int>(random() % universe) - 1);
        if (random() % 10 == 0) value = "null";
        const bool removes = !values.empty() && random() % 100 < (i < 1000 ? 40 : 60);
        if (removes && random() % 100 >= unknown_of_100) {
          const size_t at = random() % values.size();
          value = values[at];
          values.erase(values.begin() + static_cast<std::ptrdiff_t>(at));
        } else if (!removes) {
          values.push_back(value);
        }
        const std::string head = (removes ? "-U [\"" : "+U [\"") + std::to_string(group) + "\", ";
        number_rows.push_back(head + value + "]");
        decimal_rows.push_back(head + (value == "null" ? value : '"' + value + '"') + "]");
      }
      const Lines of_numbers = changelog(numbers, number_rows);
      EXPECT_GT(of_numbers.size(), 20u);
      EXPECT_EQ(of_numbers, changelog(decimals, decimal_rows));
    }
  }
}

TEST(GroupAggregate, ExtremesOfText) {
  const auto spec = Spec(
      kText, {0},
      {Call(F::kMax, {1}, Type::String(), true), Call(F::kMin, {1}, Type::String(), true)}, true);
  EXPECT_EQ(Changelog(Make(kText, spec), kText,
                      {R"(+I ["k", "mmmmmmmmmmmmmmmm"])", R"(+I ["k", "zzzzzzzzzzzzzzzz"])",
                       R"(+I ["k", "a"])", R"(-D ["k", "zzzzzzzzzzzzzzzz"])", R"(-D ["k", "a"])",
                       R"(-D ["k", "mmmmmmmmmmmmmmmm"])", R"(+I ["k", "b"])"}),
            (Lines{R"(+I ["k","mmmmmmmmmmmmmmmm","mmmmmmmmmmmmmmmm"])",
                   R"(-U ["k","mmmmmmmmmmmmmmmm","mmmmmmmmmmmmmmmm"])",
                   R"(+U ["k","zzzzzzzzzzzzzzzz","mmmmmmmmmmmmmmmm"])",
                   R"(-U ["k","zzzzzzzzzzzzzzzz","mmmmmmmmmmmmmmmm"])",
                   R"(+U ["k","zzzzzzzzzzzzzzzz","a"])", R"(-U ["k","zzzzzzzzzzzzzzzz","a"])",
                   R"(+U ["k","mmmmmmmmmmmmmmmm","a"])", R"(-U ["k","mmmmmmmmmmmmmmmm","a"])",
                   R"(+U ["k","mmmmmmmmmmmmmmmm","mmmmmmmmmmmmmmmm"])",
                   R"(-D ["k","mmmmmmmmmmmmmmmm","mmmmmmmmmmmmmmmm"])", R"(+I ["k","b","b"])"}));
}

TEST(GroupAggregate, DistinctRowsOnce) {
  const auto spec = Spec(kInput, {0}, {}, true);
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput,
                      {R"(-D ["z", 1])", R"(+I ["a", 1])", R"(+I ["a", 2])", R"(-D ["a", 1])",
                       R"(-D ["a", 2])", R"(+I ["a", 3])"}),
            (Lines{R"(+I ["a"])", R"(-D ["a"])", R"(+I ["a"])"}));
}

TEST(GroupAggregate, ATtlEmitsUnchangedResults) {
  Bench bench;
  bench.context.state_ttl_millis = 1000;
  const auto spec = Spec(kInput, {0}, {Call(F::kMax, {1}, Type::Int())});
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput, {R"(+I ["a", 5])", R"(+I ["a", 3])"}, bench),
            (Lines{R"(+I ["a",5])", R"(-U ["a",5])", R"(+U ["a",5])"}));
}

TEST(GroupAggregate, AnExpiredGroupBeginsAnew) {
  Bench bench;
  bench.context.state_ttl_millis = 1000;
  const auto spec =
      Spec(kInput, {0},
           {Call(F::kMax, {1}, Type::Int(), true), Distinct(Call(F::kCount, {1}, kBigInt, true)),
            Call(F::kLastValue, {1}, Type::Int(), true)},
           true);
  auto op = Made(Make(kInput, spec), bench.context);
  ScriptCollector out(op->output_schema());
  ASSERT_TRUE(op->Process(0, Rows(kInput, {R"(+I ["a", 5])", R"(+I ["a", 9])"}), out).ok());
  bench.clock.Advance(1000);
  ASSERT_TRUE(
      op->Process(0, Rows(kInput, {R"(-D ["a", 9])", R"(+I ["a", 1])", R"(-D ["a", 1])"}), out)
          .ok());
  EXPECT_EQ(out.lines, (Lines{R"(+I ["a",5,1,5])", R"(-U ["a",5,1,5])", R"(+U ["a",9,2,9])",
                              R"(+I ["a",1,1,1])", R"(-D ["a",1,1,1])"}));
  EXPECT_EQ(*bench.counters.Find("unmatched_retraction"), 1);
}

TEST(GroupAggregate, IntegersWrapAndDecimalsOverflowToNull) {
  const Schema input({{"d", Type::Decimal(38, 0)},
                      {"x", Type::Of(TypeKind::kTinyInt)},
                      {"f", Type::Of(TypeKind::kFloat)}});
  const Type tiny = Type::Of(TypeKind::kTinyInt);
  const Type real = Type::Of(TypeKind::kFloat);
  const auto spec = Spec(input, {},
                         {Call(F::kSum, {0}, Type::Decimal(38, 0), true),
                          Call(F::kAvg, {0}, Type::Decimal(38, 6), true),
                          Call(F::kSum, {1}, tiny, true), Call(F::kAvg, {1}, tiny, true),
                          Call(F::kSum, {2}, real, true), Call(F::kAvg, {2}, real, true)},
                         true);
  EXPECT_EQ(Changelog(Make(input, spec), input,
                      {R"(+I ["99999999999999999999999999999999999999", 100, 0.1])",
                       R"(+I ["1", 100, 0.2])", R"(+I ["5", -3, 0.7])", R"(-D ["1", 100, 0.2])"}),
            (Lines{R"(+I ["99999999999999999999999999999999999999",null,100,100,0.1,0.1])",
                   R"(-U ["99999999999999999999999999999999999999",null,100,100,0.1,0.1])",
                   R"(+U [null,null,-56,100,0.3,0.15])", R"(-U [null,null,-56,100,0.3,0.15])",
                   R"(+U ["5",null,-59,65,1.0,0.33333334])",
                   R"(-U ["5",null,-59,65,1.0,0.33333334])", R"(+U ["4",null,97,48,0.8,0.4])"}));
}

TEST(GroupAggregate, AveragesOfDecimalsAreRounded) {
  const Schema input({{"k", Type::String()}, {"d", Type::Decimal(10, 2)}});
  const auto spec =
      Spec(input, {0},
           {Call(F::kSum, {1}, Type::Decimal(38, 2)), Call(F::kAvg, {1}, Type::Decimal(38, 6))});
  EXPECT_EQ(Changelog(Make(input, spec), input,
                      {R"(+I ["a", "1.10"])", R"(+I ["a", "2.25"])", R"(+I ["a", "-0.01"])"}),
            (Lines{R"(+I ["a","1.10","1.100000"])", R"(-U ["a","1.10","1.100000"])",
                   R"(+U ["a","3.35","1.675000"])", R"(-U ["a","3.35","1.675000"])",
                   R"(+U ["a","3.34","1.113333"])"}));
}

// flink-rank-dedup.md 15.25; Flink's rounding under compat.
TEST(GroupAggregate, SumsOfDoublesForgetWhatLeft) {
  const Schema input({{"v", Type::Double()}});
  const auto spec = Spec(
      input, {},
      {Call(F::kSum, {0}, Type::Double(), true), Call(F::kAvg, {0}, Type::Double(), true)}, true);
  const Lines rows{"+I [18014398509481984.0]", "+I [1.0]", "-D [18014398509481984.0]",
                   R"(+I ["Infinity"])", R"(-D ["Infinity"])"};
  EXPECT_EQ(
      Changelog(Make(input, spec), input, rows),
      (Lines{"+I [1.8014398509481984e+16,1.8014398509481984e+16]",
             "-U [1.8014398509481984e+16,1.8014398509481984e+16]",
             "+U [1.8014398509481984e+16,9007199254740992.0]",
             "-U [1.8014398509481984e+16,9007199254740992.0]", "+U [1.0,1.0]", "-U [1.0,1.0]",
             R"(+U ["Infinity","Infinity"])", R"(-U ["Infinity","Infinity"])", "+U [1.0,1.0]"}));
  Bench compat;
  compat.context.flink_compat = true;
  EXPECT_EQ(Changelog(Make(input, spec), input, rows, compat).back(), R"(+U ["NaN","NaN"])");
}

TEST(GroupAggregate, OneZeroOneGroup) {
  const Schema input({{"x", Type::Double()}});
  const auto spec = Spec(input, {0}, {Call(F::kCount, {}, kBigInt)});
  EXPECT_EQ(Changelog(Make(input, spec), input, {R"(+I ["-0.0"])", R"(+I [0.0])"}),
            (Lines{"+I [0.0,1]", "-U [0.0,1]", "+U [0.0,2]"}));
}

// --- mini-batch ---

TEST(GroupAggregate, AtMostOneChangeAGroupAndBundle) {
  auto spec =
      Spec(kInput, {0}, {Call(F::kCount, {}, kBigInt, true), Call(F::kSum, {1}, Type::Int(), true)},
           true);
  spec.mini_batch.size = 4;
  EXPECT_EQ(Changelog(Make(kInput, spec), kInput,
                      {R"(+I ["a", 1])", R"(+I ["a", 2])", R"(+I ["b", 5])", R"(-D ["b", 5])",
                       R"(+I ["a", 4])", R"(-D ["zz", 1])", R"(-U ["a", 1])", R"(+U ["a", 3])",
                       R"(-D ["a", 2])", R"(-D ["a", 4])", R"(-D ["a", 3])"}),
            (Lines{R"(+I ["a",2,3])", R"(-U ["a",2,3])", R"(+U ["a",3,9])", R"(-D ["a",3,9])"}));
}

MakeOperator MakeTwoPhases(const Schema& input, const GroupAggregateSpec& single, int64_t size) {
  return
      [=](const OperatorContext& context) { return CreateTwoPhases(input, single, size, context); };
}

TEST(TwoPhaseAggregate, MergesPartials) {
  auto spec = Spec(kInput, {0},
                   {Call(F::kCount, {}, kBigInt, true), Call(F::kSum, {1}, Type::Int(), true),
                    Call(F::kAvg, {1}, Type::Int(), true)},
                   true);
  spec.count_star = 0;
  EXPECT_EQ(Changelog(MakeTwoPhases(kInput, spec, 3), kInput,
                      {R"(+I ["a", 1])", R"(+I ["a", 2])", R"(+I ["b", 5])", R"(-D ["b", 5])",
                       R"(+I ["a", 4])", R"(-U ["a", 1])", R"(+U ["a", 3])"}),
            (Lines{R"(+I ["a",2,3,1])", R"(-U ["a",2,3,1])", R"(+U ["a",3,9,3])"}));
}

// flink-rank-dedup.md 15.19: a group of -1 rows is no group.
TEST(TwoPhaseAggregate, ABundleOfRetractionsForAnUnknownGroup) {
  auto spec =
      Spec(kInput, {0}, {Call(F::kCount, {}, kBigInt, true), Call(F::kSum, {1}, Type::Int(), true)},
           true);
  spec.count_star = 0;
  const Lines input{R"(-D ["a", 1])", R"(+I ["b", 2])", R"(+I ["a", 7])"};
  EXPECT_EQ(Changelog(MakeTwoPhases(kInput, spec, 1), kInput, input),
            (Lines{R"(+I ["b",1,2])", R"(+I ["a",1,7])"}));
  Bench compat;
  compat.context.flink_compat = true;
  EXPECT_EQ(Changelog(MakeTwoPhases(kInput, spec, 1), kInput, input, compat),
            (Lines{R"(+I ["a",-1,-1])", R"(+I ["b",1,2])", R"(-D ["a",-1,-1])"}));
}

// All functions at once: with bundles of one row, two phases give what the single one gives.
TEST(TwoPhaseAggregate, EveryFunctionAgreesWithTheSinglePhase) {
  const Schema input({{"k", Type::String()},
                      {"v", Type::Int()},
                      {"s", Type::String()},
                      {"d", Type::Decimal(10, 2)},
                      {"b", Type::Boolean()},
                      {"x", Type::Double()}});
  for (const bool retracts : {false, true}) {
    auto spec = Spec(
        input, {0},
        {Call(F::kCount, {1}, kBigInt, retracts), Call(F::kSum, {1}, Type::Int(), retracts),
         Call(F::kSum, {3}, Type::Decimal(38, 2), retracts),
         Call(F::kAvg, {3}, Type::Decimal(38, 6), retracts),
         Call(F::kAvg, {5}, Type::Double(), retracts), Call(F::kMin, {1}, Type::Int(), retracts),
         Call(F::kMax, {2}, Type::String(), retracts),
         Call(F::kListAgg, {2}, Type::String(), retracts),
         Distinct(Call(F::kCount, {1}, kBigInt, retracts)),
         Distinct(Call(F::kSum, {1}, Type::Int(), retracts)),
         Filtered(Distinct(Call(F::kCount, {1}, kBigInt, retracts)), 4),
         Filtered(Call(F::kSum, {1}, Type::Int(), retracts), 4),
         Distinct(Call(F::kListAgg, {2}, Type::String(), retracts)),
         Call(F::kSum0, {1}, Type::Int(), retracts)},
        retracts);
    Lines rows{R"(+I ["a", 1, "x", "1.50", true, 0.5])", R"(+I ["a", 1, "y", null, false, null])",
               R"(+I ["b", null, null, "2.00", null, 2.0])",
               R"(+I ["a", 3, "x", "4.00", true, 1.0])"};
    if (retracts) {
      const Lines more{
          R"(-D ["a", 1, "x", "1.50", true, 0.5])", R"(-U ["b", null, null, "2.00", null, 2.0])",
          R"(+U ["b", 7, "w", "2.00", null, 2.0])", R"(-D ["a", 3, "x", "4.00", true, 1.0])"};
      rows.insert(rows.end(), more.begin(), more.end());
    }
    const Lines single = Changelog(Make(input, spec), input, rows);
    EXPECT_GT(single.size(), 5u);
    EXPECT_EQ(Changelog(MakeTwoPhases(input, spec, 1), input, rows), single);
    EXPECT_EQ(Changelog(MakeTwoPhases(input, spec, 100), input, rows).size(), 2u);
  }
}

}  // namespace
}  // namespace rowtide

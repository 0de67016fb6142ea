#include "operators/registry.h"

#include <set>

#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"k", Type::String()}, {"ts", Type::Timestamp(3)}});

TEST(Registry, NamesAreUniqueAndSpecsFindTheirRow) {
  std::set<std::string> names;
  for (const OperatorInfo& info : Operators()) EXPECT_TRUE(names.insert(info.name).second);
  EXPECT_STREQ(InfoOf(GroupAggregateSpec{}).name, "group_aggregate");
  EXPECT_STREQ(InfoOf(CalcSpec{}).name, "calc");
  EXPECT_STREQ(InfoOf(WatermarkCompactingMaterializerSpec{}).name,
               "watermark_compacting_materializer");
}

TEST(Registry, MakesOperatorsFromSpecs) {
  GroupAggregateSpec distinct;
  distinct.group = {0};
  distinct.output.Add(kInput.field(0));
  ChangelogNormalizeSpec normalize;
  normalize.keys = {0};
  const OperatorSpec specs[] = {distinct, normalize, DropUpdateBeforeSpec{},
                                SinkMaterializerSpec{{0}, {}}, MiniBatchAssignerSpec{10, true}};
  for (const OperatorSpec& spec : specs) {
    Bench bench;
    const Result<std::unique_ptr<Operator>> made = CreateOperator(spec, kInput, bench.context);
    EXPECT_TRUE(made.ok()) << InfoOf(spec).name << ": " << made.status().ToString();
  }
}

// What a plan should never ask for is refused, not run.
TEST(Registry, BadSpecsAreRefused) {
  GroupAggregateSpec no_column;
  no_column.group = {7};
  no_column.output.Add(kInput.field(0));
  GroupAggregateSpec two_arguments;
  two_arguments.calls.push_back(
      {AggregateFunction::kCount, {0, 1}, -1, false, false, Type::BigInt()});
  two_arguments.output.Add({"n", Type::BigInt()});
  GroupAggregateSpec wrong_type;
  wrong_type.calls.push_back({AggregateFunction::kMax, {0}, -1, false, false, Type::Int()});
  wrong_type.output.Add({"m", Type::Int()});
  const OperatorSpec specs[] = {no_column,
                                two_arguments,
                                wrong_type,
                                ChangelogNormalizeSpec{},
                                SinkMaterializerSpec{},
                                MiniBatchAssignerSpec{}};
  for (const OperatorSpec& spec : specs) {
    Bench bench;
    EXPECT_FALSE(CreateOperator(spec, kInput, bench.context).ok()) << InfoOf(spec).name;
  }
}

}  // namespace
}  // namespace rowtide

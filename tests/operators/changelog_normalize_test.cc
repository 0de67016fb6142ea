#include "operators/changelog_normalize.h"

#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"k", Type::String()}, {"v", Type::Int()}, {"w", Type::String()}});

MakeOperator Make(const ChangelogNormalizeSpec& spec) {
  return [=](const OperatorContext& context) {
    return ChangelogNormalize::Create(spec, kInput, context);
  };
}

ChangelogNormalizeSpec Keyed(bool generates_update_before = true) {
  ChangelogNormalizeSpec spec;
  spec.keys = {0};
  spec.generates_update_before = generates_update_before;
  return spec;
}

ChangelogNormalizeSpec Filtered() {
  ChangelogNormalizeSpec spec = Keyed(false);
  spec.condition = Expression::Call(
      ">",
      {Expression::Input(1, Type::Int()), Expression::Literal(int64_t{10}, Type::Int().NotNull())},
      Type::Boolean());
  return spec;
}

TEST(ChangelogNormalize, EqualRowsAndUnknownDeletesVanish) {
  EXPECT_EQ(Changelog(Make(Keyed()), kInput,
                      {R"(+I ["a", 1, "p"])", R"(+U ["a", 2, "q"])", R"(+U ["a", 2, "q"])",
                       R"(+I ["a", 2, "q"])", R"(-D ["a", null, null])", R"(-D ["zz", null, null])",
                       R"(+U ["a", 5, "r"])"}),
            (Lines{R"(+I ["a",1,"p"])", R"(-U ["a",1,"p"])", R"(+U ["a",2,"q"])",
                   R"(-D ["a",2,"q"])", R"(+I ["a",5,"r"])"}));
}

// flink-rank-dedup.md 11: -U deletes at once.
TEST(ChangelogNormalize, OldImagesDelete) {
  EXPECT_EQ(
      Changelog(Make(Keyed()), kInput,
                {R"(+U ["k", 1, "a"])", R"(+U ["k", 1, "a"])", R"(-U ["k", 1, "a"])",
                 R"(+U ["k", 2, "b"])", R"(-D ["k", null, null])"}),
      (Lines{R"(+I ["k",1,"a"])", R"(-D ["k",1,"a"])", R"(+I ["k",2,"b"])", R"(-D ["k",2,"b"])"}));
}

TEST(ChangelogNormalize, ARowThatCeasesToMatchIsDeleted) {
  EXPECT_EQ(Changelog(Make(Filtered()), kInput,
                      {R"(+I ["a", 1, "p"])", R"(+U ["a", 20, "p"])", R"(+U ["a", 30, "p"])",
                       R"(+U ["a", 2, "p"])", R"(-D ["a", null, null])"}),
            (Lines{R"(+I ["a",20,"p"])", R"(+U ["a",30,"p"])", R"(-D ["a",30,"p"])"}));
}

TEST(ChangelogNormalize, ATtlKeepsStateDownstreamAlive) {
  Bench bench;
  bench.context.state_ttl_millis = 1000;
  EXPECT_EQ(Changelog(Make(Keyed()), kInput, {R"(+I ["a", 1, "p"])", R"(+I ["a", 1, "p"])"}, bench),
            (Lines{R"(+I ["a",1,"p"])", R"(-U ["a",1,"p"])", R"(+U ["a",1,"p"])"}));
}

TEST(ChangelogNormalize, ABundleKeepsTheLastMessageOfAKey) {
  ChangelogNormalizeSpec spec = Keyed();
  spec.mini_batch.size = 3;
  EXPECT_EQ(Changelog(Make(spec), kInput,
                      {R"(+I ["a", 1, "p"])", R"(+U ["b", 1, "p"])",
                       R"(+U ["a", 2, "a long text, not inlined"])", R"(+U ["a", 3, "q"])",
                       R"(-D ["a", null, null])", R"(+I ["c", 9, "r"])", R"(-D ["b", 1, "p"])"}),
            (Lines{R"(+I ["a",2,"a long text, not inlined"])", R"(+I ["b",1,"p"])",
                   R"(-D ["a",2,"a long text, not inlined"])", R"(+I ["c",9,"r"])",
                   R"(-D ["b",1,"p"])"}));
}

}  // namespace
}  // namespace rowtide

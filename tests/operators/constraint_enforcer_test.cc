#include "operators/constraint_enforcer.h"

#include "operators/drop_update_before.h"
#include "operators/values.h"
#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"k", Type::String()}, {"v", Type::Int()}});
const Schema kSized({{"a", Type::Char(3)}, {"b", Type::VarChar(3)}});

ConstraintEnforcerSpec NotNull(NotNullEnforcer enforcer) {
  ConstraintEnforcerSpec spec;
  spec.target = Schema({{"k", Type::String().NotNull()}, {"v", Type::Int()}});
  spec.not_null = enforcer;
  return spec;
}

ConstraintEnforcerSpec Lengths(TypeLengthEnforcer enforcer) {
  ConstraintEnforcerSpec spec;
  spec.target = kSized;
  spec.type_length = enforcer;
  return spec;
}

Status Enforce(const ConstraintEnforcerSpec& spec, const Schema& input, const Lines& rows,
               Lines* lines) {
  Bench bench;
  auto op = Made(
      [&](const OperatorContext& context) {
        return ConstraintEnforcer::Create(spec, input, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema());
  const Status status = op->Process(0, Rows(input, rows), out);
  *lines = out.lines;
  return status;
}

TEST(ConstraintEnforcer, NullsFailOrAreLeftOut) {
  const Lines input{R"(+I ["a", 1])", R"(+I [null, 2])", R"(+I ["c", 3])"};
  Lines lines;
  const Status status = Enforce(NotNull(NotNullEnforcer::kError), kInput, input, &lines);
  EXPECT_EQ(status.code(), StatusCode::kDataError);
  EXPECT_TRUE(Enforce(NotNull(NotNullEnforcer::kDrop), kInput, input, &lines).ok());
  EXPECT_EQ(lines, (Lines{R"(+I ["a",1])", R"(+I ["c",3])"}));
}

TEST(ConstraintEnforcer, CountsRowsLeftOutByReason) {
  ConstraintEnforcerSpec spec;
  spec.target = Schema({{"k", Type::String().NotNull()}, {"v", Type::Int().NotNull()}});
  spec.key = {0};
  spec.not_null = NotNullEnforcer::kDrop;
  Bench bench;
  auto op = Made(
      [&](const OperatorContext& context) {
        return ConstraintEnforcer::Create(spec, kInput, context);
      },
      bench.context);
  ScriptCollector out(op->output_schema());
  const Lines rows{R"(+I [null, 1])", R"(+I ["b", null])", R"(+I [null, null])", R"(+I ["d", 4])"};
  ASSERT_TRUE(op->Process(0, Rows(kInput, rows), out).ok());
  EXPECT_EQ(*bench.context.counters->Find("null_key"), 2);
  EXPECT_EQ(*bench.context.counters->Find("not_null"), 1);
  EXPECT_EQ(out.lines, (Lines{R"(+I ["d",4])"}));
}

TEST(ConstraintEnforcer, LengthsAreTrimmedAndPadded) {
  Lines lines;
  EXPECT_TRUE(Enforce(Lengths(TypeLengthEnforcer::kTrimPad), kSized,
                      {R"(+I ["abcdef", "abcdef"])", R"(+I ["a", "a"])", R"(+I ["äöüß", null])"},
                      &lines)
                  .ok());
  EXPECT_EQ(lines, (Lines{R"(+I ["abc","abc"])", R"(+I ["a  ","a"])", R"(+I ["äöü",null])"}));
  EXPECT_TRUE(
      Enforce(Lengths(TypeLengthEnforcer::kIgnore), kSized, {R"(+I ["abcdef", "abcdef"])"}, &lines)
          .ok());
  EXPECT_EQ(lines, (Lines{R"(+I ["abcdef","abcdef"])"}));
}

TEST(ConstraintEnforcer, WrongLengthsFail) {
  Lines lines;
  EXPECT_FALSE(
      Enforce(Lengths(TypeLengthEnforcer::kError), kSized, {R"(+I ["a", "a"])"}, &lines).ok());
  EXPECT_FALSE(
      Enforce(Lengths(TypeLengthEnforcer::kError), kSized, {R"(+I [null, "abcd"])"}, &lines).ok());
  EXPECT_TRUE(
      Enforce(Lengths(TypeLengthEnforcer::kError), kSized, {R"(+I ["abc", "a"])"}, &lines).ok());
}

TEST(DropUpdateBefore, LetsTheOthersThrough) {
  const MakeOperator make = [](const OperatorContext& context) {
    return DropUpdateBefore::Create({}, kInput, context);
  };
  EXPECT_EQ(Changelog(make, kInput,
                      {R"(+I ["a", 1])", R"(-U ["a", 1])", R"(+U ["a", 2])", R"(-D ["a", 2])"}),
            (Lines{R"(+I ["a",1])", R"(+U ["a",2])", R"(-D ["a",2])"}));
}

TEST(Values, RowsThenTheEnd) {
  auto made =
      ValuesSource::Create({{{std::string("a"), int64_t{1}}, {Value{}, int64_t{2}}}}, kInput);
  ASSERT_TRUE(made.ok());
  const std::unique_ptr<Source> source = std::move(*made);
  ScriptCollector out(source->output_schema());
  Result<SourceState> state = source->Poll(out);
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(*state, SourceState::kEnd);
  EXPECT_EQ(out.lines, (Lines{R"(+I ["a",1])", R"(+I [null,2])"}));
  EXPECT_FALSE(ValuesSource::Create({{{Value{}}}}, kInput).ok());
}

}  // namespace
}  // namespace rowtide

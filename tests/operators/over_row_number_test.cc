#include "operators/over_row_number.h"

#include "tests/operators/script_rows.h"

namespace rowtide {
namespace {

const Schema kInput({{"g", Type::String()}, {"id", Type::String()}, {"v", Type::Int()}});

Lines Numbered(bool generates_update_before, const Lines& rows) {
  OverRowNumberSpec spec;
  spec.partition = {0};
  spec.order = {{2, false, true}};
  spec.output = kInput;
  spec.output.Add({"n", Type::BigInt().NotNull()});
  spec.generates_update_before = generates_update_before;
  const MakeOperator make = [=](const OperatorContext& context) {
    return OverRowNumber::Create(spec, kInput, context);
  };
  return Changelog(make, kInput, rows);
}

TEST(OverRowNumber, RowsBehindMoveUp) {
  EXPECT_EQ(Numbered(true, {R"(+I ["x","a",5])", R"(+I ["x","b",3])", R"(+I ["x","c",3])",
                            R"(-D ["x","b",3])", R"(-D ["x","q",3])", R"(+I ["y","d",1])"}),
            (Lines{R"(+I ["x","a",5,1])", R"(+I ["x","b",3,1])", R"(-U ["x","a",5,1])",
                   R"(+U ["x","a",5,2])", R"(+I ["x","c",3,2])", R"(-U ["x","a",5,2])",
                   R"(+U ["x","a",5,3])", R"(-D ["x","b",3,1])", R"(-U ["x","c",3,2])",
                   R"(+U ["x","c",3,1])", R"(-U ["x","a",5,3])", R"(+U ["x","a",5,2])",
                   R"(+I ["y","d",1,1])"}));
}

TEST(OverRowNumber, WithoutOldImages) {
  EXPECT_EQ(Numbered(false, {R"(+I ["x","a",5])", R"(+I ["x","b",null])"}),
            (Lines{R"(+I ["x","a",5,1])", R"(+I ["x","b",null,1])", R"(+U ["x","a",5,2])"}));
}

}  // namespace
}  // namespace rowtide

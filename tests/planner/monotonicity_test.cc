// What the planner knows of the direction of columns, over trees made by hand.
#include "planner/physical/monotonicity.h"

#include <gtest/gtest.h>

namespace rowtide {
namespace {

// An input asked twice at each level would be asked 2^64 times here: the test would not end.
TEST(MonotonicityOf, DeepChainOfUnionsAsksEachInputOnce) {
  const ChangelogTrait appends = {{true, false, false}, UpdateKind::kNone, DeleteKind::kNone};
  Schema schema;
  schema.Add({"x", Type::Int()});
  const PhysicalPointer leaf = MakePhysical(PhysicalValues{}, {}, schema, appends);
  PhysicalPointer chain = leaf;
  for (int level = 0; level < 64; ++level) {
    chain = MakePhysical(PhysicalUnion{}, {chain, leaf}, schema, appends);
  }
  const auto found = MonotonicityOf(*chain);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, std::vector<Monotonicity>{Monotonicity::kConstant});
  EXPECT_FALSE(IntervalOf(*chain, 0).lower.has_value());
}

}  // namespace
}  // namespace rowtide

#include "engine/runtime/restore_plan.h"

#include <gtest/gtest.h>

namespace rowtide {
namespace {

const NodeIdentity kScan{"TableSourceScan(t)", "TableSourceScan(fields=[a])", {"a BIGINT"}};
const NodeIdentity kKeep{"Deduplicate", "Deduplicate(key=[a])", {"a BIGINT", "b STRING"}};
const NodeIdentity kTop{"Rank", "Rank(rankRange=[1, 3])", {"a BIGINT"}};
const NodeIdentity kWatermark{"WatermarkAssigner", "WatermarkAssigner(ts - 5)", {}};

Checkpoint Kept(const std::vector<NodeIdentity>& nodes) {
  Checkpoint checkpoint;
  LaneState& lane = checkpoint.lanes.emplace_back();
  for (const NodeIdentity& node : nodes) lane.nodes.push_back({node, "", "bytes"});
  return checkpoint;
}

std::string RefusalOf(const std::vector<NodeIdentity>& job, const Checkpoint& kept) {
  const Result<RestorePlan> plan = PlanRestore(job, kept, false);
  return plan.ok() ? "" : plan.status().message();
}

TEST(RestorePlan, FindsNodesByWhatTheyDo) {
  const Result<RestorePlan> plan =
      PlanRestore({kTop, kScan, kKeep}, Kept({kScan, kKeep, kTop}), false);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->from, (std::vector<int>{2, 0, 1}));
  EXPECT_TRUE(plan->notes.empty());
}

TEST(RestorePlan, TellsEqualOnesApartByTheirOrder) {
  const Result<RestorePlan> plan = PlanRestore({kTop, kTop}, Kept({kTop, kScan, kTop}), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->from, (std::vector<int>{0, 2}));
}

TEST(RestorePlan, ATableIsTheSameWhateverIsReadOfIt) {
  NodeIdentity other = kScan;
  other.description = "TableSourceScan(fields=[a, b])";
  other.columns.push_back("b STRING");
  EXPECT_EQ(RefusalOf({other}, Kept({kScan})), "");
}

TEST(RestorePlan, SaysWhatHasChanged) {
  NodeIdentity five = kTop;
  five.description = "Rank(rankRange=[1, 5])";
  EXPECT_EQ(RefusalOf({kScan, five}, Kept({kScan, kTop})),
            "the query does not fit the state that is to be restored:\n"
            "  Rank was\n    Rank(rankRange=[1, 3])\n  and is\n    Rank(rankRange=[1, 5])");
  NodeIdentity wider = kKeep;
  wider.columns[1] = "b VARCHAR(5)";
  EXPECT_EQ(RefusalOf({wider}, Kept({kKeep})),
            "the query does not fit the state that is to be restored:\n"
            "  Deduplicate(key=[a]): a column was `b STRING` and is `b VARCHAR(5)`");
  wider = kKeep;
  wider.columns.push_back("c INT");
  EXPECT_EQ(RefusalOf({wider}, Kept({kKeep})),
            "the query does not fit the state that is to be restored:\n"
            "  Deduplicate(key=[a]): the column `c INT` is new");
}

TEST(RestorePlan, StateThatNobodyTakesIsDroppedOnlyWhenThatIsAllowed) {
  EXPECT_EQ(RefusalOf({kScan}, Kept({kScan, kKeep})),
            "the query does not fit the state that is to be restored:\n"
            "  the query no longer has Deduplicate(key=[a])");
  const Result<RestorePlan> plan = PlanRestore({kScan}, Kept({kScan, kKeep}), true);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(
      plan->notes,
      (std::vector<std::string>{"state is dropped: the query no longer has Deduplicate(key=[a])"}));
}

TEST(RestorePlan, NewNodesStartEmptyAndThatIsSaid) {
  const Result<RestorePlan> plan = PlanRestore({kScan, kTop}, Kept({kScan}), false);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->from, (std::vector<int>{0, RestorePlan::kStartsEmpty}));
  EXPECT_EQ(plan->notes,
            (std::vector<std::string>{"starts without state: Rank(rankRange=[1, 3])"}));
}

TEST(RestorePlan, NodesWithoutStateDoNotMatter) {
  Checkpoint kept = Kept({kScan, kKeep});
  kept.lanes[0].nodes[1].bytes.clear();
  EXPECT_EQ(RefusalOf({kScan}, kept), "");
  NodeIdentity other = kWatermark;
  other.description = "WatermarkAssigner(ts - 9)";
  EXPECT_EQ(RefusalOf({other}, Kept({kWatermark})), "");
}

}  // namespace
}  // namespace rowtide

#include "planner/physical/changelog_inference.h"

#include "planner/physical/delete_kinds.h"
#include "planner/physical/modify_kinds.h"
#include "planner/physical/monotonicity.h"
#include "planner/physical/update_kinds.h"
#include "planner/rules/final_rows.h"

namespace rowtide {
namespace {

// What a GROUP BY must be able to take back, now that its input is known.
PhysicalPointer WithRetractions(const PhysicalPointer& node) {
  auto copy = std::make_shared<PhysicalNode>(*node);
  for (PhysicalPointer& input : copy->inputs) input = WithRetractions(input);
  if (const auto* aggregate = copy->as<PhysicalGroupAggregate>()) {
    PhysicalGroupAggregate settled = *aggregate;
    settled.counts_rows = !copy->input().trait.kinds.insert_only();
    settled.retracts.assign(settled.calls.size(), settled.counts_rows);
    const std::vector<Monotonicity> directions = DirectionsOfCalls(*copy);
    for (size_t i = 0; i < settled.calls.size(); ++i) {
      const AggregateCall& call = settled.calls[i];
      if (call.function == "COUNT" && call.arguments.empty() && call.filter < 0 &&
          settled.count_star < 0) {
        settled.count_star = static_cast<int>(i);
      }
      // The greatest of values that only grow never has to be taken back.
      if (call.function == "MAX" && directions[i] == Monotonicity::kIncreasing)
        settled.retracts[i] = false;
      if (call.function == "MIN" && directions[i] == Monotonicity::kDecreasing)
        settled.retracts[i] = false;
    }
    copy->op = std::move(settled);
  }
  return copy;
}

}  // namespace

Result<PhysicalPointer> InferChangelog(const PhysicalPointer& root, UpdateKind root_update,
                                       PlannerContext& context) {
  RT_ASSIGN(PhysicalPointer kinds, InferModifyKinds(root, context));
  if (context.options.batch) kinds = WithoutIdleFinalRows(kinds);
  RT_ASSIGN(PhysicalPointer updates, InferRootUpdateKinds(kinds, root_update, context));
  RT_ASSIGN(PhysicalPointer deletes, InferDeleteKinds(updates, context));
  return WithRetractions(deletes);
}

}  // namespace rowtide

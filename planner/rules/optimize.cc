#include "planner/rules/optimize.h"

#include "planner/physical/changelog_inference.h"
#include "planner/physical/deviations.h"
#include "planner/physical/mini_batch.h"
#include "planner/physical/to_physical.h"
#include "planner/rules/final_rows.h"
#include "planner/rules/prune.h"
#include "planner/rules/ranks.h"
#include "planner/rules/source_watermarks.h"
#include "planner/rules/time_attributes.h"
#include "planner/rules/to_rel.h"

namespace rowtide {
namespace {

bool SameSink(const PhysicalSink& a, const PhysicalSink& b) {
  return a.table == b.table && a.target_columns == b.target_columns &&
         a.hint_options == b.hint_options && a.conflict == b.conflict &&
         a.table->connector() != "filesystem";
}

// Several INSERTs into one table of a statement set: one sink over the union of their queries.
std::vector<PhysicalPointer> MergeSinks(std::vector<PhysicalPointer> roots) {
  std::vector<PhysicalPointer> merged;
  std::vector<bool> used(roots.size(), false);
  for (size_t i = 0; i < roots.size(); ++i) {
    if (used[i]) continue;
    const auto* sink = roots[i]->as<PhysicalSink>();
    std::vector<PhysicalPointer> inputs = roots[i]->inputs;
    for (size_t j = i + 1; sink && j < roots.size(); ++j) {
      const auto* other = roots[j]->as<PhysicalSink>();
      if (used[j] || !other || !SameSink(*sink, *other)) continue;
      inputs.push_back(roots[j]->inputs[0]);
      used[j] = true;
    }
    if (inputs.size() == 1 || !sink) {
      merged.push_back(roots[i]);
      continue;
    }
    Schema schema = inputs[0]->schema;
    PhysicalPointer all = MakePhysical(PhysicalUnion{}, std::move(inputs), schema);
    merged.push_back(MakePhysical(*sink, {std::move(all)}, schema));
  }
  return merged;
}

}  // namespace

Result<std::vector<PhysicalPointer>> Optimize(const std::vector<LogicalPointer>& roots,
                                              UpdateKind root_update, PlannerContext& context) {
  std::vector<PhysicalPointer> plans;
  for (const LogicalPointer& root : roots) {
    RT_ASSIGN(PhysicalPointer plan, ToRel(*root, context));
    RT_ASSIGN(plan, RecognizeRanks(plan, context));
    RT_ASSIGN(plan, Prune(plan, context));
    RT_ASSIGN(plan, PushWatermarks(plan, context));
    RT_ASSIGN(plan, MaterializeTimes(plan, context));
    plans.push_back(std::move(plan));
  }
  plans = MergeSinks(std::move(plans));
  for (PhysicalPointer& plan : plans) {
    if (context.options.batch) plan = WithFinalRows(plan);
    RT_ASSIGN(plan, ToPhysical(plan, context));
    RT_ASSIGN(plan, InferChangelog(plan, root_update, context));
    NoteDeviations(*plan, context);
  }
  return WithMiniBatch(std::move(plans), context);
}

}  // namespace rowtide

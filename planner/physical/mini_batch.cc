#include "planner/physical/mini_batch.h"

#include <algorithm>

#include "operators/partial_layout.h"
#include "planner/physical/aggregations.h"
#include "planner/physical/modify_kinds.h"

namespace rowtide {
namespace {

// Whether some node holds rows back: plans of projections, unions and normalisers alone run row by
// row.
bool GainsFromBatches(const PhysicalNode& node) {
  if (node.as<PhysicalRank>() || node.as<PhysicalGroupAggregate>() ||
      node.as<PhysicalOverAggregate>() || node.as<PhysicalSortLimit>() ||
      node.as<PhysicalLimit>() || node.as<PhysicalJoin>() || node.as<PhysicalWatermarkAssigner>()) {
    return true;
  }
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const PhysicalPointer& p) { return GainsFromBatches(*p); });
}

// A Top-1 by event time has to see whole stretches between watermarks.
bool NeedsWatermarks(const PhysicalNode& node) {
  const auto* rank = node.as<PhysicalRank>();
  return rank && IsDeduplication(*rank) && rank->order.size() == 1 &&
         node.input().schema.type(rank->order[0].column).is_rowtime();
}

PhysicalPointer Assigned(PhysicalPointer node, bool rowtime, const PlannerContext& context) {
  Schema schema = node->schema;
  const ChangelogTrait trait = node->trait;
  return MakePhysical(PhysicalMiniBatchAssigner{context.options.mini_batch_latency_millis, rowtime},
                      {std::move(node)}, std::move(schema), trait);
}

PhysicalPointer WithAssigners(const PhysicalPointer& node, bool rowtime,
                              const PlannerContext& context) {
  if (node->as<PhysicalScan>() || node->as<PhysicalWatermarkAssigner>())
    return Assigned(node, rowtime, context);
  auto copy = std::make_shared<PhysicalNode>(*node);
  const bool below = rowtime || NeedsWatermarks(*node);
  for (PhysicalPointer& input : copy->inputs) input = WithAssigners(input, below, context);
  return copy;
}

bool MergesPartials(const AggregateCall& call) {
  return call.function == "COUNT" || call.function == "SUM" || call.function == "$SUM0" ||
         call.function == "AVG" || call.function == "MIN" || call.function == "MAX";
}

Result<PhysicalPointer> InTwoPhases(const PhysicalPointer& node) {
  const auto& aggregate = *node->as<PhysicalGroupAggregate>();
  const PhysicalPointer input = node->input().inputs[0];  // below the Exchange
  PhysicalGroupAggregate local = aggregate;
  local.phase = AggregatePhase::kLocal;
  std::vector<Field> fields;
  std::vector<int> keys;
  for (int column : aggregate.group) {
    keys.push_back(static_cast<int>(fields.size()));
    fields.push_back(input->schema.field(column));
  }
  RT_ASSIGN(const std::vector<Aggregation> calls, AggregationsOf(aggregate));
  const PartialLayout layout =
      LayoutOfPartials(calls, aggregate.counts_rows, aggregate.count_star, input->schema);
  for (const Field& field : layout.schema.fields()) fields.push_back(field);
  const Schema partial(std::move(fields));
  const ChangelogTrait inserts{{true, false, false}, UpdateKind::kNone, DeleteKind::kNone};
  PhysicalPointer rows = MakePhysical(std::move(local), {input}, partial, inserts);
  rows = MakePhysical(PhysicalExchange{keys}, {std::move(rows)}, partial, inserts);
  PhysicalGroupAggregate global = aggregate;
  global.phase = AggregatePhase::kGlobal;
  global.group = keys;
  global.raw_input = input->schema;
  return MakePhysical(std::move(global), {std::move(rows)}, node->schema, node->trait);
}

Result<PhysicalPointer> WithPhases(const PhysicalPointer& node) {
  auto copy = std::make_shared<PhysicalNode>(*node);
  for (PhysicalPointer& input : copy->inputs) {
    RT_ASSIGN(input, WithPhases(input));
  }
  const auto* aggregate = copy->as<PhysicalGroupAggregate>();
  const bool merges =
      aggregate && std::all_of(aggregate->calls.begin(), aggregate->calls.end(), MergesPartials);
  if (!merges) return PhysicalPointer(std::move(copy));
  return InTwoPhases(copy);
}

}  // namespace

Result<std::vector<PhysicalPointer>> WithMiniBatch(std::vector<PhysicalPointer> roots,
                                                   const PlannerContext& context) {
  const auto gains = [](const PhysicalPointer& root) { return GainsFromBatches(*root); };
  if (!context.options.mini_batch || std::none_of(roots.begin(), roots.end(), gains)) return roots;
  for (PhysicalPointer& root : roots) {
    root = WithAssigners(root, false, context);
    if (context.options.phases == AggregatePhaseStrategy::kOnePhase) continue;
    RT_ASSIGN(root, WithPhases(root));
  }
  return roots;
}

}  // namespace rowtide

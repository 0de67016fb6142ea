#include "planner/rules/source_watermarks.h"

#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

// Null when the node is no assigner whose watermarks its source can make.
Result<PhysicalPointer> Pushed(const PhysicalNode& node, PlannerContext& context) {
  const auto* assigner = node.as<PhysicalWatermarkAssigner>();
  const auto* calc = assigner ? node.input().as<PhysicalCalc>() : nullptr;
  if (!calc || calc->condition) return PhysicalPointer();
  const PhysicalNode& below = node.input().input();
  const auto* scan = below.as<PhysicalScan>();
  if (!scan || scan->watermark || !scan->table->source || !scan->table->source->watermark)
    return PhysicalPointer();
  CalcParts parts{calc->projections, node.schema.names(), std::nullopt};
  parts.as_written = true;
  Expression& time = parts.projections[static_cast<size_t>(assigner->rowtime)];
  PhysicalScan copy = *scan;
  copy.watermark = TableWatermark{time.is_input() ? time.column : -1,
                                  Substitute(assigner->watermark, calc->projections), false, ""};
  time = Expression::Call("Reinterpret", {time}, node.schema.type(assigner->rowtime));
  return MakeCalc(MakePhysical(std::move(copy), {}, below.schema), std::move(parts), context);
}

}  // namespace

Result<PhysicalPointer> PushWatermarks(const PhysicalPointer& root, PlannerContext& context) {
  auto copy = std::make_shared<PhysicalNode>(*root);
  bool changed = false;
  for (PhysicalPointer& input : copy->inputs) {
    const PhysicalPointer before = input;
    RT_ASSIGN(input, PushWatermarks(before, context));
    changed |= input != before;
  }
  RT_ASSIGN(PhysicalPointer pushed, Pushed(*copy, context));
  if (pushed) return pushed;
  if (!changed) return root;
  const auto* calc = copy->as<PhysicalCalc>();
  if (!calc || !copy->input().as<PhysicalCalc>()) return PhysicalPointer(std::move(copy));
  CalcParts parts{calc->projections, copy->schema.names(), calc->condition};
  parts.as_written = true;
  return MakeCalc(copy->inputs[0], std::move(parts), context);
}

}  // namespace rowtide

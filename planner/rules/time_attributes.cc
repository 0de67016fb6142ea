#include "planner/rules/time_attributes.h"

#include <algorithm>

#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

Expression Materialized(const Expression& e) {
  if (e.type.is_rowtime()) return Expression::Cast(e, e.type.WithoutTimeAttribute());
  if (e.type.is_proctime()) {
    return Expression::Call("PROCTIME_MATERIALIZE", {e}, e.type.WithoutTimeAttribute());
  }
  return e;
}

// Time attributes inside calls; at the top they stay what they are.
Expression InsideCalls(const Expression& e) {
  if (!e.is_call() || e.function == "CURRENT_WATERMARK" || e.function == "PROCTIME_MATERIALIZE")
    return e;
  Expression copy = e;
  for (Expression& operand : copy.operands) {
    operand = InsideCalls(operand);
    if (e.function == "CAST" && operand.type.is_rowtime() &&
        e.type.SameButNullability(operand.type))
      continue;
    operand = Materialized(operand);
  }
  return copy;
}

// GROUP BY and its calls see plain values.
Result<PhysicalPointer> BelowAggregate(const PhysicalPointer& node, PlannerContext& context) {
  const auto& aggregate = *node->as<PhysicalGroupAggregate>();
  const PhysicalNode& input = node->input();
  std::vector<bool> read(static_cast<size_t>(input.schema.size()), false);
  for (int column : aggregate.group) read[static_cast<size_t>(column)] = true;
  for (const AggregateCall& call : aggregate.calls) {
    for (int column : call.arguments) read[static_cast<size_t>(column)] = true;
  }
  CalcParts spec{InputsOfAll(input.schema), input.schema.names(), std::nullopt};
  bool any = false;
  for (size_t i = 0; i < spec.projections.size(); ++i) {
    if (!read[i] || !spec.projections[i].type.is_time_attribute()) continue;
    spec.projections[i] = Materialized(spec.projections[i]);
    any = true;
  }
  if (!any) return node;
  RT_ASSIGN(PhysicalPointer below, MakeCalc(node->inputs[0], std::move(spec), context));
  std::vector<Field> fields = node->schema.fields();
  for (size_t i = 0; i < aggregate.group.size(); ++i)
    fields[i].type = fields[i].type.WithoutTimeAttribute();
  return MakePhysical(aggregate, {std::move(below)}, Schema(std::move(fields)));
}

Result<PhysicalPointer> Visit(const PhysicalPointer& node, PlannerContext& context) {
  auto copy = std::make_shared<PhysicalNode>(*node);
  for (PhysicalPointer& input : copy->inputs) {
    RT_ASSIGN(input, Visit(input, context));
  }
  if (const auto* calc = node->as<PhysicalCalc>()) {
    PhysicalCalc times = *calc;
    for (Expression& e : times.projections) e = InsideCalls(e);
    if (times.condition) times.condition = InsideCalls(*times.condition);
    copy->op = std::move(times);
  }
  if (node->as<PhysicalGroupAggregate>()) return BelowAggregate(copy, context);
  return PhysicalPointer(std::move(copy));
}

Result<PhysicalPointer> WithoutProctime(PhysicalPointer node, PlannerContext& context) {
  CalcParts spec{InputsOfAll(node->schema), node->schema.names(), std::nullopt};
  bool any = false;
  for (Expression& e : spec.projections) {
    if (!e.type.is_proctime()) continue;
    e = Materialized(e);
    any = true;
  }
  if (!any) return node;
  return MakeCalc(std::move(node), std::move(spec), context);
}

}  // namespace

Result<PhysicalPointer> MaterializeTimes(const PhysicalPointer& root, PlannerContext& context) {
  RT_ASSIGN(PhysicalPointer visited, Visit(root, context));
  if (!visited->as<PhysicalSink>()) return WithoutProctime(std::move(visited), context);
  auto sink = std::make_shared<PhysicalNode>(*visited);
  RT_ASSIGN(sink->inputs[0], WithoutProctime(sink->inputs[0], context));
  sink->schema = sink->inputs[0]->schema;
  return PhysicalPointer(std::move(sink));
}

}  // namespace rowtide

#include "planner/rules/sorts.h"

#include <algorithm>
#include <set>

#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

PhysicalPointer Limited(PhysicalPointer input, const LogicalSort& sort, std::vector<SortKey> keys) {
  Schema schema = input->schema;
  if (keys.empty()) {
    return MakePhysical(PhysicalLimit{sort.offset.value_or(0), sort.fetch}, {std::move(input)},
                        std::move(schema));
  }
  PhysicalSortLimit op;
  op.order = std::move(keys);
  op.offset = sort.offset.value_or(0);
  op.fetch = *sort.fetch;
  return MakePhysical(std::move(op), {std::move(input)}, std::move(schema));
}

// A scan that reads only what it is asked for: the projection goes into it, not above the limit.
bool TakesProjection(const PhysicalNode& calc) {
  const auto* scan = calc.input().as<PhysicalScan>();
  const auto& projections = calc.as<PhysicalCalc>()->projections;
  return scan && scan->table->source && scan->table->source->projection &&
         std::all_of(projections.begin(), projections.end(),
                     [](const Expression& e) { return e.is_input(); });
}

// The limit sinks below a projection when its keys are plain columns of what lies below. Above a
// filter it needs the columns that the projection reads, and those of the filter if it computes
// something.
Result<PhysicalPointer> BelowProjection(const PhysicalPointer& calc, const LogicalSort& sort,
                                        PlannerContext& context) {
  const auto& op = *calc->as<PhysicalCalc>();
  if (calc->input().as<PhysicalRank>() || calc->input().as<PhysicalOverAggregate>())
    return Limited(calc, sort, sort.keys);
  std::vector<SortKey> keys = sort.keys;
  for (SortKey& key : keys) {
    const Expression& e = op.projections[static_cast<size_t>(key.column)];
    if (!e.is_input()) return Limited(calc, sort, sort.keys);
    key.column = e.column;
  }
  const std::vector<std::string> names = calc->schema.names();
  if (!op.condition) {
    if (TakesProjection(*calc)) return Limited(calc, sort, sort.keys);
    return MakeCalc(Limited(calc->inputs[0], sort, std::move(keys)),
                    {op.projections, names, std::nullopt}, context);
  }
  std::set<int> needed;
  bool computes = false;
  for (const Expression& e : op.projections) {
    computes |= !e.is_input();
    for (int column : InputsOf(e)) needed.insert(column);
  }
  if (computes) {
    for (int column : InputsOf(*op.condition)) needed.insert(column);
  }
  CalcParts below;
  below.condition = op.condition;
  std::vector<int> mapping(static_cast<size_t>(calc->input().schema.size()), -1);
  for (int column : needed) {
    mapping[static_cast<size_t>(column)] = static_cast<int>(below.projections.size());
    below.projections.push_back(Expression::Input(column, calc->input().schema.type(column)));
    below.names.push_back(calc->input().schema.name(column));
  }
  for (SortKey& key : keys) key.column = mapping[static_cast<size_t>(key.column)];
  RT_ASSIGN(PhysicalPointer filtered, MakeCalc(calc->inputs[0], std::move(below), context));
  std::vector<Expression> above;
  for (const Expression& e : op.projections) above.push_back(Remap(e, mapping));
  return MakeCalc(Limited(std::move(filtered), sort, std::move(keys)),
                  {std::move(above), names, std::nullopt}, context);
}

}  // namespace

Result<PhysicalPointer> MakeSort(PhysicalPointer input, const LogicalSort& sort,
                                 PlannerContext& context) {
  if (sort.fetch && *sort.fetch == 0) return EmptyValues(input->schema);
  if (IsEmptyValues(*input)) return input;
  if (context.options.batch && !sort.fetch && !sort.offset && !sort.keys.empty()) {
    Schema schema = input->schema;
    return MakePhysical(PhysicalFinalRows{sort.keys}, {std::move(input)}, std::move(schema));
  }
  if (!sort.fetch && !sort.keys.empty()) {
    const SortKey& first = sort.keys[0];
    if (input->schema.type(first.column).is_time_attribute() && !first.descending) {
      if (!sort.offset)
        return Status::Unsupported(
                   "ORDER BY a time attribute without LIMIT (temporal sort) is not supported yet")
            .WithHint(
                "SET 'execution.runtime-mode' = 'batch' gives the final rows alone, and sorts "
                "them; "
                "or add LIMIT n");
    }
    if (sort.offset) {
      return Status::Plan("ORDER BY … OFFSET needs a LIMIT (FETCH) on a stream");
    }
    return Status::Plan(
               "a stream cannot be sorted by {}, which is no time attribute in ascending order",
               Quote(input->schema.name(first.column)))
        .WithErrorCode("RT2901")
        .WithHint(
            "add LIMIT n to keep the first n rows; or SET 'execution.runtime-mode' = 'batch', "
            "which gives the final rows alone, and sorts them");
  }
  if (input->as<PhysicalCalc>()) return BelowProjection(input, sort, context);
  return Limited(std::move(input), sort, sort.keys);
}

}  // namespace rowtide

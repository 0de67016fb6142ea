#include "planner/rules/sorts.h"

#include <algorithm>

#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

PhysicalPointer Sorted(PhysicalPointer input, const LogicalSort& sort, std::vector<SortKey> keys) {
  PhysicalSortLimit op;
  op.order = std::move(keys);
  op.offset = sort.offset.value_or(0);
  op.fetch = *sort.fetch;
  Schema schema = input->schema;
  return MakePhysical(std::move(op), {std::move(input)}, std::move(schema));
}

// The sort sinks below a projection when its keys are plain columns of what lies below.
Result<PhysicalPointer> BelowProjection(const PhysicalPointer& calc, const LogicalSort& sort, PlannerContext& context) {
  const auto& op = *calc->as<PhysicalCalc>();
  std::vector<SortKey> keys = sort.keys;
  for (SortKey& key : keys) {
    const Expression& e = op.projections[static_cast<size_t>(key.column)];
    if (!e.is_input()) return Sorted(calc, sort, sort.keys);
    key.column = e.column;
  }
  const std::vector<std::string> names = calc->schema.names();
  if (!op.condition) {
    return MakeCalc(Sorted(calc->inputs[0], sort, std::move(keys)), {op.projections, names, std::nullopt}, context);
  }
  if (IsAscendingSubset(op.projections)) return Sorted(calc, sort, sort.keys);
  std::vector<int> needed;
  for (const Expression& e : op.projections) {
    for (int column : InputsOf(e)) needed.push_back(column);
  }
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
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
  return MakeCalc(Sorted(std::move(filtered), sort, std::move(keys)), {std::move(above), names, std::nullopt}, context);
}

}  // namespace

Result<PhysicalPointer> MakeSort(PhysicalPointer input, const LogicalSort& sort, PlannerContext& context) {
  if (sort.fetch && *sort.fetch == 0) return EmptyValues(input->schema);
  if (IsEmptyValues(*input)) return input;
  if (sort.keys.empty()) {
    Schema schema = input->schema;
    return MakePhysical(PhysicalLimit{sort.offset.value_or(0), sort.fetch}, {std::move(input)}, std::move(schema));
  }
  if (!sort.fetch) {
    const SortKey& first = sort.keys[0];
    if (input->schema.type(first.column).is_time_attribute() && !first.descending) {
      if (!sort.offset) return Status::Unsupported("ORDER BY a time attribute without LIMIT (temporal sort) is not supported yet");
    }
    if (sort.offset) {
      return Status::Plan("ORDER BY … OFFSET needs a LIMIT (FETCH) on a stream");
    }
    return Status::Plan("a stream cannot be sorted by {}, which is no time attribute in ascending order",
                        Quote(input->schema.name(first.column)))
        .WithHint("add LIMIT n to keep the first n rows");
  }
  if (input->as<PhysicalCalc>()) return BelowProjection(input, sort, context);
  return Sorted(std::move(input), sort, sort.keys);
}

}  // namespace rowtide

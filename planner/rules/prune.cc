#include "planner/rules/prune.h"

#include <algorithm>
#include <set>

#include "planner/physical/keys.h"
#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

std::set<int> ReadBy(const PhysicalCalc& calc) {
  std::set<int> columns;
  const auto add = [&columns](const Expression& e) {
    for (int column : InputsOf(e)) columns.insert(column);
  };
  for (const Expression& e : calc.projections) add(e);
  if (calc.condition) add(*calc.condition);
  return columns;
}

CalcParts Remapped(const PhysicalCalc& calc, const PhysicalNode& node,
                   const std::vector<int>& mapping) {
  CalcParts spec;
  for (const Expression& e : calc.projections) spec.projections.push_back(Remap(e, mapping));
  spec.names = node.schema.names();
  if (calc.condition) spec.condition = Remap(*calc.condition, mapping);
  return spec;
}

bool ConstantNumber(const PhysicalRank& rank) {
  return rank.outputs_number && rank.type == RankType::kRowNumber && !rank.range.is_variable() &&
         rank.range.start == rank.range.end;
}

Result<PhysicalPointer> PruneRank(const PhysicalPointer& node, PlannerContext& context);

// The Calc that leaves columns out below a ranking is made after filters and projections have sunk:
// it does not go into a union, and only where it stands on a ranking itself it leaves columns out
// there too.
Result<PhysicalPointer> CalcBelowRank(const PhysicalPointer& input, CalcParts parts,
                                      PlannerContext& context) {
  if (input->as<PhysicalUnion>()) {
    Schema schema = SchemaOf(parts.projections, parts.names);
    return MakePhysical(PhysicalCalc{std::move(parts.projections), std::nullopt}, {input},
                        std::move(schema));
  }
  RT_ASSIGN(PhysicalPointer calc, MakeCalc(input, std::move(parts), context));
  const bool fresh = input->as<PhysicalRank>() && calc->as<PhysicalCalc>();
  return fresh ? PruneRank(calc, context) : calc;
}

// Calc over Rank: the columns that neither reads are left out below.
Result<PhysicalPointer> PruneRank(const PhysicalPointer& node, PlannerContext& context) {
  const auto& calc = *node->as<PhysicalCalc>();
  const PhysicalPointer& rank_node = node->inputs[0];
  const auto& rank = *rank_node->as<PhysicalRank>();
  const Schema& input = rank_node->input().schema;
  std::set<int> kept = ReadBy(calc);
  const int number = input.size();
  const bool reads_number = kept.erase(number) > 0;
  kept.insert(rank.partition.begin(), rank.partition.end());
  for (const SortKey& key : rank.order) kept.insert(key.column);
  if (rank.range.is_variable()) kept.insert(rank.range.variable_end);
  for (const ColumnSet& key : UpsertKeys(rank_node->input())) kept.insert(key.begin(), key.end());
  if (static_cast<int>(kept.size()) == input.size() && reads_number == rank.outputs_number)
    return node;
  std::vector<int> mapping(static_cast<size_t>(input.size() + 1), -1);
  CalcParts below;
  std::vector<Field> fields;
  for (int column : kept) {
    mapping[static_cast<size_t>(column)] = static_cast<int>(fields.size());
    below.projections.push_back(Expression::Input(column, input.type(column)));
    below.names.push_back(input.name(column));
    fields.push_back(input.field(column));
  }
  mapping[static_cast<size_t>(number)] = static_cast<int>(fields.size());
  PhysicalRank narrow = rank;
  narrow.outputs_number = reads_number;
  for (int& column : narrow.partition) column = mapping[static_cast<size_t>(column)];
  for (SortKey& key : narrow.order) key.column = mapping[static_cast<size_t>(key.column)];
  if (rank.range.is_variable())
    narrow.range.variable_end = mapping[static_cast<size_t>(rank.range.variable_end)];
  if (reads_number) fields.push_back(rank_node->schema.field(number));
  RT_ASSIGN(PhysicalPointer pruned, CalcBelowRank(rank_node->inputs[0], std::move(below), context));
  PhysicalPointer narrowed =
      MakePhysical(std::move(narrow), {std::move(pruned)}, Schema(std::move(fields)));
  CalcParts above = Remapped(calc, *node, mapping);
  above.as_written = true;  // what the ranking left of the condition
  return MakeCalc(std::move(narrowed), std::move(above), context);
}

// A GROUP BY without the calls that are not in `read`; `mapping` says where its columns have gone.
// Null: all are read.
PhysicalPointer WithCalls(const PhysicalNode& node, const std::set<int>& read,
                          std::vector<int>* mapping) {
  const auto& aggregate = *node.as<PhysicalGroupAggregate>();
  const int groups = static_cast<int>(aggregate.group.size());
  mapping->assign(static_cast<size_t>(node.schema.size()), -1);
  PhysicalGroupAggregate narrow = aggregate;
  narrow.calls.clear();
  std::vector<Field> fields;
  for (int i = 0; i < node.schema.size(); ++i) {
    if (i >= groups && read.count(i) == 0) continue;
    (*mapping)[static_cast<size_t>(i)] = static_cast<int>(fields.size());
    fields.push_back(node.schema.field(i));
    if (i >= groups) narrow.calls.push_back(aggregate.calls[static_cast<size_t>(i - groups)]);
  }
  if (narrow.calls.size() == aggregate.calls.size() || (groups == 0 && narrow.calls.empty()))
    return nullptr;
  return MakePhysical(std::move(narrow), node.inputs, Schema(std::move(fields)));
}

// Calc over GroupAggregate: calls that nobody reads are not made. Their arguments stay below, as in
// Flink.
Result<PhysicalPointer> PruneCalls(const PhysicalPointer& node, PlannerContext& context) {
  const auto& calc = *node->as<PhysicalCalc>();
  std::vector<int> mapping;
  PhysicalPointer narrowed = WithCalls(node->input(), ReadBy(calc), &mapping);
  if (!narrowed) return node;
  return MakeCalc(std::move(narrowed), Remapped(calc, *node, mapping), context);
}

// The same with a limit between, whose order counts as read.
Result<PhysicalPointer> PruneCallsOfLimit(const PhysicalPointer& node, PlannerContext& context) {
  const auto& calc = *node->as<PhysicalCalc>();
  const PhysicalNode& limit = node->input();
  std::set<int> read = ReadBy(calc);
  const auto* sort = limit.as<PhysicalSortLimit>();
  if (sort) {
    for (const SortKey& key : sort->order) read.insert(key.column);
  }
  std::vector<int> mapping;
  PhysicalPointer narrowed = WithCalls(limit.input(), read, &mapping);
  if (!narrowed) return node;
  auto copy = std::make_shared<PhysicalNode>(limit);
  copy->schema = narrowed->schema;
  copy->inputs = {std::move(narrowed)};
  if (sort) {
    PhysicalSortLimit moved = *sort;
    for (SortKey& key : moved.order) key.column = mapping[static_cast<size_t>(key.column)];
    copy->op = std::move(moved);
  }
  return MakeCalc(std::move(copy), Remapped(calc, *node, mapping), context);
}

// COUNT(*) over a GROUP BY reads only that a group exists.
PhysicalPointer WithoutCalls(const PhysicalPointer& node) {
  const auto* aggregate = node->as<PhysicalGroupAggregate>();
  if (!aggregate || aggregate->group.empty() || aggregate->calls.empty()) return node;
  PhysicalGroupAggregate bare = *aggregate;
  bare.calls.clear();
  std::vector<Field> fields(
      node->schema.fields().begin(),
      node->schema.fields().begin() + static_cast<long>(aggregate->group.size()));
  return MakePhysical(std::move(bare), node->inputs, Schema(std::move(fields)));
}

bool ReadsNothing(const PhysicalGroupAggregate& aggregate) {
  return aggregate.group.empty() &&
         std::all_of(aggregate.calls.begin(), aggregate.calls.end(),
                     [](const AggregateCall& c) { return c.arguments.empty() && c.filter < 0; });
}

// A number that is always k leaves the ranking; a Calc above writes it.
Result<PhysicalPointer> NumberAsLiteral(const PhysicalPointer& node, PlannerContext& context) {
  const auto& rank = *node->as<PhysicalRank>();
  PhysicalRank bare = rank;
  bare.outputs_number = false;
  std::vector<Field> fields(node->schema.fields().begin(), node->schema.fields().end() - 1);
  PhysicalPointer without = MakePhysical(std::move(bare), node->inputs, Schema(std::move(fields)));
  CalcParts spec;
  spec.projections = InputsOfAll(without->schema);
  spec.projections.push_back(Expression::Literal(rank.range.end, Type::BigInt().NotNull()));
  spec.names = node->schema.names();
  return MakeCalc(std::move(without), std::move(spec), context);
}

// Applies `rule` to every node, parents first.
template <typename Rule>
Result<PhysicalPointer> TopDown(PhysicalPointer node, PlannerContext& context, const Rule& rule) {
  RT_ASSIGN(node, rule(node, context));
  std::vector<PhysicalPointer> inputs;
  bool changed = false;
  for (const PhysicalPointer& input : node->inputs) {
    RT_ASSIGN(PhysicalPointer below, TopDown(input, context, rule));
    changed |= below != input;
    inputs.push_back(std::move(below));
  }
  if (!changed) return node;
  auto copy = std::make_shared<PhysicalNode>(*node);
  copy->inputs = std::move(inputs);
  return PhysicalPointer(std::move(copy));
}

Result<PhysicalPointer> CallsRule(const PhysicalPointer& node, PlannerContext& context) {
  if (node->as<PhysicalCalc>() && node->input().as<PhysicalGroupAggregate>())
    return PruneCalls(node, context);
  if (node->as<PhysicalCalc>() &&
      (node->input().as<PhysicalLimit>() || node->input().as<PhysicalSortLimit>()) &&
      node->input().input().as<PhysicalGroupAggregate>()) {
    return PruneCallsOfLimit(node, context);
  }
  const auto* aggregate = node->as<PhysicalGroupAggregate>();
  if (!aggregate || !ReadsNothing(*aggregate)) return node;
  PhysicalPointer below = WithoutCalls(node->inputs[0]);
  if (below == node->inputs[0]) return node;
  return MakePhysical(*aggregate, {std::move(below)}, node->schema);
}

// The innermost rankings first: what an outer one does not need has been counted as needed by then,
// as in Flink.
Result<PhysicalPointer> PruneRanks(PhysicalPointer node, PlannerContext& context) {
  std::vector<PhysicalPointer> inputs;
  bool changed = false;
  for (const PhysicalPointer& input : node->inputs) {
    RT_ASSIGN(PhysicalPointer below, PruneRanks(input, context));
    changed |= below != input;
    inputs.push_back(std::move(below));
  }
  if (changed) {
    auto copy = std::make_shared<PhysicalNode>(*node);
    copy->inputs = std::move(inputs);
    node = std::move(copy);
  }
  if (node->as<PhysicalCalc>() && node->input().as<PhysicalRank>()) return PruneRank(node, context);
  return node;
}

Result<PhysicalPointer> WriteNumbers(const PhysicalPointer& node, PlannerContext& context) {
  std::vector<PhysicalPointer> inputs;
  bool changed = false;
  for (const PhysicalPointer& input : node->inputs) {
    RT_ASSIGN(PhysicalPointer below, WriteNumbers(input, context));
    changed |= below != input;
    inputs.push_back(std::move(below));
  }
  PhysicalPointer result = node;
  if (changed) {
    if (const auto* calc = node->as<PhysicalCalc>()) {  // may merge with what the input has become
      CalcParts parts{calc->projections, node->schema.names(), calc->condition};
      parts.as_written = true;
      return MakeCalc(inputs[0], std::move(parts), context);
    }
    auto copy = std::make_shared<PhysicalNode>(*node);
    copy->inputs = std::move(inputs);
    result = std::move(copy);
  }
  const auto* rank = result->as<PhysicalRank>();
  if (rank && ConstantNumber(*rank)) return NumberAsLiteral(result, context);
  return result;
}

}  // namespace

Result<PhysicalPointer> Prune(const PhysicalPointer& node, PlannerContext& context) {
  // Calls first: a call that only the Calc below a ranking would leave out stays, as in Flink.
  RT_ASSIGN(PhysicalPointer pruned, TopDown(node, context, CallsRule));
  RT_ASSIGN(pruned, PruneRanks(pruned, context));
  return WriteNumbers(pruned, context);
}

}  // namespace rowtide

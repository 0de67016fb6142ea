#include "planner/physical/monotonicity.h"

#include <algorithm>
#include <cmath>

namespace rowtide {
namespace {

using Monotonicities = std::vector<Monotonicity>;

std::optional<double> NumberOf(const Value& value, const Type& type) {
  if (const int64_t* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  if (const double* d = std::get_if<double>(&value)) return *d;
  if (const int128* n = std::get_if<int128>(&value))
    return static_cast<double>(*n) / std::pow(10.0, type.scale);
  return std::nullopt;
}

Interval Both(const Interval& a, const Interval& b) {  // holds for both
  Interval all = a;
  if (b.lower && (!all.lower || *b.lower > *all.lower)) all.lower = b.lower;
  if (b.upper && (!all.upper || *b.upper < *all.upper)) all.upper = b.upper;
  return all;
}

Interval Either(const Interval& a, const Interval& b) {  // holds for one of them
  Interval all;
  if (a.lower && b.lower) all.lower = std::min(*a.lower, *b.lower);
  if (a.upper && b.upper) all.upper = std::max(*a.upper, *b.upper);
  return all;
}

// What the conjuncts of a condition say of one column.
Interval Bounds(const Expression& condition, int column) {
  Interval all;
  for (const Expression& part : Conjuncts(condition)) {
    const Expression& e = part.is_call("IS TRUE") ? part.operands[0] : part;
    if (e.is_call("AND")) {
      all = Both(all, Bounds(e, column));
      continue;
    }
    if (e.is_call("SEARCH") && e.sarg && e.operands[0].is_input() &&
        e.operands[0].column == column && !e.sarg->ranges.empty()) {
      Interval range;
      if (const auto& lower = e.sarg->ranges.front().lower)
        range.lower = NumberOf(*lower, e.sarg->type);
      if (const auto& upper = e.sarg->ranges.back().upper)
        range.upper = NumberOf(*upper, e.sarg->type);
      all = Both(all, range);
      continue;
    }
    if (!e.is_call() || e.operands.size() != 2) continue;
    for (int side = 0; side < 2; ++side) {
      const Expression& a = e.operands[static_cast<size_t>(side)];
      const Expression& b = e.operands[static_cast<size_t>(1 - side)];
      if (!a.is_input() || a.column != column || !b.is_literal()) continue;
      const std::optional<double> number = NumberOf(b.literal, b.type);
      if (!number) continue;
      const bool less = side == 0 ? e.function == "<" || e.function == "<="
                                  : e.function == ">" || e.function == ">=";
      const bool greater = side == 0 ? e.function == ">" || e.function == ">="
                                     : e.function == "<" || e.function == "<=";
      if (greater || e.function == "=") all = Both(all, {number, std::nullopt});
      if (less || e.function == "=") all = Both(all, {std::nullopt, number});
    }
  }
  return all;
}

Interval OfExpression(const Expression& e, const PhysicalNode& input,
                      const std::optional<Expression>& condition) {
  if (e.is_literal()) {
    const std::optional<double> number = NumberOf(e.literal, e.type);
    return {number, number};
  }
  if (e.is_input()) {
    Interval interval = IntervalOf(input, e.column);
    if (condition) interval = Both(interval, Bounds(*condition, e.column));
    return interval;
  }
  if (e.is_call("CAST") && IsNumber(e.type)) return OfExpression(e.operands[0], input, condition);
  if (e.is_call("CASE")) {
    std::optional<Interval> all;
    for (size_t i = 1; i <= e.operands.size(); i += 2) {
      const Expression& branch = e.operands[std::min(i, e.operands.size() - 1)];
      if (!branch.is_literal()) return {};
      if (IsNull(branch.literal)) continue;
      const Interval one = OfExpression(branch, input, condition);
      all = all ? Either(*all, one) : one;
    }
    const Expression& otherwise = e.operands.back();
    if (!otherwise.is_literal()) return {};
    if (!IsNull(otherwise.literal)) {
      const Interval one = OfExpression(otherwise, input, condition);
      all = all ? Either(*all, one) : one;
    }
    return all.value_or(Interval{});
  }
  return {};
}

// The argument of a call, given its FILTER.
Interval ArgumentInterval(const PhysicalNode& input, const AggregateCall& call) {
  const int argument = call.arguments[0];
  Interval interval = IntervalOf(input, argument);
  const PhysicalNode* node = &input;
  while (node->as<PhysicalExchange>() || node->as<PhysicalMiniBatchAssigner>())
    node = &node->input();
  const auto* calc = node->as<PhysicalCalc>();
  if (call.filter < 0 || !calc) return interval;
  const Expression& value = calc->projections[static_cast<size_t>(argument)];
  if (value.is_input()) {
    interval =
        Both(interval, Bounds(calc->projections[static_cast<size_t>(call.filter)], value.column));
  }
  return interval;
}

Monotonicity OfCall(const AggregateCall& call, const PhysicalNode& input,
                    const Monotonicities& below) {
  Monotonicity direction = Monotonicity::kNone;
  if (call.function == "COUNT") return Monotonicity::kIncreasing;
  if (call.function == "MAX") direction = Monotonicity::kIncreasing;
  if (call.function == "MIN") direction = Monotonicity::kDecreasing;
  if (call.function == "SUM" || call.function == "$SUM0") {
    const Interval interval = ArgumentInterval(input, call);
    if (interval.lower && *interval.lower >= 0) direction = Monotonicity::kIncreasing;
    if (interval.upper && *interval.upper <= 0) direction = Monotonicity::kDecreasing;
  }
  // Over rows that change, a call keeps its direction only if its argument has it too.
  const bool changes = std::any_of(below.begin(), below.end(),
                                   [](Monotonicity m) { return m != Monotonicity::kConstant; });
  if (!changes || below[static_cast<size_t>(call.arguments[0])] == direction) return direction;
  return Monotonicity::kNone;
}

std::optional<Monotonicities> OfAggregate(const PhysicalNode& node,
                                          const PhysicalGroupAggregate& aggregate) {
  const PhysicalNode& input = node.input();
  const std::optional<Monotonicities> below = MonotonicityOf(input);
  if (!below || input.trait.kinds.deletes) return std::nullopt;
  Monotonicities all;
  for (int column : aggregate.group) {
    if ((*below)[static_cast<size_t>(column)] != Monotonicity::kConstant) return std::nullopt;
    all.push_back(Monotonicity::kConstant);
  }
  for (const AggregateCall& call : aggregate.calls) all.push_back(OfCall(call, input, *below));
  return all;
}

std::optional<Monotonicities> OfRank(const PhysicalNode& node, const PhysicalRank& rank) {
  const PhysicalNode& input = node.input();
  Monotonicities all(static_cast<size_t>(node.schema.size()), Monotonicity::kNone);
  for (int column : rank.partition) all[static_cast<size_t>(column)] = Monotonicity::kConstant;
  const bool is_top1 = rank.type == RankType::kRowNumber && rank.range.start == 1 &&
                       rank.range.end == 1 && !rank.range.is_variable() && !rank.outputs_number;
  if (is_top1 && rank.order.size() == 1 && input.trait.kinds.insert_only()) {
    const Type& order = input.schema.type(rank.order[0].column);
    if (order.is_proctime() && !rank.order[0].descending) {
      std::fill(all.begin(), all.end(), Monotonicity::kConstant);
      return all;
    }
    if (order.is_time_attribute()) return all;
  }
  const std::optional<Monotonicities> below = MonotonicityOf(input);
  if (!below) return std::nullopt;
  // A row that moves to another partition leaves its old one: there nothing only grows
  // (FlinkRelMdModifiedMonotonicity).
  for (int column : rank.partition) {
    if ((*below)[static_cast<size_t>(column)] != Monotonicity::kConstant) return std::nullopt;
  }
  if (rank.outputs_number) all.back() = Monotonicity::kConstant;
  const SortKey& first = rank.order[0];
  const Monotonicity wanted =
      first.descending ? Monotonicity::kIncreasing : Monotonicity::kDecreasing;
  const Monotonicity found = (*below)[static_cast<size_t>(first.column)];
  Monotonicity& slot = all[static_cast<size_t>(first.column)];
  if (slot == Monotonicity::kNone && (found == wanted || found == Monotonicity::kConstant))
    slot = wanted;
  return all;
}

Monotonicity OfProjection(const Expression& e, const Monotonicities& below) {
  if (e.is_input()) return below[static_cast<size_t>(e.column)];
  if (e.is_call("CAST")) return OfProjection(e.operands[0], below);
  const std::vector<int> inputs = InputsOf(e);
  const bool constant =
      IsDeterministic(e) && std::all_of(inputs.begin(), inputs.end(), [&](int column) {
        return below[static_cast<size_t>(column)] == Monotonicity::kConstant;
      });
  return constant ? Monotonicity::kConstant : Monotonicity::kNone;
}

std::optional<Monotonicities> OfCalc(const PhysicalNode& node, const PhysicalCalc& calc) {
  const std::optional<Monotonicities> below = MonotonicityOf(node.input());
  if (!below) return std::nullopt;
  bool settled = true;
  if (calc.condition) {
    for (int column : InputsOf(*calc.condition)) {
      settled &= (*below)[static_cast<size_t>(column)] == Monotonicity::kConstant;
    }
  }
  Monotonicities all;
  for (const Expression& e : calc.projections) {
    const Monotonicity one = OfProjection(e, *below);
    all.push_back(settled || one == Monotonicity::kConstant ? one : Monotonicity::kNone);
  }
  return all;
}

// Whether a source below gives changes: then rows can leave for good.
bool ReadsChanges(const PhysicalNode& node) {
  const auto* scan = node.as<PhysicalScan>();
  if (scan) return scan->table->source && !scan->table->source->mode.insert_only();
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const PhysicalPointer& p) { return ReadsChanges(*p); });
}

// A column moves in a direction when it does so in every branch.
std::optional<Monotonicities> OfUnion(const PhysicalNode& node) {
  std::optional<Monotonicities> all = MonotonicityOf(node.input());
  for (size_t branch = 1; branch < node.inputs.size(); ++branch) {
    const std::optional<Monotonicities> one = MonotonicityOf(*node.inputs[branch]);
    if (!one || !all) return std::nullopt;
    for (size_t i = 0; i < all->size(); ++i) {
      if ((*all)[i] != (*one)[i]) (*all)[i] = Monotonicity::kNone;
    }
  }
  return all;
}

}  // namespace

std::vector<Monotonicity> DirectionsOfCalls(const PhysicalNode& node) {
  const auto& aggregate = *node.as<PhysicalGroupAggregate>();
  const PhysicalNode& input = node.input();
  Monotonicities all(aggregate.calls.size(), Monotonicity::kNone);
  const std::optional<Monotonicities> below = MonotonicityOf(input);
  if (!below || ReadsChanges(input)) return all;
  for (int column : aggregate.group) {
    if ((*below)[static_cast<size_t>(column)] != Monotonicity::kConstant) return all;
  }
  for (size_t i = 0; i < all.size(); ++i) all[i] = OfCall(aggregate.calls[i], input, *below);
  return all;
}

Interval IntervalOf(const PhysicalNode& node, int column) {
  if (const auto* calc = node.as<PhysicalCalc>()) {
    return OfExpression(calc->projections[static_cast<size_t>(column)], node.input(),
                        calc->condition);
  }
  if (const auto* aggregate = node.as<PhysicalGroupAggregate>()) {
    const int groups = static_cast<int>(aggregate->group.size());
    if (column < groups)
      return IntervalOf(node.input(), aggregate->group[static_cast<size_t>(column)]);
    const AggregateCall& call = aggregate->calls[static_cast<size_t>(column - groups)];
    if (call.function == "COUNT") return {0.0, std::nullopt};
    if (call.function == "MIN" || call.function == "MAX")
      return ArgumentInterval(node.input(), call);
    if (call.function == "SUM" || call.function == "$SUM0") {
      Interval interval = ArgumentInterval(node.input(), call);
      if (interval.lower && *interval.lower >= 0) return {interval.lower, std::nullopt};
      if (interval.upper && *interval.upper <= 0) return {std::nullopt, interval.upper};
    }
    return {};
  }
  if (const auto* rank = node.as<PhysicalRank>()) {
    if (rank->outputs_number && column == node.schema.size() - 1) {
      Interval interval{static_cast<double>(rank->range.start), std::nullopt};
      if (!rank->range.is_variable()) interval.upper = static_cast<double>(rank->range.end);
      return interval;
    }
    return IntervalOf(node.input(), column);
  }
  if (node.as<PhysicalUnion>()) {
    Interval all = IntervalOf(node.input(), column);
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      all = Either(all, IntervalOf(*node.inputs[i], column));
    }
    return all;
  }
  if (node.as<PhysicalExchange>() || node.as<PhysicalWatermarkAssigner>() ||
      node.as<PhysicalSortLimit>() || node.as<PhysicalLimit>() ||
      node.as<PhysicalMiniBatchAssigner>() || node.as<PhysicalDropUpdateBefore>() ||
      node.as<PhysicalFinalRows>()) {
    return IntervalOf(node.input(), column);
  }
  if (const auto* normalize = node.as<PhysicalChangelogNormalize>()) {
    Interval interval = IntervalOf(node.input(), column);
    if (normalize->condition) interval = Both(interval, Bounds(*normalize->condition, column));
    return interval;
  }
  return {};
}

std::optional<Monotonicities> MonotonicityOf(const PhysicalNode& node) {
  const size_t columns = static_cast<size_t>(node.schema.size());
  if (const auto* scan = node.as<PhysicalScan>()) {
    const bool constant = scan->table->source->mode.insert_only();
    return Monotonicities(columns, constant ? Monotonicity::kConstant : Monotonicity::kNone);
  }
  if (node.as<PhysicalValues>()) return Monotonicities(columns, Monotonicity::kConstant);
  if (const auto* normalize = node.as<PhysicalChangelogNormalize>()) {
    Monotonicities all(columns, Monotonicity::kNone);
    for (int key : normalize->keys) all[static_cast<size_t>(key)] = Monotonicity::kConstant;
    return all;
  }
  if (const auto* aggregate = node.as<PhysicalGroupAggregate>())
    return OfAggregate(node, *aggregate);
  if (const auto* rank = node.as<PhysicalRank>()) return OfRank(node, *rank);
  if (const auto* calc = node.as<PhysicalCalc>()) return OfCalc(node, *calc);
  if (node.as<PhysicalUnion>()) return OfUnion(node);
  if (node.as<PhysicalExchange>() || node.as<PhysicalWatermarkAssigner>() ||
      node.as<PhysicalMiniBatchAssigner>() || node.as<PhysicalDropUpdateBefore>()) {
    return MonotonicityOf(node.input());
  }
  return std::nullopt;
}

}  // namespace rowtide

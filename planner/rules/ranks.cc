#include "planner/rules/ranks.h"

#include <algorithm>
#include <limits>

#include "planner/rules/calcs.h"
#include "planner/rules/normal_form.h"

namespace rowtide {
namespace {

bool Mentions(const Expression& e, int column) {
  const std::vector<int> inputs = InputsOf(e);
  return std::binary_search(inputs.begin(), inputs.end(), column);
}

// One comparison of the number with something: number <op> side.
struct Bound {
  std::string op;
  Expression side;
};

std::string Mirrored(const std::string& op) {
  if (op == "<") return ">";
  if (op == "<=") return ">=";
  if (op == ">") return "<";
  if (op == ">=") return "<=";
  return op;
}

std::optional<int64_t> WholeNumber(const Expression& e) {
  if (!e.is_literal()) return std::nullopt;
  if (const int64_t* i = std::get_if<int64_t>(&e.literal); i && IsInteger(e.type)) return *i;
  if (const int128* d = std::get_if<int128>(&e.literal)) {
    int128 unit = 1;
    for (int i = 0; i < e.type.scale; ++i) unit *= 10;
    return static_cast<int64_t>(*d / unit);
  }
  if (const double* d = std::get_if<double>(&e.literal)) return static_cast<int64_t>(*d);
  return std::nullopt;
}

// A column, or one widened for a comparison.
std::optional<Expression> BareColumn(const Expression& e) {
  if (e.is_input()) return e;
  if (e.is_call("CAST") && e.operands[0].is_input() && IsInteger(e.operands[0].type) &&
      IsInteger(e.type))
    return e.operands[0];
  return std::nullopt;
}

// False: the conjunct mentions the number in a way that is no bound.
bool BoundsOf(const Expression& e, int number, std::vector<Bound>* bounds) {
  if (!e.is_call() || e.operands.size() != 2) return false;
  if (e.function != "=" && e.function != "<" && e.function != "<=" && e.function != ">" &&
      e.function != ">=")
    return false;
  for (int side = 0; side < 2; ++side) {
    const Expression& a = e.operands[static_cast<size_t>(side)];
    const Expression& b = e.operands[static_cast<size_t>(1 - side)];
    if (!a.is_input() || a.column != number || Mentions(b, number)) continue;
    bounds->push_back({side == 0 ? e.function : Mirrored(e.function), b});
    return true;
  }
  return false;
}

struct Recognized {
  RankRange range;
  bool keeps_predicate = false;  // `rn < col`, `rn = col`: the range alone is not enough (RD §15.5)
};

// Empty: not a Top-N. An error: a Top-N that cannot be.
Result<std::optional<Recognized>> RangeOf(const std::vector<Bound>& bounds) {
  Recognized found;
  if (bounds.size() == 1) {
    if (const std::optional<Expression> column = BareColumn(bounds[0].side)) {
      const std::string& op = bounds[0].op;
      if (op != "<=" && op != "<" && op != "=") return std::optional<Recognized>();
      const TypeKind kind = column->type.kind;
      if (kind != TypeKind::kSmallInt && kind != TypeKind::kInt && kind != TypeKind::kBigInt) {
        return Status::Plan(
            "the number of rows to keep is column of type {}; it must be SMALLINT, INT or BIGINT",
            ToString(column->type));
      }
      found.range.variable_end = column->column;
      found.keeps_predicate = op != "<=";
      return std::optional<Recognized>(found);
    }
  }
  int64_t start = 1;
  int64_t end = std::numeric_limits<int64_t>::max();
  bool has_start = false;
  for (const Bound& bound : bounds) {
    const std::optional<int64_t> n = WholeNumber(bound.side);
    if (!n) return std::optional<Recognized>();
    if (bound.op == "=" || bound.op == "<=") end = std::min(end, *n);
    if (bound.op == "<") end = std::min(end, *n - 1);
    if (bound.op == "=" || bound.op == ">=" || bound.op == ">") {
      const int64_t lower = bound.op == ">" ? *n + 1 : *n;
      start = has_start ? std::max(start, lower) : lower;
      has_start = true;
    }
  }
  if (end == std::numeric_limits<int64_t>::max()) {
    return Status::
        Plan("the ranking has no upper bound; a stream can only keep the first rows of each group")
            .WithHint("add a condition like rn <= 10");
  }
  if (end <= 0)
    return Status::Plan("the ranking ends at {}; the upper bound must be at least 1", end);
  if (start > end)
    return Status::Plan("the ranking starts at {} and ends at {}: it holds no row", start, end);
  found.range.start = start;
  found.range.end = end;
  return std::optional<Recognized>(found);
}

std::optional<RankType> RankTypeOf(const std::string& function) {
  if (function == "ROW_NUMBER") return RankType::kRowNumber;
  if (function == "RANK") return RankType::kRank;
  if (function == "DENSE_RANK") return RankType::kDenseRank;
  return std::nullopt;
}

// The last alias given to the number column itself.
std::string NumberName(const PhysicalNode& calc, int number, const std::string& otherwise) {
  const auto& op = *calc.as<PhysicalCalc>();
  std::string name = otherwise;
  for (size_t i = 0; i < op.projections.size(); ++i) {
    if (op.projections[i].is_input() && op.projections[i].column == number)
      name = calc.schema.name(static_cast<int>(i));
  }
  return name;
}

Result<PhysicalPointer> Recognized1(const PhysicalPointer& node, PlannerContext& context) {
  const auto* calc = node->as<PhysicalCalc>();
  if (!calc || !calc->condition) return node;
  const PhysicalNode& over_node = node->input();
  const auto* over = over_node.as<PhysicalOverAggregate>();
  if (!over || over->calls.size() != 1) return node;
  const std::optional<RankType> type = RankTypeOf(over->calls[0].function);
  if (!type) return node;
  const int number = over_node.schema.size() - 1;
  std::vector<Bound> bounds;
  std::vector<Expression> rest;
  std::vector<Expression> number_parts;
  for (const Expression& part : NormalConjuncts(*calc->condition)) {
    if (!Mentions(part, number)) {
      rest.push_back(part);
    } else {
      if (!BoundsOf(part, number, &bounds)) return node;
      number_parts.push_back(part);
    }
  }
  if (bounds.empty()) return node;
  RT_ASSIGN(std::optional<Recognized> recognized, RangeOf(bounds));
  if (!recognized) return node;
  PhysicalRank rank;
  rank.type = *type;
  rank.range = recognized->range;
  const OverWindow& window = *over->calls[0].over;
  for (const Expression& part : window.partition) rank.partition.push_back(part.column);
  for (const OverWindow::Order& order : window.order) {
    if (order.key.is_input())
      rank.order.push_back({order.key.column, order.descending, order.nulls_first});
  }
  if (recognized->keeps_predicate && !context.options.flink_compat) {
    for (Expression& part : number_parts) rest.push_back(std::move(part));
    context.Deviate(
        "15.5: the bound on the row number is strict (<) or exact (=) against a column; it stays "
        "as a "
        "filter above Rank, where Flink reads it as <=");
  }
  const auto mentions_number = [number](const Expression& e) { return Mentions(e, number); };
  rank.outputs_number =
      std::any_of(calc->projections.begin(), calc->projections.end(), mentions_number) ||
      std::any_of(rest.begin(), rest.end(), mentions_number);
  Schema schema = over_node.input().schema;
  if (rank.outputs_number) {
    std::string name = NumberName(*node, number, over_node.schema.name(number));
    if (schema.Find(name) >= 0) name = over_node.schema.name(number);
    schema.Add({name, Type::BigInt().NotNull()});
  }
  PhysicalPointer ranked = MakePhysical(std::move(rank), {over_node.inputs[0]}, std::move(schema));
  CalcParts spec{calc->projections, node->schema.names(), std::nullopt};
  if (!rest.empty()) spec.condition = NestedAnd(std::move(rest));
  spec.as_written = true;
  return MakeCalc(std::move(ranked), std::move(spec), context);
}

}  // namespace

Result<PhysicalPointer> RecognizeRanks(const PhysicalPointer& node, PlannerContext& context) {
  std::vector<PhysicalPointer> inputs;
  bool changed = false;
  for (const PhysicalPointer& input : node->inputs) {
    RT_ASSIGN(PhysicalPointer done, RecognizeRanks(input, context));
    changed |= done != input;
    inputs.push_back(std::move(done));
  }
  if (!changed) return Recognized1(node, context);
  auto copy = std::make_shared<PhysicalNode>(*node);
  copy->inputs = std::move(inputs);
  return Recognized1(copy, context);
}

}  // namespace rowtide

#include "planner/rules/lateral.h"

#include <algorithm>

namespace rowtide {
namespace {

Status NotSupported() {
  return Status::Unsupported("this LATERAL sub-query is not supported yet").WithErrorCode("RT3002");
}

// `inner column = outer column`, in either order.
bool IsKeyEquality(const Expression& e, int* inner, int* outer) {
  if (!e.is_call("=")) return false;
  for (int side = 0; side < 2; ++side) {
    const Expression& a = e.operands[static_cast<size_t>(side)];
    const Expression& b = e.operands[static_cast<size_t>(1 - side)];
    if (a.is_input() && b.kind == Expression::Kind::kOuter) {
      *inner = a.column;
      *outer = b.column;
      return true;
    }
  }
  return false;
}

}  // namespace

// Correlate(Aggregate{keys}, Sort(Project(Filter(k = outer.k, X)))) becomes Project(keys, columns)
// over Filter(rn <= n) over Project(X.*, ROW_NUMBER() OVER (PARTITION BY k ORDER BY …)).
Result<LogicalPointer> LateralToRank(const LogicalCorrelate& correlate, const LogicalNode& node) {
  const LogicalNode& left = node.input(0);
  const LogicalNode& right = node.input(1);
  const auto* distinct = left.as<LogicalAggregate>();
  const auto* sort = right.as<LogicalSort>();
  if (correlate.type != JoinType::kInner || !distinct || !distinct->calls.empty() || !sort ||
      !sort->fetch || sort->offset || sort->keys.empty()) {
    return NotSupported();
  }
  const LogicalNode* below = right.inputs[0].get();
  const auto* project = below->as<LogicalProject>();
  if (project) below = below->inputs[0].get();
  const auto* filter = below->as<LogicalFilter>();
  if (!filter) return NotSupported();
  const LogicalPointer base = below->inputs[0];
  std::vector<int> inner_of(static_cast<size_t>(left.schema.size()), -1);
  for (const Expression& part : Conjuncts(filter->condition)) {
    int inner = 0, outer = 0;
    if (!IsKeyEquality(part, &inner, &outer)) return NotSupported();
    inner_of[static_cast<size_t>(outer)] = inner;
  }
  OverWindow over;
  for (int column : inner_of) {
    if (column < 0) return NotSupported();
    over.partition.push_back(Expression::Input(column, base->schema.type(column)));
  }
  for (const SortKey& key : sort->keys) {
    Expression e = project ? project->expressions[static_cast<size_t>(key.column)]
                           : Expression::Input(key.column, base->schema.type(key.column));
    over.order.push_back({std::move(e), key.descending, key.nulls_first});
  }
  Expression number = Expression::Call("ROW_NUMBER", {}, Type::BigInt().NotNull());
  number.kind = Expression::Kind::kOver;
  number.over = std::make_shared<const OverWindow>(std::move(over));

  std::vector<Expression> ranked;
  Schema ranked_schema = base->schema;
  for (int i = 0; i < base->schema.size(); ++i)
    ranked.push_back(Expression::Input(i, base->schema.type(i)));
  const int rank_column = base->schema.size();
  ranked.push_back(number);
  ranked_schema.Add({"rk", number.type});
  LogicalPointer result = MakeLogical(LogicalProject{std::move(ranked), {}}, {base}, ranked_schema);
  Expression bound = Expression::Call("<=",
                                      {Expression::Input(rank_column, number.type),
                                       Expression::Literal(*sort->fetch, Type::BigInt().NotNull())},
                                      Type::Boolean().NotNull());
  result = MakeLogical(LogicalFilter{std::move(bound)}, {result}, ranked_schema);
  std::vector<Expression> outputs;
  for (int column : inner_of)
    outputs.push_back(Expression::Input(column, base->schema.type(column)));
  for (int i = 0; i < right.schema.size(); ++i) {
    outputs.push_back(project ? project->expressions[static_cast<size_t>(i)]
                              : Expression::Input(i, base->schema.type(i)));
  }
  return MakeLogical(LogicalProject{std::move(outputs), {}}, {result}, node.schema);
}

}  // namespace rowtide

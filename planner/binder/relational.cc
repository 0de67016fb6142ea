#include "planner/binder/relational.h"

#include <algorithm>
#include <set>

#include "planner/binder/bind_expression.h"
#include "planner/logical/expression_text.h"
#include "planner/rules/simplify.h"

namespace rowtide {
namespace {

bool IsIdentity(const std::vector<Expression>& expressions, const Schema& input) {
  if (static_cast<int>(expressions.size()) != input.size()) return false;
  for (int i = 0; i < input.size(); ++i) {
    const Expression& e = expressions[static_cast<size_t>(i)];
    if (!e.is_input() || e.column != i) return false;
  }
  return true;
}

Schema SchemaOf(const std::vector<Expression>& expressions, const std::vector<std::string>& names) {
  Schema schema;
  for (size_t i = 0; i < expressions.size(); ++i) schema.Add({names[i], expressions[i].type});
  return schema;
}

Schema WithNames(const Schema& schema, const std::vector<std::string>& names) {
  Schema renamed;
  for (int i = 0; i < schema.size(); ++i)
    renamed.Add({names[static_cast<size_t>(i)], schema.type(i)});
  return renamed;
}

bool IsSimplified(const Expression& e) {
  if (!e.is_call()) return false;
  const std::string& f = e.function;
  return f == "AND" || f == "OR" || f == "NOT" || f == "=" || f == "<>" || f == "<" || f == "<=" ||
         f == ">" || f == ">=" || f == "CASE" || f.starts_with("IS ");
}

bool IsNumberOf(const Expression& e, int64_t number) {
  if (!e.is_literal() || !IsNumber(e.type)) return false;
  if (const auto* value = std::get_if<int64_t>(&e.literal)) return *value == number;
  if (const auto* value = std::get_if<double>(&e.literal))
    return *value == static_cast<double>(number);
  if (const auto* value = std::get_if<int128>(&e.literal)) {
    int128 unit = 1;
    for (int i = 0; i < e.type.scale; ++i) unit *= 10;
    return *value == number * unit;
  }
  return false;
}

// v + 0, v - 0, v * 1, v / 1 are v where that is the type of the whole.
std::optional<Expression> WithoutNeutral(const Expression& e) {
  if (e.operands.size() != 2) return std::nullopt;
  const bool sum = e.function == "+" || e.function == "-";
  const bool product = e.function == "*" || e.function == "/";
  if (!sum && !product) return std::nullopt;
  const int64_t neutral = sum ? 0 : 1;
  if (IsNumberOf(e.operands[1], neutral) && e.operands[0].type.SameButNullability(e.type))
    return e.operands[0];
  const bool commutes = e.function == "+" || e.function == "*";
  if (commutes && IsNumberOf(e.operands[0], neutral) &&
      e.operands[1].type.SameButNullability(e.type))
    return e.operands[1];
  return std::nullopt;
}

// CAST('1' AS INT) is 1; a cast that fails stays, to fail when it runs.
Expression FoldedCast(const Expression& cast) {
  const Expression& operand = cast.operands[0];
  if (operand.is_null_literal()) return Expression::Null(cast.type);
  // What it gives depends on the session's zone, which is known to the planner.
  const bool zoned =
      cast.type.kind == TypeKind::kTimestampLtz || operand.type.kind == TypeKind::kTimestampLtz;
  if (zoned) return cast;
  const Result<Value> value = EvaluateConstant(cast, EvaluationContext());
  if (!value.ok() || IsNull(*value)) return cast;
  Expression folded = Expression::Literal(*value, cast.type.NotNull());
  if (IsNumber(operand.type) &&
      (IsApproximate(cast.type) || cast.type.kind == TypeKind::kDecimal)) {
    folded.literal_text = BareLiteralText(operand);
  }
  folded.position = cast.position;
  return folded;
}

}  // namespace

std::vector<std::string> UniqueNames(std::vector<std::string> names) {
  std::set<std::string> used;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].empty()) names[i] = "$f" + std::to_string(i);
    if (used.insert(names[i]).second) continue;
    const std::string original = names[i];
    for (int attempt = 0; !used.insert(names[i]).second; ++attempt)
      names[i] = original + std::to_string(attempt);
  }
  return names;
}

std::vector<Expression> AllColumns(const Schema& schema) {
  std::vector<Expression> inputs;
  for (int i = 0; i < schema.size(); ++i) inputs.push_back(Expression::Input(i, schema.type(i)));
  return inputs;
}

Result<Expression> SimplifyProjected(const Expression& expression) {
  if (expression.kind == Expression::Kind::kOver || expression.operands.empty()) return expression;
  if (IsSimplified(expression) && !HasOver(expression)) {
    // Where folding a constant fails (1/0), the plan says so later.
    Result<Expression> simple = SimplifyValue(expression, EvaluationContext());
    return simple.ok() ? *simple : expression;
  }
  Expression copy = expression;
  for (Expression& operand : copy.operands) {
    RT_ASSIGN(operand, SimplifyProjected(operand));
  }
  if (std::optional<Expression> simple = WithoutNeutral(copy)) return *simple;
  const std::string& f = copy.function;
  const bool arithmetic = f == "+" || f == "-" || f == "*" || f == "/";
  for (const Expression& operand : copy.operands) {
    if (arithmetic && operand.is_null_literal()) return Expression::Null(copy.type);
  }
  if (copy.is_call("CAST") && copy.operands[0].is_literal()) return FoldedCast(copy);
  return copy;
}

Result<Expression> SimplifyFilter(const Expression& condition) {
  if (HasOver(condition)) return condition;
  Result<Expression> simple = SimplifyCondition(condition, EvaluationContext());
  return simple.ok() ? *simple : condition;
}

Result<LogicalPointer> ProjectAlways(LogicalPointer input, std::vector<Expression> expressions,
                                     std::vector<std::string> names) {
  for (Expression& expression : expressions) {
    RT_ASSIGN(expression, SimplifyProjected(expression));
  }
  Schema schema = SchemaOf(expressions, UniqueNames(std::move(names)));
  return MakeLogical(LogicalProject{std::move(expressions), {}}, {std::move(input)},
                     std::move(schema));
}

Result<LogicalPointer> ProjectIfNeeded(LogicalPointer input, std::vector<Expression> expressions,
                                       std::vector<std::string> names) {
  if (IsIdentity(expressions, input->schema) && UniqueNames(names) == input->schema.names())
    return input;
  return ProjectAlways(std::move(input), std::move(expressions), std::move(names));
}

Result<LogicalPointer> Renamed(LogicalPointer input, const std::vector<std::string>& names) {
  if (names == input->schema.names()) return input;
  if (input->as<LogicalProject>() || input->as<LogicalValues>()) {
    return MakeLogical(input->op, input->inputs, WithNames(input->schema, names));
  }
  return ProjectAlways(input, AllColumns(input->schema), names);
}

Result<LogicalPointer> ProjectOrRename(LogicalPointer input, std::vector<Expression> expressions,
                                       std::vector<std::string> names) {
  for (Expression& expression : expressions) {
    RT_ASSIGN(expression, SimplifyProjected(expression));
  }
  if (!IsIdentity(expressions, input->schema))
    return ProjectAlways(std::move(input), std::move(expressions), std::move(names));
  if (input->as<LogicalProject>() || input->as<LogicalValues>())
    return Renamed(std::move(input), UniqueNames(std::move(names)));
  return input;
}

// --- uniqueness ------------------------------------------------------------------------------

bool AreUnique(const LogicalNode& node, const std::vector<int>& columns) {
  const auto has = [&](int column) {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  };
  if (const auto* aggregate = node.as<LogicalAggregate>()) {
    for (size_t i = 0; i < aggregate->group.size(); ++i) {
      if (!has(static_cast<int>(i))) return false;
    }
    return true;
  }
  if (const auto* scan = node.as<LogicalScan>()) {
    if (scan->table->primary_key.empty()) return false;
    const std::vector<int> scanned = scan->table->ScanColumns();
    for (const int key : scan->table->primary_key) {
      const auto at = std::find(scanned.begin(), scanned.end(), key);
      if (at == scanned.end() || !has(static_cast<int>(at - scanned.begin()))) return false;
    }
    return true;
  }
  if (const auto* project = node.as<LogicalProject>()) {
    std::vector<int> below;
    for (const int column : columns) {
      const Expression& e = project->expressions[static_cast<size_t>(column)];
      if (e.is_input()) below.push_back(e.column);
    }
    return AreUnique(node.input(), below);
  }
  if (node.as<LogicalFilter>() || node.as<LogicalSort>() || node.as<LogicalWatermarkAssigner>()) {
    return AreUnique(node.input(), columns);
  }
  return false;
}

// --- joins -----------------------------------------------------------------------------------

Schema JoinSchema(const Schema& left, const Schema& right, JoinType type) {
  const bool left_null = type == JoinType::kRight || type == JoinType::kFull;
  const bool right_null = type == JoinType::kLeft || type == JoinType::kFull;
  std::vector<std::string> names = left.names();
  const std::vector<std::string> right_names = right.names();
  names.insert(names.end(), right_names.begin(), right_names.end());
  names = UniqueNames(std::move(names));
  Schema schema;
  for (int i = 0; i < left.size(); ++i) {
    schema.Add({names[static_cast<size_t>(i)], left_null ? left.type(i).Nullable() : left.type(i)});
  }
  for (int i = 0; i < right.size(); ++i) {
    schema.Add({names[static_cast<size_t>(left.size() + i)],
                right_null ? right.type(i).Nullable() : right.type(i)});
  }
  return schema;
}

namespace {

struct JoinSides {
  int left_width = 0;
  int width = 0;
  std::vector<Expression> left_extra;   // over the left's columns
  std::vector<Expression> right_extra;  // over the right's columns
};

// A computed side of an equality, as a reference to a column that will be made below. Columns are
// those of the join as written; the extra ones are marked with positions behind its width until all
// are known.
void PushSide(Expression* side, JoinSides* sides) {
  if (side->is_input() || side->is_literal()) return;
  const std::vector<int> columns = InputsOf(*side);
  if (columns.empty()) return;
  const Type type = side->type;
  if (columns.back() < sides->left_width) {
    sides->left_extra.push_back(*side);
    *side = Expression::Input(sides->width + static_cast<int>(sides->left_extra.size()) - 1, type);
  } else if (columns.front() >= sides->left_width) {
    std::vector<int> shift(static_cast<size_t>(sides->width));
    for (int i = 0; i < sides->width; ++i) shift[static_cast<size_t>(i)] = i - sides->left_width;
    sides->right_extra.push_back(Remap(*side, shift));
    *side =
        Expression::Input(2 * sides->width + static_cast<int>(sides->right_extra.size()) - 1, type);
  }
}

// OR(AND(IS NULL(a), IS NULL(b)), IS TRUE(=(a, b))) is IS NOT DISTINCT FROM(a, b) again: joins take
// it as an equality.
std::optional<Expression> NullSafeEquality(const Expression& e) {
  if (!e.is_call("OR") || e.operands.size() != 2 || !e.operands[0].is_call("AND") ||
      e.operands[0].operands.size() != 2)
    return std::nullopt;
  const Expression& first = e.operands[0].operands[0];
  const Expression& second = e.operands[0].operands[1];
  const Expression& equal =
      e.operands[1].is_call("IS TRUE") ? e.operands[1].operands[0] : e.operands[1];
  if (!first.is_call("IS NULL") || !second.is_call("IS NULL") || !equal.is_call("="))
    return std::nullopt;
  if (!(equal.operands[0] == first.operands[0]) || !(equal.operands[1] == second.operands[0]))
    return std::nullopt;
  return Expression::Call("IS NOT DISTINCT FROM", equal.operands, Type::Boolean().NotNull());
}

Result<LogicalPointer> WithExtra(LogicalPointer input, const std::vector<Expression>& extra) {
  if (extra.empty()) return input;
  std::vector<Expression> expressions = AllColumns(input->schema);
  std::vector<std::string> names = input->schema.names();
  for (const Expression& e : extra) {
    expressions.push_back(e);
    const bool cast = e.is_call("CAST") && e.operands[0].is_input();
    names.push_back(cast ? input->schema.name(e.operands[0].column) : "");
  }
  return ProjectAlways(std::move(input), std::move(expressions), std::move(names));
}

}  // namespace

Result<LogicalPointer> MakeJoin(LogicalPointer left, LogicalPointer right, JoinType type,
                                Expression condition) {
  std::vector<Expression> written = Conjuncts(condition);
  for (Expression& term : written) {
    if (std::optional<Expression> collapsed = NullSafeEquality(term)) {
      term = std::move(*collapsed);
    } else {
      RT_ASSIGN(term, SimplifyFilter(term));
    }
  }
  if (std::none_of(written.begin(), written.end(),
                   [](const Expression& e) { return e.is_call("IS NOT DISTINCT FROM"); })) {
    RT_ASSIGN(condition, SimplifyFilter(condition));
  } else {
    condition = Conjunction(std::move(written));
  }
  JoinSides sides;
  sides.left_width = left->schema.size();
  sides.width = sides.left_width + right->schema.size();
  std::vector<Expression> terms = Conjuncts(condition);
  if (condition.is_true()) terms.clear();
  for (Expression& term : terms) {
    if (!term.is_call("=") && !term.is_call("IS NOT DISTINCT FROM")) continue;
    PushSide(&term.operands[0], &sides);
    PushSide(&term.operands[1], &sides);
  }
  if (sides.left_extra.empty() && sides.right_extra.empty()) {
    Schema schema = JoinSchema(left->schema, right->schema, type);
    return MakeLogical(LogicalJoin{type, std::move(condition)}, {std::move(left), std::move(right)},
                       std::move(schema));
  }
  // Columns of the join as written -> of the wider one: left, left_extra, right, right_extra.
  const int left_extra = static_cast<int>(sides.left_extra.size());
  const int right_extra = static_cast<int>(sides.right_extra.size());
  std::vector<int> mapping(static_cast<size_t>(2 * sides.width + right_extra), -1);
  for (int i = 0; i < sides.width; ++i)
    mapping[static_cast<size_t>(i)] = i < sides.left_width ? i : i + left_extra;
  for (int i = 0; i < left_extra; ++i)
    mapping[static_cast<size_t>(sides.width + i)] = sides.left_width + i;
  for (int i = 0; i < right_extra; ++i)
    mapping[static_cast<size_t>(2 * sides.width + i)] = sides.width + left_extra + i;
  for (Expression& term : terms) term = Remap(term, mapping);
  const std::vector<std::string> names = JoinSchema(left->schema, right->schema, type).names();
  RT_ASSIGN(left, WithExtra(std::move(left), sides.left_extra));
  RT_ASSIGN(right, WithExtra(std::move(right), sides.right_extra));
  Schema wide = JoinSchema(left->schema, right->schema, type);
  std::vector<Expression> kept;
  std::vector<std::string> kept_names;
  for (int i = 0; i < sides.width; ++i) {
    const int column = mapping[static_cast<size_t>(i)];
    kept.push_back(Expression::Input(column, wide.type(column)));
    kept_names.push_back(wide.name(column));
  }
  LogicalPointer join = MakeLogical(LogicalJoin{type, AndOf(std::move(terms))},
                                    {std::move(left), std::move(right)}, std::move(wide));
  return ProjectAlways(std::move(join), std::move(kept), std::move(kept_names));
}

}  // namespace rowtide

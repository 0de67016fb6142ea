#include "planner/binder/bind_expression.h"

#include <algorithm>
#include <set>

#include "operators/expressions/aggregate_types.h"
#include "operators/expressions/registry.h"
#include "operators/expressions/type_rules.h"
#include "planner/binder/bind_literal.h"
#include "planner/binder/refused_functions.h"
#include "planner/logical/expression_text.h"
#include "planner/sql/suggestions.h"

namespace rowtide {
namespace {

Expression Chain(const char* function, std::vector<Expression> terms) {
  std::vector<Expression> flat;
  bool nullable = false;
  for (Expression& term : terms) {
    nullable = nullable || term.type.nullable;
    if (term.is_call(function)) {
      for (Expression& inner : term.operands) flat.push_back(std::move(inner));
    } else {
      flat.push_back(std::move(term));
    }
  }
  if (flat.size() == 1) return flat[0];
  const SourcePosition position = flat[0].position;
  Expression chain =
      Expression::Call(function, std::move(flat), Type::Boolean().WithNullable(nullable));
  chain.position = position;
  return chain;
}

Status BareNull(SourcePosition at) {
  return Status::Validate(at, "illegal use of NULL: write CAST(NULL AS BOOLEAN)")
      .WithErrorCode("RT2009");
}

const char* ComparisonName(const std::string& function) {
  for (const char* name : {"=", "<>", "<", "<=", ">", ">="}) {
    if (function == name) return name;
  }
  return nullptr;
}

bool IsNumberLiteral(const ast::Expr& expr) {
  const auto* literal = expr.as<ast::Literal>();
  return literal && (literal->kind == ast::Literal::Kind::kExact ||
                     literal->kind == ast::Literal::Kind::kApproximate);
}

const ast::Call* AsRow(const ast::ExprPointer& expr) {
  const auto* call = expr->as<ast::Call>();
  return call && call->function == "ROW" && !call->infix ? call : nullptr;
}

bool HasIn(const ast::Expr& expr) {
  if (expr.as<ast::In>()) return true;
  const auto* call = expr.as<ast::Call>();
  const bool logic = call && call->infix &&
                     (call->function == "AND" || call->function == "OR" || call->function == "NOT");
  if (!logic) return false;
  for (const ast::ExprPointer& operand : call->operands) {
    if (HasIn(*operand)) return true;
  }
  return false;
}

// NOT (a OR b IN …) is NOT a AND NOT b IN …, as Calcite has it where an IN is inside. Null where it
// stays.
ast::ExprPointer PushedNot(const ast::Expr& operand) {
  const auto* call = operand.as<ast::Call>();
  if (!call || !call->infix || (call->function != "AND" && call->function != "OR") ||
      !HasIn(operand))
    return nullptr;
  ast::Call pushed = *call;
  pushed.function = call->function == "AND" ? "OR" : "AND";
  for (ast::ExprPointer& term : pushed.operands) {
    ast::Call negation;
    negation.function = "NOT";
    negation.infix = true;
    negation.operands = {term};
    const SourcePosition position = term->position;
    term = ast::MakeExpr(std::move(negation), position);
  }
  return ast::MakeExpr(std::move(pushed), operand.position);
}

// What the table of functions takes more widely than Flink does.
Status CheckOperands(const std::string& name, const std::vector<Expression>& operands,
                     SourcePosition position) {
  if (name == "IF") {
    for (const Expression& operand : operands) {
      if (operand.type.kind == TypeKind::kNull) {
        return Status::Validate(operand.position,
                                "illegal use of NULL in IF: write CAST(NULL AS type)")
            .WithErrorCode("RT2009");
      }
    }
  }
  if (name == "-" && operands.size() == 2 && IsTemporal(operands[0].type) &&
      IsTemporal(operands[1].type)) {
    return Status::Validate(position, "- does not take {} and {}", ToString(operands[0].type),
                            ToString(operands[1].type))
        .WithErrorCode("RT2006")
        .WithHint("TIMESTAMPDIFF counts the units between two times.");
  }
  if (name == "CURRENT_WATERMARK" && operands.size() == 1 && !operands[0].type.is_rowtime()) {
    return Status::Validate(position, "CURRENT_WATERMARK takes a rowtime column, and this is {}",
                            ToString(operands[0].type))
        .WithErrorCode("RT2006");
  }
  if (name == "EXTRACT" && operands.size() == 2 && !IsTemporal(operands[1].type) &&
      !IsInterval(operands[1].type)) {
    return Status::Validate(position, "EXTRACT takes a time or an interval, not {}",
                            ToString(operands[1].type))
        .WithErrorCode("RT2006");
  }
  return Status::Ok();
}

}  // namespace

Expression Conjunction(std::vector<Expression> terms) { return Chain("AND", std::move(terms)); }
Expression Disjunction(std::vector<Expression> terms) { return Chain("OR", std::move(terms)); }

Expression Negation(Expression operand) {
  const Type type = Type::Boolean().WithNullable(operand.type.nullable);
  const SourcePosition position = operand.position;
  Expression negation = Expression::Call("NOT", {std::move(operand)}, type);
  negation.position = position;
  return negation;
}

Result<Expression> ExpressionBinder::Bind(const ast::Expr& expr) {
  RT_ASSIGN(Expression bound, BindNode(expr));
  bound.position = expr.position;
  return bound;
}

Result<Expression> ExpressionBinder::BindCondition(const ast::Expr& expr) {
  RT_ASSIGN(Expression bound, Bind(expr));
  if (bound.is_null_literal()) return Expression::Null(Type::Boolean());
  if (bound.type.kind != TypeKind::kBoolean) {
    return Status::Validate(expr.position, "{} needs a condition, and this is {}", clause_,
                            ToString(bound.type))
        .WithErrorCode("RT2006");
  }
  return bound;
}

Result<std::vector<Expression>> ExpressionBinder::BindAll(
    const std::vector<ast::ExprPointer>& exprs) {
  std::vector<Expression> bound;
  for (const ast::ExprPointer& expr : exprs) {
    RT_ASSIGN(Expression one, Bind(*expr));
    bound.push_back(std::move(one));
  }
  return bound;
}

Result<Expression> ExpressionBinder::BindNode(const ast::Expr& expr) {
  if (const auto* literal = expr.as<ast::Literal>()) return BindLiteral(*literal, expr.position);
  if (const auto* ref = expr.as<ast::NameRef>()) return BindName(*ref, expr);
  if (const auto* call = expr.as<ast::Call>()) return BindCall(*call, expr);
  if (const auto* node = expr.as<ast::Case>()) return BindCase(*node);
  if (const auto* cast = expr.as<ast::Cast>()) return BindCast(*cast, expr);
  if (const auto* between = expr.as<ast::Between>()) return BindBetween(*between);
  if (const auto* in = expr.as<ast::In>()) {
    if (in->query) return Status::Unsupported("IN sub-query").At(expr.position);
    return BindIn(*in);
  }
  if (const auto* subquery = expr.as<ast::Subquery>()) {
    const bool exists = subquery->kind == ast::Subquery::Kind::kExists;
    return Status::Unsupported("{}", exists ? "EXISTS sub-query" : "scalar sub-query")
        .At(expr.position);
  }
  if (const auto* quantified = expr.as<ast::QuantifiedComparison>()) {
    if (quantified->query)
      return Status::Unsupported("comparison with ALL or ANY of a query").At(expr.position);
    return BindQuantified(*quantified, expr);
  }
  if (expr.as<ast::Star>())
    return Status::Validate(expr.position, "* stands only in SELECT and COUNT(*)")
        .WithErrorCode("RT2008");
  if (expr.as<ast::NamedArgument>()) return Status::Unsupported("named argument").At(expr.position);
  return Status::Unsupported("table argument").At(expr.position);
}

Result<Expression> ExpressionBinder::BindName(const ast::NameRef& ref, const ast::Expr& expr) {
  Result<ResolvedColumn> found = scope_.Resolve(ref.name);
  if (!found.ok()) {
    if (aliases_ && ref.name.parts.size() == 1 && alias_depth_ == 0) {
      const auto alias = aliases_->find(ref.name.parts[0]);
      if (alias != aliases_->end()) {
        used_alias_ = true;
        ++alias_depth_;
        Result<Expression> bound = Bind(*alias->second);
        --alias_depth_;
        return bound;
      }
    }
    return found.status();
  }
  if (found->parts_used < ref.name.parts.size()) {
    return Status::Validate(expr.position, "column {} is {} and has no field {}",
                            Quote(found->name), ToString(found->type),
                            Quote(ref.name.parts[found->parts_used]))
        .WithErrorCode("RT2006");
  }
  Expression column = Expression::Input(found->column, found->type);
  if (found->is_outer) {
    column.kind = Expression::Kind::kOuter;
    column.function = "$cor1";
    column.literal_text = found->name;
    return column;
  }
  // The column that USING makes of a pair.
  for (const Scope::Merged& merged : scope_.merged) {
    if (ref.name.parts.size() != 1 || merged.name != ref.name.parts[0] || !merged.coalesces)
      continue;
    Type right = found->type;
    for (const ScopeTable& table : scope_.tables) {
      const int offset = merged.right - table.first;
      if (offset >= 0 && offset < static_cast<int>(table.columns.size()))
        right = table.columns[static_cast<size_t>(offset)].type;
    }
    return MakeCall("COALESCE", {Expression::Input(merged.left, found->type),
                                 Expression::Input(merged.right, right)});
  }
  return column;
}

Result<Expression> ExpressionBinder::BindLogic(const ast::Call& call) {
  std::vector<Expression> terms;
  for (const ast::ExprPointer& operand : call.operands) {
    RT_ASSIGN(Expression term, Bind(*operand));
    if (term.type.kind == TypeKind::kNull) return BareNull(operand->position);
    if (term.type.kind != TypeKind::kBoolean) {
      return Status::Validate(operand->position, "{} needs conditions, and this is {}",
                              call.function, ToString(term.type))
          .WithErrorCode("RT2006");
    }
    terms.push_back(std::move(term));
  }
  return Chain(call.function == "AND" ? "AND" : "OR", std::move(terms));
}

Result<Expression> ExpressionBinder::BindNegation(const ast::Call& call, const ast::Expr& expr) {
  if (IsNumberLiteral(*call.operands[0]))
    return BindNegativeNumber(*call.operands[0]->as<ast::Literal>(), expr.position);
  RT_ASSIGN(Expression operand, Bind(*call.operands[0]));
  return MakeCall("-", {std::move(operand)});
}

// INTERVAL n DAY is n times a day; (a - b) DAY is a difference with the type of an interval.
Result<Expression> ExpressionBinder::BindInterval(const ast::Call& call, const ast::Expr& expr) {
  const std::string& unit = call.operands.back()->as<ast::Literal>()->text;
  RT_ASSIGN(Expression left, Bind(*call.operands[0]));
  if (call.function == "INTERVAL") {
    RT_ASSIGN(Expression one, OneOf(unit, expr.position));
    if (!IsNumber(left.type))
      return Status::Validate(expr.position, "INTERVAL takes a number, and this is {}",
                              ToString(left.type))
          .WithErrorCode("RT2006");
    return MakeCall("*", {std::move(left), std::move(one)});
  }
  RT_ASSIGN(Expression right, Bind(*call.operands[1]));
  if (!IsTemporal(left.type) || !IsTemporal(right.type)) {
    return Status::Validate(expr.position,
                            "(a - b) {} needs dates or times, and these are {} and {}", unit,
                            ToString(left.type), ToString(right.type))
        .WithErrorCode("RT2006");
  }
  RT_ASSIGN(Type type, IntervalTypeOf(unit, expr.position));
  type.nullable = left.type.nullable || right.type.nullable;
  return Expression::Call("-", {std::move(left), std::move(right)}, type);
}

Result<Expression> ExpressionBinder::BindCall(const ast::Call& call, const ast::Expr& expr) {
  const std::string& name = call.function;
  if (call.infix && (name == "AND" || name == "OR")) return BindLogic(call);
  if (call.infix && name == "NEGATE") return BindNegation(call, expr);
  if (call.infix && name == "PLUS") {
    RT_ASSIGN(Expression operand, Bind(*call.operands[0]));
    if (!IsNumber(operand.type) && !IsInterval(operand.type)) {
      return Status::Validate(expr.position, "+ does not take {}", ToString(operand.type))
          .WithErrorCode("RT2006");
    }
    return operand;
  }
  if (call.infix && name == "NOT") {
    if (const ast::ExprPointer pushed = PushedNot(*call.operands[0])) return Bind(*pushed);
    RT_ASSIGN(Expression operand, Bind(*call.operands[0]));
    if (operand.type.kind == TypeKind::kNull) return BareNull(call.operands[0]->position);
    if (operand.type.kind != TypeKind::kBoolean) {
      return Status::Validate(expr.position, "NOT needs a condition, and this is {}",
                              ToString(operand.type))
          .WithErrorCode("RT2006");
    }
    return Negation(std::move(operand));
  }
  if (call.infix && (name == "=" || name == "<>") && AsRow(call.operands[0])) {
    RT_ASSIGN(Expression equal, BindRowsEqual(*call.operands[0], *call.operands[1]));
    return name == "=" ? equal : Negation(std::move(equal));
  }
  if (call.infix && name == "OVERLAPS") return BindOverlaps(call, expr);
  if (call.over) return BindOver(call, expr);
  if (IsRankingFunction(name)) {
    return Status::Validate(expr.position, "{} needs OVER (…)", name).WithErrorCode("RT2008");
  }
  if (IsAggregateFunction(name) && !IsScalarFunction(name)) return BindAggregate(call, expr);
  if (call.distinct || call.filter || !call.within_group.empty()) {
    if (!IsScalarFunction(name)) return Status::Unsupported("function {}", name).At(expr.position);
    return Status::Validate(expr.position, "{} is no aggregate function", name)
        .WithErrorCode("RT2008");
  }
  if (name == "INTERVAL" || name == "MINUS_DATE") return BindInterval(call, expr);
  if (!IsScalarFunction(name)) {
    if (const std::string refused = RefusedFunction(name); !refused.empty())
      return Status::Unsupported("{}", refused).At(expr.position);
    std::vector<std::string> names = ScalarFunctionNames();
    names.insert(names.end(), AggregateNames().begin(), AggregateNames().end());
    Status status =
        Status::Validate(expr.position, "there is no function {}", name).WithErrorCode("RT2003");
    if (const std::string_view meant = MeantFunction(name); !meant.empty())
      return std::move(status).WithHint(std::string(meant));
    const std::string nearest = Nearest(name, names);
    return std::move(status).WithHint(nearest.empty() ? "SHOW FUNCTIONS lists those that there are."
                                                      : "The nearest is " + nearest + ".");
  }
  if (name == "JSON_VALUE" || name == "JSON_QUERY" || name == "JSON_EXISTS") {
    std::vector<Expression> none;
    return BindJson(call, std::move(none));
  }
  RT_ASSIGN(std::vector<Expression> operands, BindAll(call.operands));
  for (size_t i = 0; i < operands.size();
       ++i) {  // COALESCE(NULL, 3), v = NULL: NULL takes the other's type
    if (operands[i].type.kind != TypeKind::kNull || operands.size() < 2) continue;
    const bool typed = ComparisonName(name) || name == "COALESCE" || name == "IFNULL";
    if (!typed) continue;
    for (size_t j = operands.size(); j-- > 0;) {
      if (operands[j].type.kind == TypeKind::kNull) continue;
      operands[i] = Expression::Null(operands[j].type.WithoutTimeAttribute());
      break;
    }
  }
  RT_TRY(CheckOperands(name, operands, expr.position));
  if (name == "+" && operands.size() == 2 && IsInterval(operands[0].type) &&
      IsTemporal(operands[1].type)) {
    std::swap(operands[0], operands[1]);
  }
  Result<Expression> made = MakeCall(name, std::move(operands));
  if (!made.ok()) return Status(made.status()).At(expr.position);
  return made;
}

// RETURNING sets the call's type; the other clauses are symbols as Flink's plans print them.
Result<Expression> ExpressionBinder::BindJson(const ast::Call& call,
                                              std::vector<Expression> operands) {
  std::optional<Type> returning;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const auto* symbol = call.operands[i]->as<ast::Literal>();
    if (symbol && symbol->kind == ast::Literal::Kind::kSymbol && symbol->text == "RETURNING") {
      const ast::DataType& type = call.operands[++i]->as<ast::Cast>()->type;
      if (!type.unsupported.empty())
        return Status::Unsupported("JSON_VALUE RETURNING {}", type.unsupported).At(type.position);
      returning = type.type;
      continue;
    }
    RT_ASSIGN(Expression operand, Bind(*call.operands[i]));
    operands.push_back(std::move(operand));
  }
  RT_ASSIGN(Expression made, MakeCall(call.function, std::move(operands)));
  if (returning) made.type = returning->WithNullable(made.type.nullable);
  return made;
}

Result<Expression> ExpressionBinder::BindAggregate(const ast::Call& call, const ast::Expr& expr) {
  if (!aggregates_)
    return Status::Validate(expr.position, "an aggregate function cannot stand in {}", clause_)
        .WithErrorCode("RT2008");
  if (inside_aggregate_)
    return Status::Validate(expr.position, "an aggregate function cannot stand inside another")
        .WithErrorCode("RT2008");
  if (!call.within_group.empty()) return Status::Unsupported("WITHIN GROUP").At(expr.position);
  CollectedCall collected;
  collected.function = call.function;
  collected.distinct = call.distinct;
  inside_aggregate_ = true;
  const bool star = call.operands.size() == 1 && call.operands[0]->as<ast::Star>();
  Status status;
  if (!star) {
    Result<std::vector<Expression>> arguments = BindAll(call.operands);
    if (arguments.ok()) {
      collected.arguments = std::move(*arguments);
    } else {
      status = arguments.status();
    }
  }
  if (status.ok() && call.filter) {
    Result<Expression> filter = Bind(*call.filter);
    if (filter.ok()) {
      collected.filter = std::move(*filter);
    } else {
      status = filter.status();
    }
  }
  inside_aggregate_ = false;
  RT_TRY(status);
  if (star && call.function != "COUNT")
    return Status::Validate(expr.position, "{} does not take *", call.function)
        .WithErrorCode("RT2008");
  if (call.operands.empty())
    return Status::Validate(expr.position, "{} needs an argument", call.function)
        .WithErrorCode("RT2022");
  if (collected.filter && collected.filter->type.kind != TypeKind::kBoolean) {
    return Status::Validate(call.filter->position, "FILTER needs a condition, and this is {}",
                            ToString(collected.filter->type))
        .WithErrorCode("RT2006");
  }
  for (const Expression& argument : collected.arguments) {
    if (argument.type.kind == TypeKind::kNull) {
      return Status::Validate(argument.position,
                              "illegal use of NULL in {}: write CAST(NULL AS type)", call.function)
          .WithErrorCode("RT2009");
    }
  }
  if ((call.function == "FIRST_VALUE" || call.function == "LAST_VALUE") &&
      collected.arguments.size() > 1) {
    return Status::Validate(expr.position, "{} takes one argument", call.function)
        .WithErrorCode("RT2022");
  }
  if (call.function == "LISTAGG" && collected.arguments.size() == 2 &&
      (!collected.arguments[1].is_literal() || !IsCharacter(collected.arguments[1].type))) {
    return Status::Validate(expr.position, "the separator of LISTAGG must be a string literal");
  }
  const bool may_be_empty = aggregates_->groups_nothing || call.filter;
  Result<Type> type = ResolveAggregate(call.function, collected.arguments, may_be_empty);
  if (!type.ok()) return Status(type.status()).At(expr.position);
  collected.type = *type;
  const auto same = [&](const CollectedCall& other) {
    return other.function == collected.function && other.distinct == collected.distinct &&
           other.arguments == collected.arguments && other.filter == collected.filter;
  };
  size_t index = 0;
  while (index < aggregates_->calls.size() && !same(aggregates_->calls[index])) ++index;
  if (index == aggregates_->calls.size()) aggregates_->calls.push_back(collected);
  return Expression::Input(AggregateCollector::kFirstCall + static_cast<int>(index),
                           collected.type);
}

Result<OverWindow> ExpressionBinder::BindWindow(const ast::WindowSpec& spec, bool ranking) {
  OverWindow window;
  const ast::WindowSpec* base = nullptr;
  if (!spec.base.empty()) {
    const auto found = windows_ ? windows_->find(spec.base) : NamedWindows::const_iterator();
    if (!windows_ || found == windows_->end()) {
      return Status::Validate(spec.position, "there is no window {}", Quote(spec.base));
    }
    base = found->second;
  }
  if (base) {
    RT_ASSIGN(window, BindWindow(*base, ranking));
  }
  for (const ast::ExprPointer& key : spec.partition) {
    RT_ASSIGN(Expression bound, Bind(*key));
    window.partition.push_back(std::move(bound));
  }
  for (const ast::OrderItem& item : spec.order) {
    OverWindow::Order order;
    RT_ASSIGN(order.key, Bind(*item.key));
    order.descending = item.descending;
    order.nulls_first = item.nulls_first.value_or(!item.descending);
    window.order.push_back(std::move(order));
  }
  const ast::WindowSpec* framed = spec.has_frame ? &spec : nullptr;
  if (!framed) {
    if (base && base->has_frame) return window;
    window.rows = ranking;
    window.upper_current_row = !window.order.empty();
    return window;
  }
  using K = ast::WindowBound::Kind;
  window.rows = spec.rows;
  window.lower_unbounded = spec.lower.kind == K::kUnboundedPreceding;
  window.lower_preceding = nullptr;
  if (spec.lower.kind == K::kPreceding) {
    RT_ASSIGN(Expression offset, Bind(*spec.lower.offset));
    window.lower_preceding = std::make_shared<const Expression>(std::move(offset));
  }
  if (spec.lower.kind == K::kFollowing || spec.lower.kind == K::kUnboundedFollowing ||
      (spec.upper && (spec.upper->kind == K::kPreceding || spec.upper->kind == K::kFollowing ||
                      spec.upper->kind == K::kUnboundedPreceding))) {
    return Status::Plan("OVER windows that do not end at CURRENT ROW are not supported")
        .At(spec.position);
  }
  window.upper_current_row = !spec.upper || spec.upper->kind == K::kCurrentRow;
  return window;
}

Result<Expression> ExpressionBinder::BindOver(const ast::Call& call, const ast::Expr& expr) {
  if (!allows_over_)
    return Status::Validate(expr.position, "OVER cannot stand in {}", clause_)
        .WithErrorCode("RT2008");
  if (inside_over_)
    return Status::Validate(expr.position, "OVER cannot stand inside OVER").WithErrorCode("RT2008");
  const bool ranking = IsRankingFunction(call.function);
  if (!ranking && !IsAggregateFunction(call.function)) {
    if (const std::string refused = RefusedFunction(call.function); !refused.empty())
      return Status::Unsupported("{}", refused).At(expr.position);
    return Status::Validate(expr.position, "{} cannot be used with OVER", call.function)
        .WithErrorCode("RT2008");
  }
  if (call.filter) return Status::Unsupported("FILTER with OVER").At(expr.position);
  std::vector<Expression> arguments;
  const bool star = call.operands.size() == 1 && call.operands[0]->as<ast::Star>();
  inside_over_ = true;
  Result<OverWindow> window = BindWindow(*call.over, ranking);
  Result<std::vector<Expression>> bound =
      star ? Result<std::vector<Expression>>(std::vector<Expression>()) : BindAll(call.operands);
  inside_over_ = false;
  if (!window.ok()) return window.status();
  if (!bound.ok()) return bound.status();
  if (ranking && window->order.empty()) {
    return Status::Validate(call.over->position, "{} needs ORDER BY in its OVER", call.function)
        .WithErrorCode("RT2027");
  }
  const bool constant_order =
      ranking && std::all_of(window->order.begin(), window->order.end(),
                             [](const OverWindow::Order& order) { return order.key.is_literal(); });
  if (constant_order)
    return Status::Validate(call.over->position, "the ORDER BY of {} is a constant", call.function)
        .WithErrorCode("RT2027");
  Result<Type> type = ResolveAggregate(call.function, *bound, false);
  if (!type.ok()) return Status(type.status()).At(expr.position);
  const auto shared = std::make_shared<const OverWindow>(std::move(*window));
  const auto over = [&](const char* function, Type over_type) {
    Expression made;
    made.kind = Expression::Kind::kOver;
    made.function = function;
    made.operands = *bound;
    made.over = shared;
    made.distinct = call.distinct;
    made.type = over_type;
    made.position = expr.position;
    return made;
  };
  if (call.function != "SUM" && call.function != "AVG") return over(call.function.c_str(), *type);
  // SUM is NULL over no values: CASE(>(COUNT(v), 0), $SUM0(v), null).
  const Type count_type = Type::BigInt().NotNull();
  Expression zero = Expression::Literal(int64_t{0}, Type::Int().NotNull());
  RT_ASSIGN(Type sum_type, ResolveAggregate("SUM", *bound, false));
  RT_ASSIGN(Expression any, MakeCall(">", {over("COUNT", count_type), std::move(zero)}));
  Expression sum = Expression::Call(
      "CASE", {std::move(any), over("$SUM0", sum_type.NotNull()), Expression::Null(sum_type)},
      sum_type.Nullable());
  if (call.function == "SUM") return sum;
  RT_ASSIGN(Expression average, MakeCall("/", {std::move(sum), over("COUNT", count_type)}));
  return MakeCast(std::move(average), *type);
}

Result<Expression> ExpressionBinder::BindCase(const ast::Case& node) {
  std::vector<Expression> operands;
  std::optional<Expression> subject;
  if (node.operand) {
    RT_ASSIGN(subject, Bind(*node.operand));
  }
  std::vector<Type> types;
  std::vector<Expression> values;
  std::vector<SourcePosition> positions;
  for (const auto& [when, then] : node.whens) {
    RT_ASSIGN(Expression condition, Bind(*when));
    if (subject) {
      Result<Expression> equal = MakeCall("=", {*subject, std::move(condition)});
      if (!equal.ok()) return Status(equal.status()).At(when->position);
      condition = std::move(*equal);
    } else if (condition.is_null_literal()) {
      condition = Expression::Null(Type::Boolean());
    } else if (condition.type.kind != TypeKind::kBoolean) {
      return Status::Validate(when->position, "WHEN needs a condition, and this is {}",
                              ToString(condition.type))
          .WithErrorCode("RT2006");
    }
    RT_ASSIGN(Expression value, Bind(*then));
    operands.push_back(std::move(condition));
    values.push_back(std::move(value));
  }
  if (node.otherwise) {
    RT_ASSIGN(Expression value, Bind(*node.otherwise));
    values.push_back(std::move(value));
  } else {
    values.push_back(Expression::Null(Type::Of(TypeKind::kNull)));
  }
  // A NULL branch takes the type of the others.
  for (const Expression& value : values) {
    if (value.type.kind != TypeKind::kNull) types.push_back(value.type.WithoutTimeAttribute());
  }
  if (types.empty())
    return Status::Validate(node.whens[0].second->position, "a CASE needs a value that is not NULL")
        .WithErrorCode("RT2009");
  const std::optional<Type> common = LeastRestrictive(types);
  if (!common) {
    std::string list;
    for (const Type& type : types) list += (list.empty() ? "" : ", ") + ToString(type);
    return Status::Validate(node.whens[0].second->position,
                            "the values of CASE do not go together: {}", list)
        .WithErrorCode("RT2006");
  }
  for (Expression& value : values) {
    if (value.type.kind == TypeKind::kNull) value = Expression::Null(*common);
  }
  std::vector<Expression> arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    arguments.push_back(std::move(operands[i]));
    arguments.push_back(std::move(values[i]));
  }
  arguments.push_back(std::move(values.back()));
  return MakeCall("CASE", std::move(arguments));
}

Result<Expression> ExpressionBinder::BindCast(const ast::Cast& cast, const ast::Expr& expr) {
  if (!cast.type.unsupported.empty())
    return Status::Unsupported("type {}", cast.type.unsupported).At(cast.type.position);
  RT_ASSIGN(Expression operand, Bind(*cast.operand));
  if (operand.type.kind == TypeKind::kNull) return Expression::Null(cast.type.type);
  const bool number = operand.is_literal() && IsExactNumber(operand.type);
  const std::string spelled = number ? BareLiteralText(operand) : "";
  Result<Expression> made = MakeCast(std::move(operand), cast.type.type, cast.tries);
  if (!made.ok()) return Status(made.status()).At(expr.position);
  if (made->is_literal() && IsApproximate(cast.type.type) && !spelled.empty()) {
    made->literal_text = spelled;  // CAST(1 AS DOUBLE) is spelled 1
  }
  return made;
}

Result<Expression> ExpressionBinder::BindBetween(const ast::Between& between) {
  RT_ASSIGN(Expression operand, Bind(*between.operand));
  RT_ASSIGN(Expression low, Bind(*between.low));
  RT_ASSIGN(Expression high, Bind(*between.high));
  const auto compare = [&](const char* name, const Expression& a,
                           const Expression& b) -> Result<Expression> {
    Result<Expression> made = MakeCall(name, {a, b});
    if (!made.ok()) return Status(made.status()).At(between.operand->position);
    return made;
  };
  RT_ASSIGN(Expression above, compare(">=", operand, low));
  RT_ASSIGN(Expression below, compare("<=", operand, high));
  Expression inside = Conjunction({std::move(above), std::move(below)});
  if (between.symmetric) {
    RT_ASSIGN(Expression swapped_above, compare(">=", operand, high));
    RT_ASSIGN(Expression swapped_below, compare("<=", operand, low));
    inside = Disjunction(
        {std::move(inside), Conjunction({std::move(swapped_above), std::move(swapped_below)})});
  }
  return between.negated ? Negation(std::move(inside)) : inside;
}

// (a, b) = (c, d) is a = c AND b = d.
Result<Expression> ExpressionBinder::BindRowsEqual(const ast::Expr& left, const ast::Expr& right) {
  const auto* a = left.as<ast::Call>();
  const auto* b = right.as<ast::Call>();
  if (!b || b->function != "ROW" || b->operands.size() != a->operands.size()) {
    return Status::Validate(right.position, "a row of {} values is compared with something else",
                            a->operands.size())
        .WithErrorCode("RT2006");
  }
  std::vector<Expression> terms;
  for (size_t i = 0; i < a->operands.size(); ++i) {
    RT_ASSIGN(Expression x, Bind(*a->operands[i]));
    RT_ASSIGN(Expression y, Bind(*b->operands[i]));
    Result<Expression> equal = MakeCall("=", {std::move(x), std::move(y)});
    if (!equal.ok()) return Status(equal.status()).At(b->operands[i]->position);
    terms.push_back(std::move(*equal));
  }
  return Conjunction(std::move(terms));
}

// x < ANY (1, 2) is x < 1 OR x < 2, with ALL it is AND; = ANY is IN, <> ALL is NOT IN.
Result<Expression> ExpressionBinder::BindQuantified(const ast::QuantifiedComparison& node,
                                                    const ast::Expr& expr) {
  const bool all = node.quantifier == "ALL";
  if (node.comparison == (all ? "<>" : "=")) {
    ast::In in;
    in.operand = node.operand;
    in.list = node.list;
    in.negated = all;
    return BindIn(in);
  }
  RT_ASSIGN(Expression operand, Bind(*node.operand));
  RT_ASSIGN(std::vector<Expression> values, BindAll(node.list));
  std::vector<Expression> terms;
  for (Expression& value : values) {
    if (value.type.kind == TypeKind::kNull)
      value = Expression::Null(operand.type.WithoutTimeAttribute());
    Result<Expression> term = MakeCall(node.comparison, {operand, std::move(value)});
    if (!term.ok()) return Status(term.status()).At(expr.position);
    terms.push_back(std::move(*term));
  }
  return all ? Conjunction(std::move(terms)) : Disjunction(std::move(terms));
}

// The two ends of (start, end) or (start, interval), the earlier one first.
Result<std::array<Expression, 2>> ExpressionBinder::BindPeriod(const ast::ExprPointer& operand) {
  const ast::Call* row = AsRow(operand);
  if (!row || row->operands.size() != 2) {
    return Status::Validate(operand->position, "OVERLAPS takes a period, as (start, end), here")
        .WithErrorCode("RT2006");
  }
  RT_ASSIGN(Expression start, Bind(*row->operands[0]));
  RT_ASSIGN(Expression end, Bind(*row->operands[1]));
  if (IsTemporal(start.type) && IsInterval(end.type)) {
    RT_ASSIGN(end, MakeCall("+", {start, std::move(end)}));
  }
  if (!IsTemporal(start.type) || start.type.kind != end.type.kind) {
    return Status::Validate(operand->position, "OVERLAPS does not take ({}, {})",
                            ToString(start.type), ToString(end.type))
        .WithErrorCode("RT2006")
        .WithHint("A period is two times of one type, or a time and an interval.");
  }
  RT_ASSIGN(Expression ordered, MakeCall("<=", {start, end}));
  RT_ASSIGN(Expression first, MakeCall("CASE", {ordered, start, end}));
  RT_ASSIGN(Expression last, MakeCall("CASE", {std::move(ordered), std::move(end), start}));
  return std::array<Expression, 2>{std::move(first), std::move(last)};
}

// Periods overlap that share a moment, their ends included.
Result<Expression> ExpressionBinder::BindOverlaps(const ast::Call& call, const ast::Expr& expr) {
  RT_ASSIGN(auto a, BindPeriod(call.operands[0]));
  RT_ASSIGN(auto b, BindPeriod(call.operands[1]));
  if (a[0].type.kind != b[0].type.kind) {
    return Status::Validate(expr.position, "OVERLAPS does not take periods of {} and {}",
                            ToString(a[0].type), ToString(b[0].type))
        .WithErrorCode("RT2006")
        .WithHint("CAST brings both to one type.");
  }
  RT_ASSIGN(Expression reaches, MakeCall(">=", {a[1], b[0]}));
  RT_ASSIGN(Expression reached, MakeCall(">=", {b[1], a[0]}));
  return Conjunction({std::move(reaches), std::move(reached)});
}

// Values are cast to the operand's type, whatever is lost (Flink: 2.5 in a list for an INT is 2);
// strings take the least type of the list.
Result<Expression> ExpressionBinder::BindIn(const ast::In& in) {
  if (AsRow(in.operand)) {
    std::vector<Expression> rows;
    for (const ast::ExprPointer& row : in.list) {
      RT_ASSIGN(Expression equal, BindRowsEqual(*in.operand, *row));
      rows.push_back(std::move(equal));
    }
    Expression any = Disjunction(std::move(rows));
    return in.negated ? Negation(std::move(any)) : any;
  }
  RT_ASSIGN(Expression operand, Bind(*in.operand));
  RT_ASSIGN(std::vector<Expression> values, BindAll(in.list));
  if (operand.type.kind == TypeKind::kNull)
    return Status::Validate(in.operand->position, "illegal use of NULL before IN")
        .WithErrorCode("RT2009");
  std::vector<Type> types;
  for (const Expression& value : values) {
    if (value.type.kind != TypeKind::kNull) types.push_back(value.type);
  }
  std::optional<Type> common;
  if (!types.empty()) common = LeastRestrictive(types);
  for (size_t i = 0; i < types.size(); ++i) {
    const bool both_numbers = IsNumber(types[i]) && IsNumber(operand.type);
    const bool both_text = IsCharacter(types[i]) && IsCharacter(operand.type);
    const bool date_text = IsTemporal(operand.type) && IsCharacter(types[i]);
    // A list of nothing but texts is read as the operand's type.
    const bool list_of_texts = common && IsCharacter(*common) &&
                               (IsNumber(operand.type) || operand.type.kind == TypeKind::kBoolean);
    // A list without texts is read as texts beside one: s IN (1, 10).
    const bool read_as_text = common && !IsCharacter(*common) && IsCharacter(operand.type);
    if (!both_numbers && !both_text && !date_text && !list_of_texts && !read_as_text &&
        !LeastRestrictive(types[i], operand.type)) {
      return Status::Validate(in.operand->position, "{} and {} cannot be compared with IN",
                              ToString(operand.type), ToString(types[i]))
          .WithErrorCode("RT2006");
    }
  }
  const bool text = IsCharacter(operand.type) && common && IsCharacter(*common);
  if (!text) common = operand.type.WithoutTimeAttribute();
  std::vector<Expression> terms;
  std::set<std::string> seen;  // IN (1, 1, 2) is IN (1, 2)
  for (Expression& value : values) {
    const SourcePosition position = value.position;
    if (value.type.kind == TypeKind::kNull) value = Expression::Null(common.value_or(operand.type));
    Expression left = operand;
    if (common) value = CoerceTo(std::move(value), *common);
    const bool nullable = left.type.nullable || value.type.nullable;
    Expression equal = Expression::Call("=", {std::move(left), std::move(value)},
                                        Type::Boolean().WithNullable(nullable));
    equal.position = position;
    if (seen.insert(Digest(equal)).second) terms.push_back(std::move(equal));
  }
  Expression any = Disjunction(std::move(terms));
  return in.negated ? Negation(std::move(any)) : any;
}

}  // namespace rowtide

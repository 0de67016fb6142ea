// Syntax to typed expressions over the rows of a scope.
//
//   v BETWEEN 1 AND 2      AND(>=($1, 1), <=($1, 2))
//   k IN ('a', 'b')        OR(=($0, 'a'), =($0, 'b'))
//   COUNT(*) + 1           +(<call 0>, 1)        calls are collected; see `aggregates`
//
// Casts that Calcite puts in by itself are put in here. Nothing is folded: simplify_projection.h
// does what Calcite's RelBuilder does. Used once per clause of a query block.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "operators/expressions/expression.h"
#include "planner/binder/scope.h"
#include "planner/sql/ast.h"

namespace rowtide {

// An aggregate call met in SELECT, HAVING or ORDER BY; its arguments are over the rows of FROM.
struct CollectedCall {
  std::string function;
  std::vector<Expression> arguments;
  bool distinct = false;
  std::optional<Expression> filter;
  Type type;
};

// Where a block's aggregate calls are gathered. While one is bound, call i stands as input column
// kFirstCall + i.
struct AggregateCollector {
  static constexpr int kFirstCall = 1 << 24;
  bool groups_nothing = true;  // no GROUP BY: every call may see no rows
  std::vector<CollectedCall> calls;
};

using NamedWindows = std::map<std::string, const ast::WindowSpec*>;
// Sub-queries are bound by the query binder; without it they are refused.
using SubqueryBinder = std::function<Result<Expression>(const ast::Expr& expr)>;

class ExpressionBinder {
 public:
  explicit ExpressionBinder(const Scope& scope) : scope_(scope) {}

  ExpressionBinder& WithAggregates(AggregateCollector* aggregates) {
    aggregates_ = aggregates;
    return *this;
  }
  ExpressionBinder& WithWindows(const NamedWindows* windows) {
    windows_ = windows;
    allows_over_ = true;
    return *this;
  }
  // Names of SELECT items, tried where the scope has no such column (QUALIFY, ORDER BY).
  ExpressionBinder& WithAliases(const std::map<std::string, ast::ExprPointer>* aliases) {
    aliases_ = aliases;
    return *this;
  }
  ExpressionBinder& Naming(const char* clause) {
    clause_ = clause;
    return *this;
  }

  Result<Expression> Bind(const ast::Expr& expr);
  bool used_alias() const { return used_alias_; }
  // A condition: must be BOOLEAN.
  Result<Expression> BindCondition(const ast::Expr& expr);

 private:
  Result<Expression> BindNode(const ast::Expr& expr);
  Result<Expression> BindName(const ast::NameRef& ref, const ast::Expr& expr);
  Result<Expression> BindCall(const ast::Call& call, const ast::Expr& expr);
  Result<Expression> BindLogic(const ast::Call& call);
  Result<Expression> BindNegation(const ast::Call& call, const ast::Expr& expr);
  Result<Expression> BindAggregate(const ast::Call& call, const ast::Expr& expr);
  Result<Expression> BindOver(const ast::Call& call, const ast::Expr& expr);
  Result<OverWindow> BindWindow(const ast::WindowSpec& spec, bool ranking);
  Result<Expression> BindCase(const ast::Case& node);
  Result<Expression> BindCast(const ast::Cast& cast, const ast::Expr& expr);
  Result<Expression> BindBetween(const ast::Between& between);
  Result<Expression> BindQuantified(const ast::QuantifiedComparison& node, const ast::Expr& expr);
  Result<std::array<Expression, 2>> BindPeriod(const ast::ExprPointer& operand);
  Result<Expression> BindOverlaps(const ast::Call& call, const ast::Expr& expr);
  Result<Expression> BindIn(const ast::In& in);
  Result<Expression> BindRowsEqual(const ast::Expr& left, const ast::Expr& right);
  Result<Expression> BindInterval(const ast::Call& call, const ast::Expr& expr);
  Result<Expression> BindJson(const ast::Call& call, std::vector<Expression> operands);
  Result<std::vector<Expression>> BindAll(const std::vector<ast::ExprPointer>& exprs);

  const Scope& scope_;
  AggregateCollector* aggregates_ = nullptr;
  const NamedWindows* windows_ = nullptr;
  const std::map<std::string, ast::ExprPointer>* aliases_ = nullptr;
  const char* clause_ = "SELECT";
  bool allows_over_ = false;
  bool inside_aggregate_ = false;
  bool inside_over_ = false;
  bool used_alias_ = false;
  int alias_depth_ = 0;
};

// a AND b AND c, flattened as Calcite does.
Expression Conjunction(std::vector<Expression> terms);
Expression Disjunction(std::vector<Expression> terms);
Expression Negation(Expression operand);

}  // namespace rowtide

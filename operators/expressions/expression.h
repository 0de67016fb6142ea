// The one expression type: made by the binder, rewritten by the planner, printed by EXPLAIN,
// compiled by operators.
//
//   v + 1 > 10     Call ">"
//                    Call "+"  (INT)
//                      Input 1
//                      Literal 1 (INT NOT NULL)
//                    Literal 10
//
// A plain tree of values: copied freely by the planner, never seen by a row loop
// (operators/expressions/evaluator.h compiles it). Operators are called by Flink's names: `+ - * /
// MOD = <> < <= > >= AND OR NOT CAST TRY_CAST CASE SEARCH IS NULL …`, functions by their SQL name
// in upper case. CASE has operands when1, then1, …, else. CAST's target is `type`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "engine/types.h"
#include "engine/value.h"

namespace rowtide {

struct Expression;

// Calcite's search argument: a union of disjoint ranges in ascending order, and what NULL gives.
// `x IN (1, 3)` = two points; `x > 1 AND x <= 5` = one range; `x <> 2` = two open ranges.
struct Sarg {
  struct Range {
    std::optional<Value> lower;  // none = unbounded
    std::optional<Value> upper;
    bool lower_inclusive = true;
    bool upper_inclusive = true;
  };
  enum class NullAs : uint8_t { kUnknown, kTrue, kFalse };
  std::vector<Range> ranges;
  NullAs null_as = NullAs::kUnknown;
  Type type;  // of the points
};

// ORDER BY inside OVER and in sorts. `nulls_first` is always settled (ASC: first, DESC: last unless
// said).
struct SortKey {
  int column = 0;
  bool descending = false;
  bool nulls_first = true;
  friend bool operator==(const SortKey&, const SortKey&) = default;
};

// The window of an OVER call. Partition and order are expressions over the input until the planner
// has made them columns.
struct OverWindow {
  std::vector<Expression> partition;
  struct Order;
  std::vector<Order> order;
  bool rows = true;             // ROWS, else RANGE
  bool lower_unbounded = true;  // else `lower_preceding`
  // Null with lower_unbounded = false: CURRENT ROW.
  std::shared_ptr<const Expression> lower_preceding;
  bool upper_current_row = true;  // else UNBOUNDED FOLLOWING
};

struct Expression {
  enum class Kind : uint8_t {
    kInput,     // column of the input row
    kLiteral,   // `literal`; NULL when IsNull(literal)
    kCall,      // `function` over `operands`
    kOver,      // `function` over `operands` in `over`; only in logical projections
    kOuter,     // column `column` of the enclosing query (correlation variable `outer_name`)
    kSubquery,  // IN/EXISTS/scalar, only before decorrelation; carried by the logical plan
  };
  Kind kind = Kind::kLiteral;
  Type type;
  int column = -1;
  Value literal;
  // How EXPLAIN spells the literal where its value does not tell: `1E0`, `2` of DECIMAL(5, 2),
  // `5000:INTERVAL SECOND` (intervals with their unit). Not part of equality.
  std::string literal_text;
  std::string function;  // also kOuter: the correlation name, `$cor0`
  std::vector<Expression> operands;
  std::shared_ptr<const Sarg> sarg;        // SEARCH: the second operand
  std::shared_ptr<const OverWindow> over;  // kOver
  bool distinct = false;                   // kOver of an aggregate
  SourcePosition position;                 // for messages; not part of equality

  static Expression Input(int column, Type type);
  static Expression Literal(Value value, Type type);
  static Expression Null(Type type) { return Literal({}, type.Nullable()); }
  static Expression Bool(bool value) { return Literal(value, Type::Boolean().NotNull()); }
  static Expression Call(std::string function, std::vector<Expression> operands, Type type);
  static Expression Cast(Expression operand, Type type);

  bool is_input() const { return kind == Kind::kInput; }
  bool is_literal() const { return kind == Kind::kLiteral; }
  bool is_null_literal() const { return is_literal() && IsNull(literal); }
  bool is_call() const { return kind == Kind::kCall; }
  bool is_call(const char* name) const { return kind == Kind::kCall && function == name; }
  bool is_true() const;   // the literal TRUE
  bool is_false() const;  // the literal FALSE
};

struct OverWindow::Order {
  Expression key;
  bool descending = false;
  bool nulls_first = true;
};

// Structure, types and literals are equal; positions are not looked at.
bool operator==(const Expression& a, const Expression& b);
// A text that is equal iff the expressions are: for maps and operator ids. Not for users.
std::string Digest(const Expression& expression);

// Calls `visit` on the expression and all below it, parents first.
template <typename Visit>
void Walk(const Expression& expression, const Visit& visit) {
  visit(expression);
  for (const Expression& operand : expression.operands) Walk(operand, visit);
  if (expression.over) {
    for (const Expression& part : expression.over->partition) Walk(part, visit);
    for (const OverWindow::Order& order : expression.over->order) Walk(order.key, visit);
  }
}
// The columns it reads, ascending, each once.
std::vector<int> InputsOf(const Expression& expression);
// Every input column i replaced by `replacements[i]`.
Expression Substitute(const Expression& expression, const std::vector<Expression>& replacements);
// Every input column i replaced by column `mapping[i]`; Requires: mapping[i] >= 0 for each one
// used.
Expression Remap(const Expression& expression, const std::vector<int>& mapping);
bool HasOver(const Expression& expression);
// False for PROCTIME, CURRENT_TIMESTAMP, RAND, UUID, … anywhere in it.
bool IsDeterministic(const Expression& expression);
// The conjuncts of an AND tree, and back (TRUE when there are none).
std::vector<Expression> Conjuncts(const Expression& condition);
Expression AndOf(std::vector<Expression> conjuncts);

}  // namespace rowtide

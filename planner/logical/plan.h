// The logical plan: what the binder makes of a query, node for node what Calcite makes of it, so
// that the section "Abstract Syntax Tree" of EXPLAIN can be printed from it before any rule has
// run.
//
//   SELECT k, COUNT(*) FROM t WHERE v > 1 GROUP BY k
//     Aggregate {0}, COUNT()            k, EXPR$1
//       Project k                       k
//         Filter >($1, 1)               k, v
//           Scan t                      k, v
//
// Nodes are immutable and shared: a rule makes new nodes around old ones. `schema` is what the node
// puts out; names are Flink's (EXPR$0, $f1) and settled by the binder. Time attributes are in the
// types.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/schema.h"
#include "operators/expressions/expression.h"
#include "planner/catalog.h"

namespace rowtide {

struct LogicalNode;
using LogicalPointer = std::shared_ptr<const LogicalNode>;

struct LogicalScan {
  TablePointer table;
  std::map<std::string, std::string> hint_options;  // OPTIONS('k'='v')
};

struct LogicalValues {
  std::vector<std::vector<Expression>> rows;  // literals
};

struct LogicalProject {
  std::vector<Expression> expressions;                         // may hold kOver
  std::vector<std::pair<std::string, std::string>> ttl_hints;  // STATE_TTL of this query block
};

struct LogicalFilter {
  Expression condition;
};

struct AggregateCall {
  std::string function;  // COUNT, SUM, $SUM0, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE, LISTAGG, …
  std::vector<int> arguments;  // columns of the input; none = COUNT(*)
  bool distinct = false;
  int filter = -1;   // a boolean column of the input, or -1
  std::string name;  // of the output column
  Type type;         // of the output column
  friend bool operator==(const AggregateCall&, const AggregateCall&) = default;
};

struct LogicalAggregate {
  std::vector<int> group;  // ascending columns of the input
  std::vector<AggregateCall> calls;
  std::vector<std::pair<std::string, std::string>> ttl_hints;
};

enum class JoinType : uint8_t { kInner, kLeft, kRight, kFull, kSemi, kAnti };

struct LogicalJoin {
  JoinType type = JoinType::kInner;
  Expression condition;
};

struct LogicalCorrelate {  // LATERAL: the right side reads the left through kOuter expressions
  JoinType type = JoinType::kInner;
  std::string correlation;  // `$cor0`
  std::vector<int> required_columns;
};

struct LogicalUnion {
  bool all = true;
};

struct LogicalSort {
  std::vector<SortKey> keys;
  std::optional<int64_t> offset;
  std::optional<int64_t> fetch;
};

struct LogicalWatermarkAssigner {
  int rowtime = 0;
  Expression watermark;
};

enum class ConflictStrategy : uint8_t { kUnsaid, kDeduplicate, kError, kNothing };

struct LogicalSink {
  TablePointer table;
  // Positions in the sink schema that a partial insert names; empty = all.
  std::vector<int> target_columns;
  ConflictStrategy conflict = ConflictStrategy::kUnsaid;
  std::map<std::string, std::string> hint_options;
  bool overwrite = false;   // INSERT OVERWRITE
  SourcePosition position;  // of the INSERT
};

struct LogicalNode {
  std::variant<LogicalScan, LogicalValues, LogicalProject, LogicalFilter, LogicalAggregate,
               LogicalJoin, LogicalCorrelate, LogicalUnion, LogicalSort, LogicalWatermarkAssigner,
               LogicalSink>
      op;
  std::vector<LogicalPointer> inputs;
  Schema schema;

  const LogicalNode& input(size_t i = 0) const { return *inputs[i]; }
  template <typename T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
};

template <typename Op>
LogicalPointer MakeLogical(Op op, std::vector<LogicalPointer> inputs, Schema schema) {
  auto node = std::make_shared<LogicalNode>();
  node->op = std::move(op);
  node->inputs = std::move(inputs);
  node->schema = std::move(schema);
  return node;
}

}  // namespace rowtide

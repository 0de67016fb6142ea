// An expression compiled for batches: one column in, one column out, no virtual call per row.
//
// Operands that are not always reached (CASE, AND, OR, COALESCE, IF) are computed only on the rows
// that reach them, so `CASE WHEN b <> 0 THEN a / b END` never divides by zero. A row on which an
// expression fails (1/0, a CAST) gives a kDataError that names the expression and the values. One
// lane uses an evaluator; it keeps scratch buffers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/clock.h"
#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/status.h"
#include "operators/expressions/expression.h"

namespace rowtide {

class Node;

// What an expression sees besides its row. The pointers are borrowed and outlive the evaluator.
struct EvaluationContext {
  const Clock* clock = nullptr;         // null: the system's
  std::string local_time_zone = "UTC";  // table.local-time-zone
  const int64_t* watermark = nullptr;   // CURRENT_WATERMARK: Time::kNoWatermark before the first
  bool flink_compat = false;            // rowtide.flink-compat
};

class Evaluator {
 public:
  // kUnsupported when a function is known but not built.
  static Result<Evaluator> Create(const Expression& expression, const Schema& input,
                                  const EvaluationContext& context);
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;
  ~Evaluator();

  const Type& type() const { return type_; }
  // The input column when the expression is nothing but that, else -1.
  int input_column() const { return input_column_; }

  // One value a row. Long strings lie in the batch's blocks or in `strings`: the caller keeps both.
  Result<Column> Evaluate(const RowBatch& batch, StringBlocks* strings);
  // A predicate: the rows on which it is TRUE, ascending. `rows` is overwritten.
  Status SelectTrue(const RowBatch& batch, std::vector<int32_t>* rows);

 private:
  Evaluator(std::unique_ptr<Node> root, Type type, int input_column,
            const EvaluationContext& context);
  int64_t NowMillis() const;

  std::unique_ptr<Node> root_;
  Type type_;
  int input_column_ = -1;
  const Clock* clock_ = nullptr;
};

// The value of an expression without inputs, for folding.
Result<Value> EvaluateConstant(const Expression& expression, const EvaluationContext& context);

}  // namespace rowtide

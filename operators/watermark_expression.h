// What makes watermarks of rows, for a source that keeps them per partition
// (engine/row_watermarks.h), and what it shares with the operator that makes them above a source
// (operators/watermark_assigner.h).
#pragma once

#include <memory>
#include <string>

#include "engine/row_watermarks.h"
#include "operators/expressions/evaluator.h"

namespace rowtide {

// Of rows of `input`, whose row time is column `rowtime`; -1: it is made of others above.
Result<std::unique_ptr<RowWatermarks>> CompileWatermarks(const Expression& watermark, int rowtime,
                                                         const Schema& input,
                                                         const EvaluationContext& context);
Result<Evaluator> CompileWatermark(const Expression& watermark, const Schema& input,
                                   const EvaluationContext& context);

// A moment in milliseconds, rounded down. Requires: it is not NULL.
int64_t MomentMillis(const Column& column, const Type& type, int row);
// No row time is NULL.
Status CheckRowtimes(const RowBatch& batch, int column, const std::string& name);

}  // namespace rowtide

// What `SET 'rowtide.flink-compat' = 'true'` must give for a unit that is marked `flink-differs
// 15.ROW`: the column "compat" of the table of deviations, row by row, part by part where a row has
// parts.
#pragma once

#include "cli/script/script.h"

namespace rowtide {

enum class CompatAnswer : uint8_t {
  kFlink,    // Flink's answer, in the plain blocks; a failure of Flink need not be repeated
  kSame,     // the setting changes nothing
  kRefused,  // Flink's refusal
  kUnasked,  // nothing is asked of the setting
};

// Fails for a row that the table does not have.
Result<CompatAnswer> CompatAnswerOf(const FlinkDiffers& differs);

}  // namespace rowtide

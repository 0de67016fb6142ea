// Rank: the rows of each partition whose ROW_NUMBER lies in a range, as a changelog
// (flink-rank-dedup.md 7).
//
//   strategy     input                  form           state per partition key
//   kAppendFast  +I, by PROCTIME ASC    first N        a counter
//   kAppendFast  +I, range [1, 1]       top 1          the best row
//   kAppendFast  +I                     top N          N rows in order
//   kUpdateFast  upserts by `row_key`   top 1, top N   the same, rows known by their row key
//   kRetract     all kinds              retracting     every row in order
//
// SortLimit is a Rank with an empty partition, Limit one with an empty sort order as well:
// everything ties, the first rows win.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "engine/operator.h"
#include "operators/expressions/expression.h"

namespace rowtide {

struct RankSpec {
  enum class Strategy : uint8_t { kAppendFast, kUpdateFast, kRetract };
  static constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();

  Schema input;
  Schema output;  // the input's columns; one more, a BIGINT, is the rank number
  std::vector<int> partition;
  std::vector<SortKey> order;
  int64_t start = 1;
  int64_t end = 1;        // kNoEnd = no upper bound
  int variable_end = -1;  // a column of the input: the first row of a partition fixes the end
  Strategy strategy = Strategy::kRetract;
  std::vector<int> row_key;  // kUpdateFast
  bool emits_update_before = true;

  bool outputs_number() const { return output.size() > input.size(); }
};

Result<std::unique_ptr<Operator>> Create(const RankSpec& spec, const OperatorContext& context);

// The forms behind Create.
std::unique_ptr<Operator> CreateFirstN(const RankSpec& spec, const OperatorContext& context);
std::unique_ptr<Operator> CreateTopOne(const RankSpec& spec, const OperatorContext& context);
std::unique_ptr<Operator> CreateAppendTopN(const RankSpec& spec, const OperatorContext& context);
std::unique_ptr<Operator> CreateUpdateTopN(const RankSpec& spec, const OperatorContext& context);
std::unique_ptr<Operator> CreateRetractTopN(const RankSpec& spec, const OperatorContext& context);

}  // namespace rowtide

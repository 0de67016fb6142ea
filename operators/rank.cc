#include "operators/rank.h"

namespace rowtide {
namespace {

Status CheckColumns(const RankSpec& spec) {
  const int columns = spec.input.size();
  if (spec.output.size() < columns || spec.output.size() > columns + 1) {
    return Status::InvalidArgument("rank: {} columns come in, {} go out", columns,
                                   spec.output.size());
  }
  for (const int column : spec.partition) {
    if (column < 0 || column >= columns)
      return Status::InvalidArgument("rank: no column {} to partition by", column);
  }
  for (const SortKey& key : spec.order) {
    if (key.column < 0 || key.column >= columns)
      return Status::InvalidArgument("rank: no column {} to order by", key.column);
  }
  for (const int column : spec.row_key) {
    if (column < 0 || column >= columns)
      return Status::InvalidArgument("rank: no key column {}", column);
  }
  return Status::Ok();
}

Status CheckRange(const RankSpec& spec) {
  if (spec.variable_end < 0) {
    if (spec.end < 1 || spec.start > spec.end) {
      return Status::InvalidArgument("rank: no row has a number from {} to {}", spec.start,
                                     spec.end);
    }
    return Status::Ok();
  }
  if (spec.variable_end >= spec.input.size() || !IsInteger(spec.input.type(spec.variable_end))) {
    return Status::InvalidArgument("rank: the end must be an integer column");
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<Operator>> Create(const RankSpec& spec, const OperatorContext& context) {
  RT_TRY(CheckColumns(spec));
  RT_TRY(CheckRange(spec));
  const bool is_top_one = spec.variable_end < 0 && spec.start == 1 && spec.end == 1;
  switch (spec.strategy) {
    case RankSpec::Strategy::kAppendFast: {
      const bool by_arrival = spec.order.size() == 1 && !spec.order[0].descending &&
                              spec.input.type(spec.order[0].column).is_proctime();
      if (by_arrival) return CreateFirstN(spec, context);
      return is_top_one ? CreateTopOne(spec, context) : CreateAppendTopN(spec, context);
    }
    case RankSpec::Strategy::kUpdateFast:
      if (spec.row_key.empty()) return Status::InvalidArgument("rank: updates need a row key");
      return is_top_one ? CreateTopOne(spec, context) : CreateUpdateTopN(spec, context);
    case RankSpec::Strategy::kRetract: return CreateRetractTopN(spec, context);
  }
  return Status::Internal("rank: unknown strategy");
}

}  // namespace rowtide

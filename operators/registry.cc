#include "operators/registry.h"

namespace rowtide {
namespace {

constexpr OperatorInfo kOperators[] = {
    {"calc", "all", "none", "filters and computes columns"},
    {"changelog_normalize", "all", "a row a key", "turns upserts into a full changelog"},
    {"constraint_enforcer", "all", "none", "holds NOT NULL and lengths of a sink against its rows"},
    {"deduplicate", "+I", "a row or a flag a key", "keeps the first or the last row of each key"},
    {"drop_update_before", "all", "none", "lets everything through but -U"},
    {"final_rows", "all", "the rows that are left", "the final rows alone, at the end"},
    {"group_aggregate", "all", "accumulators a group",
     "GROUP BY, SELECT DISTINCT, the second of two phases"},
    {"local_group_aggregate", "all", "the bundle", "the first of two phases of GROUP BY"},
    {"mini_batch_assigner", "all", "the newest watermark", "says when bundles are flushed"},
    {"over_row_number", "all", "the rows of a partition", "ROW_NUMBER that is no Top-N"},
    {"rank", "all", "the ranked rows of a partition",
     "ROW_NUMBER in a range, ORDER BY … LIMIT, LIMIT"},
    {"sink_materializer", "all", "the living rows of a key",
     "upserts by a sink's key from rows keyed otherwise"},
    {"union", "all", "none", "UNION ALL"},
    {"watermark_assigner", "all", "the newest watermark", "makes watermarks from rows"},
    {"watermark_compacting_materializer", "all", "changes since the last watermark, a row a key",
     "ON CONFLICT DO ERROR and DO NOTHING"},
};
static_assert(std::size(kOperators) == std::variant_size_v<OperatorSpec>, "a row for each spec");

using Made = Result<std::unique_ptr<Operator>>;

// One overload a spec: the compiler names the one that is missing.
struct Creator {
  const Schema& input;
  const OperatorContext& context;

  Made operator()(const CalcSpec& spec) const {
    RT_ASSIGN(std::unique_ptr<Calc> made, Calc::Create(spec, context));
    return std::unique_ptr<Operator>(std::move(made));
  }
  Made operator()(const ChangelogNormalizeSpec& spec) const {
    return ChangelogNormalize::Create(spec, input, context);
  }
  Made operator()(const ConstraintEnforcerSpec& spec) const {
    return ConstraintEnforcer::Create(spec, input, context);
  }
  Made operator()(const DeduplicateSpec& spec) const { return Create(spec, context); }
  Made operator()(const DropUpdateBeforeSpec& spec) const {
    return DropUpdateBefore::Create(spec, input, context);
  }
  Made operator()(const FinalRowsSpec& spec) const {
    return FinalRows::Create(spec, input, context);
  }
  Made operator()(const GroupAggregateSpec& spec) const {
    return GroupAggregate::Create(spec, input, context);
  }
  Made operator()(const LocalGroupAggregateSpec& spec) const {
    return LocalGroupAggregate::Create(spec, input, context);
  }
  Made operator()(const MiniBatchAssignerSpec& spec) const {
    return MiniBatchAssigner::Create(spec, input, context);
  }
  Made operator()(const OverRowNumberSpec& spec) const {
    return OverRowNumber::Create(spec, input, context);
  }
  Made operator()(const RankSpec& spec) const { return Create(spec, context); }
  Made operator()(const SinkMaterializerSpec& spec) const {
    return SinkMaterializer::Create(spec, input, context);
  }
  Made operator()(const UnionSpec& spec) const { return Union::Create(spec, input, context); }
  Made operator()(const WatermarkAssignerSpec& spec) const {
    return WatermarkAssigner::Create(spec, input, context);
  }
  Made operator()(const WatermarkCompactingMaterializerSpec& spec) const {
    return WatermarkCompactingMaterializer::Create(spec, input, context);
  }
};

}  // namespace

std::span<const OperatorInfo> Operators() { return kOperators; }

const OperatorInfo& InfoOf(const OperatorSpec& spec) { return kOperators[spec.index()]; }

Result<std::unique_ptr<Operator>> CreateOperator(const OperatorSpec& spec, const Schema& input,
                                                 const OperatorContext& context) {
  return std::visit(Creator{input, context}, spec);
}

}  // namespace rowtide

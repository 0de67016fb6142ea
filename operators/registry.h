// All operators in one table: what a plan can be made of, and how each is made from its spec.
//
//   OperatorSpec spec = GroupAggregateSpec{…};
//   RT_ASSIGN(auto op, CreateOperator(spec, input_schema, context));
//
// A new operator is a spec struct here, a row in registry.cc, a planner function and a test script.
// ValuesSource is a source and not in the table. Used by embedding programs and docs; the planner
// makes operators from its nodes.
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "operators/calc.h"
#include "operators/changelog_normalize.h"
#include "operators/constraint_enforcer.h"
#include "operators/deduplicate.h"
#include "operators/drop_update_before.h"
#include "operators/final_rows.h"
#include "operators/group_aggregate.h"
#include "operators/local_group_aggregate.h"
#include "operators/mini_batch_assigner.h"
#include "operators/over_row_number.h"
#include "operators/rank.h"
#include "operators/sink_materializer.h"
#include "operators/union.h"
#include "operators/watermark_assigner.h"
#include "operators/watermark_compacting_materializer.h"

namespace rowtide {

using OperatorSpec =
    std::variant<CalcSpec, ChangelogNormalizeSpec, ConstraintEnforcerSpec, DeduplicateSpec,
                 DropUpdateBeforeSpec, FinalRowsSpec, GroupAggregateSpec, LocalGroupAggregateSpec,
                 MiniBatchAssignerSpec, OverRowNumberSpec, RankSpec, SinkMaterializerSpec,
                 UnionSpec, WatermarkAssignerSpec, WatermarkCompactingMaterializerSpec>;

struct OperatorInfo {
  const char* name;     // snake_case, as in snapshots and statistics
  const char* accepts;  // kinds of rows
  const char* state;    // what it keeps
  const char* does;
};
// In the order of the variant: index() of a spec is its row.
std::span<const OperatorInfo> Operators();
const OperatorInfo& InfoOf(const OperatorSpec& spec);

// Specs that hold their own schemas (Calc, Deduplicate, Rank) ignore `input`.
Result<std::unique_ptr<Operator>> CreateOperator(const OperatorSpec& spec, const Schema& input,
                                                 const OperatorContext& context);

}  // namespace rowtide

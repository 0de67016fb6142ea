// Reading a table: what the connector takes over from the plan, and ChangelogNormalize where rows
// come as upserts.
//
//   Calc(select=[id], where=[AND(<(id, 10), >(v, 1))])
//     Scan(id, name, v; mode I,UA,D; key id)
//                         becomes
//   ChangelogNormalize(key=[id], condition=[>(v, 1)])
//     Exchange(distribution=[hash[id]])
//       Calc(select=[id, v], where=[<(id, 10)])
//         TableSourceScan
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

// A scan without anything above it to push: all its columns.
Result<PhysicalPointer> PlainScan(const PhysicalPointer& scan, PlannerContext& context);
// Requires: node is a Calc whose input is a scan.
Result<PhysicalPointer> CalcOverScan(const PhysicalPointer& node, PlannerContext& context);
// Requires: node is a Calc whose input is a ChangelogNormalize without a condition. Conjuncts on
// the key filter below it, others become its condition; columns that nobody reads are left out
// below.
Result<PhysicalPointer> CalcOverNormalize(const PhysicalPointer& node, PlannerContext& context);
// The scan stops after that many rows where the connector can.
PhysicalPointer WithLimit(const PhysicalPointer& scan, int64_t rows);

}  // namespace rowtide

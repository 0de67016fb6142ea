// Watermarks below projections: a source that makes them itself, of each of its partitions, makes
// them of what it reads (Flink's PushWatermarkIntoTableSourceScanAcrossCalcRule).
//
//   WatermarkAssigner(ts, ts - 5 s)            Calc(id, Reinterpret(TO_TIMESTAMP(text)) AS ts)
//     Calc(id, TO_TIMESTAMP(text) AS ts)  ->     Scan(watermark = TO_TIMESTAMP(text) - 5 s)
//       Scan(id, text)
//
// Right above a scan ToRel does the same.
#pragma once

#include "planner/physical/plan.h"
#include "planner/rules/context.h"

namespace rowtide {

Result<PhysicalPointer> PushWatermarks(const PhysicalPointer& root, PlannerContext& context);

}  // namespace rowtide

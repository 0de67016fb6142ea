// What a sink's PRIMARY KEY means for the plan: whether -U can be left out, and whether rows of one
// key have to be materialised (ON CONFLICT, SinkUpsertMaterializer). surface §3.6, RD §9.
#pragma once

#include "planner/physical/keys.h"
#include "planner/rules/context.h"

namespace rowtide {

enum class SinkKind : uint8_t { kAny, kAppend, kUpsert, kRetract };
SinkKind KindOf(const PhysicalSink& sink);

// The sink's key as positions among the columns it is written.
std::vector<int> SinkKey(const PhysicalSink& sink);

// An upsert key of the input is the sink's key, or is part of it and the rest never changes.
bool KeyMatches(const PhysicalSink& sink, const PhysicalNode& input, const KeyOptions& options);

// Settles `upsert_materialize` and `input_upsert_key`. Errors: ON CONFLICT where it makes no sense,
// or missing where it is needed. Requires: the kinds of change are inferred.
Result<PhysicalSink> WithConflictRules(const PhysicalSink& sink, const PhysicalNode& input,
                                       PlannerContext& context);

}  // namespace rowtide

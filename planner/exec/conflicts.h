// `SET 'rowtide.conflicts.<view>' = 'path'`: which Deduplicate nodes of a job write samples of rows
// that differ from the kept one, and where to.
//
// The name is that of a view whose query deduplicates, or of a table that the job writes. A node of
// the job is a view's when it deduplicates the same tables by the same keys in the same order;
// views themselves are gone once a query is planned.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "operators/conflict_watch.h"
#include "planner/exec/plan.h"
#include "planner/options.h"

namespace rowtide {

using ConflictPaths = std::map<const ExecNode*, std::string>;

// The plan of a view's query, or none when there is no such view.
using ViewPlanner = std::function<Result<std::optional<ExecPlan>>(const std::string& view)>;

Result<ConflictPaths> FindConflictPaths(const ExecPlan& plan, const Options& options,
                                        const ViewPlanner& plan_view);

// A file of samples, written anew.
Result<std::unique_ptr<ConflictLog>> OpenConflictLog(const std::string& path, bool begins);

}  // namespace rowtide

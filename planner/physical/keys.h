// Which columns identify a row of a stream.
//
// An upsert key is a unique key whose rows stay in order on one task: it survives plain references
// and injective casts, and an Exchange on a subset of it. A grouping key is what lets GROUP BY be
// undone: only keys of tables and of GROUP BY itself (Flink does not ask a ranking for it). spec:
// surface §3.5, RD §3.3.
#pragma once

#include <set>
#include <vector>

#include "planner/physical/plan.h"

namespace rowtide {

using ColumnSet = std::set<int>;

struct KeyOptions {
  bool flink_compat = false;
  // Of a ranking with a number: whether it gives -U, so that its input's keys hold (RD §15.4).
  bool ranks_give_update_before = true;
};

// All upsert keys of the node's output. Empty = none known.
std::vector<ColumnSet> UpsertKeys(const PhysicalNode& node, const KeyOptions& options = {});
std::vector<ColumnSet> GroupingKeys(const PhysicalNode& node);
// Columns whose value cannot change while the row's key stays the same.
ColumnSet ImmutableColumns(const PhysicalNode& node);

// True for casts under which different values stay different (FLINK-39088).
bool KeepsDifferent(const Type& from, const Type& to);

}  // namespace rowtide

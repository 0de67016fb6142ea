// How the value of a column can change while the key of its row stays the same.
//
//   scan of an insert-only table            every column kConstant: a row never changes
//   GROUP BY k: COUNT(*), MAX(v), SUM(v)    k kConstant, then kIncreasing twice, kNone
//   … WHERE v > 0                           SUM(v) kIncreasing
//
// A ranking whose order only improves may take updates without -U (UpdateFast). Source of the
// rules: Flink's FlinkRelMdModifiedMonotonicity and FlinkRelMdColumnInterval; RD §3.3.
#pragma once

#include <optional>
#include <vector>

#include "planner/physical/plan.h"

namespace rowtide {

enum class Monotonicity : uint8_t { kConstant, kIncreasing, kDecreasing, kNone };

// One for each output column, or none where nothing is known (Flink: null), as over inputs with
// deletes. Requires: the kinds of change of every node are inferred.
std::optional<std::vector<Monotonicity>> MonotonicityOf(const PhysicalNode& node);

// Of each call of a GROUP BY; kNone where it may have to give back what it has taken. Requires:
// node is a GroupAggregate.
std::vector<Monotonicity> DirectionsOfCalls(const PhysicalNode& node);

// The number range of a column, where known.
struct Interval {
  std::optional<double> lower;
  std::optional<double> upper;
};
Interval IntervalOf(const PhysicalNode& node, int column);

}  // namespace rowtide

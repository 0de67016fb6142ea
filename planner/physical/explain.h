// The section "Optimized Physical Plan" of EXPLAIN, as Flink prints it.
//
//   Sink(table=[default_catalog.default_database.s], fields=[k, n], changelogMode=[NONE])
//   +- GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n], changelogMode=[I,UA])
//      +- Exchange(distribution=[hash[k]], changelogMode=[I])
#pragma once

#include <string>
#include <vector>

#include "planner/physical/plan.h"

namespace rowtide {

// The trees of `roots`, each line ended, a blank line between trees.
// `changelog_mode`: each node ends with what it puts out, `changelogMode=[I,UA]`.
std::string ExplainPhysical(const std::vector<PhysicalPointer>& roots, bool changelog_mode = true);

// One node without its inputs and its changelog mode: `GroupAggregate(groupBy=[k], select=[k])`.
// For messages.
std::string DescribeNode(const PhysicalNode& node);

// Draws trees: `line(text)` for a node after the branches that lead to it.
class TreeDrawing {
 public:
  // The text before a node at the current depth.
  std::string Prefix() const;
  void Enter(bool last) { last_.push_back(last); }
  void Leave() { last_.pop_back(); }

 private:
  std::vector<bool> last_;  // per level: the node is its parent's last input
};

}  // namespace rowtide

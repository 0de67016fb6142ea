// One node as plans print it: a name and its terms, shared by the physical and the execution
// section of EXPLAIN.
//
//   GroupAggregate(groupBy=[k], select=[k, COUNT(*) AS n])
//   ^ name         ^ term       ^ term
//
// The sections differ in how expressions are written (prefix with types, infix without), in the
// record type of Values, and in the terms that only the physical one appends (changelogMode,
// stateTtlHints).
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "planner/logical/expression_text.h"
#include "planner/physical/plan.h"

namespace rowtide {

using ExpressionText = std::function<std::string(const Expression&, const InputName&)>;

struct NodeText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> terms;  // printed `first=[second]`

  void Add(std::string key, std::string value) {
    terms.emplace_back(std::move(key), std::move(value));
  }
  std::string ToString() const;  // the bare name when there are no terms
};

// What the text of a node depends on besides the node itself.
struct NodeSurroundings {
  const Schema& schema;  // of the node
  std::vector<const Schema*> inputs;
  const ExpressionText& expression;
  bool physical = true;

  const Schema& input() const { return *inputs[0]; }
  InputName names() const;  // of the first input's columns
};

NodeText TextOf(const PhysicalScan& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalValues& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalCalc& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalExchange& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalWatermarkAssigner& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalMiniBatchAssigner& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalRank& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalSortLimit& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalLimit& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalGroupAggregate& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalChangelogNormalize& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalDropUpdateBefore& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalFinalRows& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalUnion& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalJoin& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalOverAggregate& node, const NodeSurroundings& around);
NodeText TextOf(const PhysicalSink& node, const NodeSurroundings& around);

// `a, b` of those columns of `schema`.
std::string ColumnNames(const std::vector<int>& columns, const Schema& schema);
std::string AllNames(const Schema& schema);

}  // namespace rowtide

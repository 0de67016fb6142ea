#include "cli/monitor/job_shape.h"

#include <algorithm>

namespace rowtide {
namespace {

// The shown nodes that the rows of `node` come to next.
void AddTargets(const std::vector<JobNode>& nodes, int node, std::vector<int>* targets) {
  for (const JobEdge& edge : nodes[static_cast<size_t>(node)].outputs) {
    if (nodes[static_cast<size_t>(edge.node)].is_crossing) {
      AddTargets(nodes, edge.node, targets);
    } else {
      targets->push_back(edge.node);
    }
  }
  // There is no edge from an Exchange to its gate, but the gate knows who feeds it.
  for (size_t gate = 0; gate < nodes.size(); ++gate) {
    if (nodes[gate].gate_feeder == node) AddTargets(nodes, static_cast<int>(gate), targets);
  }
}

ShownNode NodeOf(const JobNode& node, int number) {
  ShownNode shown;
  shown.number = number;
  shown.is_source = node.source != nullptr;
  shown.is_sink = node.sink != nullptr;
  const size_t open = node.name.find('(');
  shown.operation = node.name.substr(0, open);
  if ((shown.is_source || shown.is_sink) && open != std::string::npos)
    shown.table = node.name.substr(open + 1, node.name.size() - open - 2);
  shown.description = node.identity.description;
  if (node.mode) shown.mode = node.mode->ToString();
  return shown;
}

}  // namespace

std::vector<ShownNode> ShapeOf(const JobGraph& graph) {
  const std::vector<JobNode>& nodes = graph.nodes();
  std::vector<ShownNode> shown;
  std::vector<int> place(nodes.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].is_crossing) continue;
    place[i] = static_cast<int>(shown.size());
    shown.push_back(NodeOf(nodes[i], static_cast<int>(i)));
  }
  for (size_t from = 0; from < shown.size(); ++from) {
    std::vector<int> targets;
    AddTargets(nodes, shown[from].number, &targets);
    for (const int target : targets) {
      const int to = place[static_cast<size_t>(target)];
      shown[from].outputs.push_back(to);
      shown[static_cast<size_t>(to)].inputs.push_back(static_cast<int>(from));
    }
  }
  return shown;
}

}  // namespace rowtide

#include "engine/runtime/job_graph.h"

#include "engine/runtime/sink_operator.h"

namespace rowtide {

int JobGraph::AddNode(std::string name) {
  JobNode node;
  node.name = std::move(name);
  node.identity.kind = node.name;
  node.meters = std::make_unique<NodeMeters>();
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

void JobGraph::Describe(int node, std::string description, std::vector<std::string> columns) {
  NodeIdentity& identity = nodes_[static_cast<size_t>(node)].identity;
  identity.description = std::move(description);
  identity.columns = std::move(columns);
}

void JobGraph::SetSource(int node, std::unique_ptr<Source> source) {
  nodes_[static_cast<size_t>(node)].source = std::move(source);
}

void JobGraph::SetOperator(int node, std::unique_ptr<Operator> operation, int inputs) {
  JobNode& target = nodes_[static_cast<size_t>(node)];
  target.operation = std::move(operation);
  target.inputs = inputs;
}

void JobGraph::SetSink(int node, std::unique_ptr<Sink> sink) {
  JobNode& target = nodes_[static_cast<size_t>(node)];
  target.operation = std::make_unique<SinkOperator>(sink.get());
  target.sink = std::move(sink);
  target.inputs = 1;
}

void JobGraph::SetExchange(int node, std::unique_ptr<Exchange> exchange) {
  JobNode& target = nodes_[static_cast<size_t>(node)];
  target.is_crossing = true;
  target.exchange = exchange.get();
  target.operation = std::move(exchange);
  target.inputs = 1;
}

void JobGraph::SetGate(int node, std::unique_ptr<InputGate> gate, int feeder) {
  SetCrossing(node);
  nodes_[static_cast<size_t>(node)].gate = std::move(gate);
  nodes_[static_cast<size_t>(node)].gate_feeder = feeder;
}

void JobGraph::Connect(int from, int to, int input) {
  RT_CHECK(from < to);
  nodes_[static_cast<size_t>(from)].outputs.push_back({to, input});
}

void JobGraph::MarkMeetingFanOuts() {
  for (JobNode& node : nodes_) node.row_by_row = BranchesMeet(node);
}

std::vector<bool> JobGraph::ReachableFrom(int node) const {
  std::vector<bool> reached(nodes_.size());
  reached[static_cast<size_t>(node)] = true;
  for (size_t i = static_cast<size_t>(node); i < nodes_.size(); ++i) {
    if (!reached[i]) continue;
    for (const JobEdge& edge : nodes_[i].outputs) reached[static_cast<size_t>(edge.node)] = true;
  }
  return reached;
}

bool JobGraph::BranchesMeet(const JobNode& node) const {
  std::vector<bool> seen(nodes_.size());
  for (const JobEdge& edge : node.outputs) {
    const std::vector<bool> reached = ReachableFrom(edge.node);
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (reached[i] && seen[i]) return true;
      seen[i] = seen[i] || reached[i];
    }
  }
  return false;
}

}  // namespace rowtide

// What a job runs: sources, operators and sinks as nodes, and edges that say whose rows go to which
// input of whom.
//
//   orders ──> Deduplicate ──┬──> Calc ──0─> Union ──> sink   node 0 -> 1 -> {2, 3}; 2 -> 3
//                            └───────────1─>
//
// The graph owns everything in it and is consumed by a Job. Nodes are numbered as they are added,
// and an edge goes from a lower to a higher number, so the order of the numbers is a topological
// one. Where a fan-out meets again (as above) the node that fans out hands its rows on one by one,
// so the order at the meeting point does not depend on how the rows were cut into batches
// (`MarkMeetingFanOuts`).
//
// A job of several lanes has a graph for each, of the same nodes with the same numbers. Between an
// Exchange and its gate there is no edge: rows take channels from every lane to every lane. What
// runs in the first lane alone is absent from the others.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/changelog_mode.h"
#include "engine/checkpoint.h"
#include "engine/gauges.h"
#include "engine/operator.h"
#include "engine/runtime/exchange.h"
#include "engine/runtime/input_gate.h"
#include "engine/sink.h"
#include "engine/source.h"

namespace rowtide {

// What a node's operator counts: it gets pointers into this at Create, so this stays put.
struct NodeMeters {
  Counters counters;
  StateSize state;
  ByteMeter bytes;  // that a sink has written, on whatever thread
  std::vector<ExpiringState*> expiring;
};

struct JobEdge {
  int node = 0;
  int input = 0;
};

// At most one of `source`, `operation` and `gate` is set. A sink's `operation` writes into `sink`,
// and that of an Exchange is `exchange`.
struct JobNode {
  std::string name;
  NodeIdentity identity;  // by which its state is found again; the name alone, unless described
  std::optional<ChangelogMode> mode;  // of its rows, for people; of a sink, of those that come
  uint32_t table = 0;                 // of its entries in a backend; it stays with its state
  bool is_crossing = false;  // an Exchange or a gate, also where it is absent: it has no state
  bool is_absent = false;    // the first lane alone has it; if it has a source here, that is empty
  std::unique_ptr<NodeMeters> meters;
  std::unique_ptr<Source> source;
  std::unique_ptr<Sink> sink;
  std::unique_ptr<Operator> operation;
  std::unique_ptr<InputGate> gate;
  Exchange* exchange = nullptr;
  int gate_feeder = -1;  // of a gate: the node in front of the Exchange
  int inputs = 0;
  std::vector<JobEdge> outputs;
  bool row_by_row = false;  // hands its rows on one by one
};

class JobGraph {
 public:
  // A node without work; its meters are there for the operator that is about to be made.
  int AddNode(std::string name);
  void Describe(int node, std::string description, std::vector<std::string> columns);
  void SetMode(int node, const ChangelogMode& mode) {
    nodes_[static_cast<size_t>(node)].mode = mode;
  }
  void SetTable(int node, uint32_t table) { nodes_[static_cast<size_t>(node)].table = table; }
  NodeMeters* meters(int node) { return nodes_[static_cast<size_t>(node)].meters.get(); }

  void SetSource(int node, std::unique_ptr<Source> source);
  void SetOperator(int node, std::unique_ptr<Operator> operation, int inputs);
  void SetSink(int node, std::unique_ptr<Sink> sink);
  void SetExchange(int node, std::unique_ptr<Exchange> exchange);
  void SetGate(int node, std::unique_ptr<InputGate> gate, int feeder);
  void SetCrossing(int node) { nodes_[static_cast<size_t>(node)].is_crossing = true; }
  void SetAbsent(int node) { nodes_[static_cast<size_t>(node)].is_absent = true; }
  // Requires: from < to.
  void Connect(int from, int to, int input);

  // Finds the fan-outs whose branches meet again at a node of several inputs and marks them row by
  // row.
  void MarkMeetingFanOuts();

  const std::vector<JobNode>& nodes() const { return nodes_; }
  std::vector<JobNode> Take() && { return std::move(nodes_); }

 private:
  // Which nodes are reached from `node`, itself included.
  std::vector<bool> ReachableFrom(int node) const;
  bool BranchesMeet(const JobNode& node) const;

  std::vector<JobNode> nodes_;
};

}  // namespace rowtide

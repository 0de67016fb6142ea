// The graph of a job as people look at it: what each node is called, what it does, whose rows go to
// whom. What only brings rows to other lanes is left out.
//
//   orders ──> Calc ──> Exchange ⇉ InputGate ──> Deduplicate ──> sink      the job's
//   orders ──> Calc ──────────────────────────> Deduplicate ──> sink      shown
//
// Nodes are in topological order. Made from the first lane's graph, which has all of them.
#pragma once

#include <string>
#include <vector>

#include "engine/runtime/job_graph.h"

namespace rowtide {

struct ShownNode {
  int number = 0;           // in the job's graph, where its counts are
  std::string operation;    // `TableSourceScan`, `Deduplicate`, `Sink`
  std::string table;        // of a source or a sink; else ""
  std::string description;  // what it does
  std::string mode;         // of its rows: `I,UB,UA`; of a sink, of those that come
  bool is_source = false;
  bool is_sink = false;
  std::vector<int> inputs;   // positions among the shown nodes
  std::vector<int> outputs;  // the same
};

std::vector<ShownNode> ShapeOf(const JobGraph& graph);

}  // namespace rowtide

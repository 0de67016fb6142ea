// The execution plan: the nodes that become operators, one for one. A pure function of the inferred
// physical plan.
//
// What is new here: a Rank that is a deduplication has become Deduplicate, equal sub-plans have
// become one node with several consumers (`reuse_id`), and every node knows what it must put out.
// planner/exec/build_job turns it into a job graph.
#pragma once

#include "planner/physical/plan.h"

namespace rowtide {

struct ExecDeduplicate {
  std::vector<int> keys;
  int order_column = -1;  // the time attribute in ORDER BY; -1: PROCTIME() itself
  bool rowtime = false;   // else processing time
  bool keeps_last = false;
  bool outputs_insert_only = false;
  bool mini_batch = false;
  bool compacts = false;  // table.exec.deduplicate.mini-batch.compact-changes-enabled
  bool insert_update_after_sensitive =
      true;  // table.exec.deduplicate.insert-update-after-sensitive-enabled
};

struct ExecNode;
using ExecPointer = std::shared_ptr<const ExecNode>;

struct ExecNode {
  std::variant<PhysicalScan, PhysicalValues, PhysicalCalc, PhysicalExchange,
               PhysicalWatermarkAssigner, PhysicalMiniBatchAssigner, ExecDeduplicate, PhysicalRank,
               PhysicalSortLimit, PhysicalLimit, PhysicalGroupAggregate, PhysicalChangelogNormalize,
               PhysicalDropUpdateBefore, PhysicalFinalRows, PhysicalUnion, PhysicalJoin,
               PhysicalOverAggregate, PhysicalSink>
      op;
  std::vector<ExecPointer> inputs;  // a node that several parents share is one object
  Schema schema;
  bool generates_update_before = false;  // its output needs -U
  ChangelogMode mode;                    // declared
  ChangelogMode input_mode;              // of the first input, declared
  int reuse_id = 0;                      // > 0: several parents

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&op);
  }
};

// All sinks of one job, or the one root of a query.
struct ExecPlan {
  std::vector<ExecPointer> roots;
};

}  // namespace rowtide

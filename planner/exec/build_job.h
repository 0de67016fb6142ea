// The execution plan as job graphs, one a lane: one operator per node, one edge per input.
//
//   Sink                        one lane    source -> Calc -> Deduplicate -> sink
//   +- Deduplicate
//      +- Exchange              of several  source -> Calc -> Exchange ⇉ gate -> Deduplicate …
//         +- Calc
//            +- TableSourceScan
//
// Every lane has every node, but what cannot be shared out is in the first lane alone: sources that
// are read in one piece, what is behind an exchange without keys, sinks that write in one place.
// A plan can be built any number of times: that is how a job is restored. Sources are added in the
// order of their tables' names, which is the order in which the job polls them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "connectors/registry.h"
#include "engine/runtime/job_graph.h"
#include "planner/session.h"

namespace rowtide {

class StateTier;

struct BuildContext {
  ConnectorContext connectors;   // clock, feed, collected rows, output
  std::unique_ptr<Sink> result;  // of a query: where its rows go
  // Deduplicate nodes count resends that are identical and rows that differ (--stats); else only
  // those that write samples.
  bool counts_conflicts = false;
  // Of a job with checkpoints: what its life is called, and the life before; else empty.
  std::string job_id;
  std::string earlier_job_id;
  // Beneath keyed state, of each lane; none: all of it is in memory.
  std::vector<StateTier*> tiers;
  // With tiers that were restored: the table of each node, in the order of Job::Identities.
  std::vector<uint32_t> tables;
  int lanes = 0;  // 0: as the job's options say
  // For the rows on their way between lanes, all together; 0: each channel has its own limit.
  int64_t exchange_bytes = 0;
  // The state is to be looked at: nothing is read or written, sources and sinks do nothing.
  bool operators_only = false;
  // tests: watermarks come at the end only (Requires: !ReadsWatermarks)
  bool defers_watermarks = false;
  // tests: as with 'rowtide.source-threads' and 'rowtide.sink-threads'; the only source of a
  // job and its only sink are on threads whatever they are
  bool on_threads = false;
};

// As the job's options say.
int LanesOf(const PlannedJob& job);
// A graph for each lane.
Result<std::vector<JobGraph>> BuildJob(const PlannedJob& job, BuildContext context);

// The key groups of a table of keyed state that a lane of the job holds; none: nothing of it.
std::optional<KeyGroupRange> KeyGroupsOfTable(const std::vector<JobGraph>& lanes, int lane,
                                              uint32_t table);

// The nodes of the job that have state, or could have, as Job::Identities has them. Opens nothing.
Result<std::vector<NodeIdentity>> IdentitiesOf(const PlannedJob& job);

// Whether some operator's output depends on when watermarks come.
bool ReadsWatermarks(const ExecPlan& plan);

}  // namespace rowtide

// The port of every operator: rows and time come in, rows and time go out, all state can be written
// and read back.
//
//   Process(input, batch, out)   rows; emits any number of batches
//   Advance(input, time, out)    watermark, tick, idle, end; emits, then hands the time on
//   Snapshot / Restore           all of it, bundles and timers too; no output of its own
//   Merge                        after Restore: adds the snapshot of another lane
//
// With another number of lanes than at the snapshot, an operator is given those of all old lanes
// and keeps what belongs to its key groups; numbers that belong to no key merge by a rule of their
// own (a watermark: the lowest; an arrival number: the highest).
//
// An operator is made ready by a failable Create and torn down by its destructor. It runs on one
// lane; calls do not overlap. Emit runs everything downstream to completion before it returns. An
// operator with several inputs is told the minimum of their watermarks: the task merges
// (engine/runtime/task.h), and passes End once, after the last input.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/clock.h"
#include "engine/key_group.h"
#include "engine/row_batch.h"
#include "engine/schema.h"
#include "engine/status.h"

namespace rowtide {

class NamedRowsTaker;
class SnapshotReader;
class SnapshotWriter;
class StateTier;

class Collector {
 public:
  virtual ~Collector() = default;
  virtual Status Emit(RowBatch batch) = 0;
  virtual Status Advance(Time time) = 0;
  // Who takes rows by name in place of Emit; null where nobody does.
  virtual NamedRowsTaker* named_rows() { return nullptr; }
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual const Schema& output_schema() const = 0;
  virtual Status Process(int input, const RowBatch& batch, Collector& out) = 0;
  // The default hands the time on. Whoever overrides this emits first, then calls
  // out.Advance(time).
  virtual Status Advance(int input, Time time, Collector& out);
  virtual Status Snapshot(SnapshotWriter& writer) const;
  virtual Status Restore(SnapshotReader& reader);
  virtual Status Merge(SnapshotReader& reader);
};

// Named counts of one operator, for --stats and metrics: `late`, `unmatched_retraction`,
// `duplicate`, `expired`. A counter is found by name once, at Create; the row loop adds through the
// pointer.
class Counters {
 public:
  int64_t* Find(const std::string& name);  // made at the first call; stays put
  struct Named {
    std::string name;
    std::unique_ptr<int64_t> value;
  };
  const std::vector<Named>& all() const { return all_; }

 private:
  std::vector<Named> all_;
};

// How much keyed state an operator holds. Kept up to date by the state layer.
struct StateSize {
  int64_t entries = 0;
  int64_t bytes = 0;
};

// State whose entries have a time to live: as rows come it looks for old ones by itself; while none
// do, whoever waits for them has it do so.
class ExpiringState {
 public:
  virtual void SweepSome() = 0;  // for a moment; at once when nothing can have expired

 protected:
  ~ExpiringState() = default;
};

// What an operator gets at Create besides its spec. Borrowed: outlives the operator.
struct OperatorContext {
  const Clock* clock = nullptr;
  Counters* counters = nullptr;
  StateSize* state_size = nullptr;
  std::string local_time_zone = "UTC";  // table.local-time-zone
  int64_t state_ttl_millis = 0;         // table.exec.state.ttl; 0 = rows live for ever
  bool flink_compat = false;            // rowtide.flink-compat
  KeyGroupRange key_groups;             // the lane's: keys of other groups never come
  StateTier* tier = nullptr;            // the lane's, with a backend; null = all state is in memory
  uint32_t first_table = 0;             // with a tier: of the operator's tables, one a state
  // Where state with a time-to-live is noted; null: while no rows come it does not expire.
  std::vector<ExpiringState*>* expiring = nullptr;
};

}  // namespace rowtide

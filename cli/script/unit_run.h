// Runs one unit of a script against a session, in several ways that must all give the same.
//
//   plain      one row a batch
//   cuts       random cuts into batches, seeded
//   restored   after every row: snapshot to bytes, destroy, build anew from the plan, restore
//   thread     the source on a thread of its own, with cuts; once more restored after every batch
//   below      every entry of state below, in a map, restored after every row; once more in
//              RocksDB, restored now and then: a database takes a while to open
//   lanes      two that take turns; restored after every row, with state in memory and below; on
//              threads, with cuts, where there is one table
//   rescaled   at random rows: snapshot, then 3 lanes, 1, 2, … go on; once with all state below in
//              maps; once in RocksDB, now and then
//   deferred   watermarks at the end only, with cuts; where no operator reads watermarks
//   batch      'execution.runtime-mode' = 'batch', restored: what the changelog folds to
//
// The plain way is the answer; a way that gives something else is reported with its seed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/script/expected.h"
#include "cli/script/script.h"
#include "connectors/rows.h"
#include "planner/session.h"

namespace rowtide {

struct WaysOptions {
  bool plain_only = false;
  bool rocksdb_at_every_row = false;  // what runs in RocksDB is restored as often as the rest
  uint64_t seed = 1;
  int cuts = 3;  // runs with random cuts, each with a seed of its own
};

// Where a script runs: what its SQL and its output say as ${DIR} and ${TMP}.
struct ScriptPlace {
  std::filesystem::path folder;
  std::filesystem::path scratch;

  std::string Expand(std::string text) const;
  std::string Contract(std::string text) const;
};

struct UnitRun {
  UnitAnswer answer;
  std::optional<std::string> ways_differ;  // for a person: which way, what differs
};

UnitRun RunUnit(const ScriptBlock& unit, const std::vector<ScriptEvent>& input,
                const ScriptPlace& place, const WaysOptions& ways, Session& session);

// Executes statements that must succeed and start no job: an `sql` block.
Status ExecuteSql(const std::string& sql, Session& session);

}  // namespace rowtide

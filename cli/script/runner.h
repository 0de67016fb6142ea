// Runs whole scripts: block by block, with skips, deviations and recording.
//
//   sql, input, rows      set the stage
//   query … error         a unit: passed, failed or skipped
//
// A unit marked `flink-differs` runs twice, by default and with rowtide.flink-compat, and counts
// once. An `sql` block that fails ends the script; the units that were not reached have failed.
// Scripts share nothing, so several may run at once, each on one thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/script/skips.h"
#include "cli/script/unit_run.h"

namespace rowtide {

enum class UnitVerdict : uint8_t { kPassed, kFailed, kSkipped };
enum class RunMode : uint8_t { kCompare, kRecord, kPrint };

struct UnitReport {
  UnitVerdict verdict = UnitVerdict::kPassed;
  std::string construct;  // kSkipped
  bool has_ast = false;   // it compares a plan, and …
  bool same_ast = false;  // … the section "Abstract Syntax Tree" is equal, compared or not
};

struct ScriptReport {
  std::filesystem::path script;
  std::vector<UnitReport> units;
  std::string text;  // failures, for a person

  int Count(UnitVerdict verdict) const;
};

struct RunnerOptions {
  RunMode mode = RunMode::kCompare;
  PlanStages stages;
  WaysOptions ways;
};

ScriptReport RunScript(const std::filesystem::path& path, const SkipList& skips,
                       const RunnerOptions& options);

}  // namespace rowtide

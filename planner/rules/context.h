// What every rule may look at: the options that change plans, and the place where deviations from
// Flink are noted.
#pragma once

#include <string>
#include <vector>

#include "operators/expressions/evaluator.h"

namespace rowtide {

enum class AggregatePhaseStrategy : uint8_t { kAuto, kOnePhase, kTwoPhase };
enum class UpsertMaterialize : uint8_t { kAuto, kForce, kNone };

// The options of a session that planning depends on, each under its key. The keys are Flink's, but
// for `rowtide.flink-compat`.
struct PlannerOptions {
  // table.exec.mini-batch.enabled, .allow-latency, .size
  bool mini_batch = false;
  int64_t mini_batch_latency_millis = 0;
  int64_t mini_batch_size = -1;
  // table.optimizer.agg-phase-strategy
  AggregatePhaseStrategy phases = AggregatePhaseStrategy::kAuto;
  // table.exec.deduplicate.insert-update-after-sensitive-enabled
  bool insert_update_after_sensitive = true;
  // table.exec.deduplicate.mini-batch.compact-changes-enabled
  bool compact_changes = false;
  // table.exec.sink.upsert-materialize, .require-on-conflict
  UpsertMaterialize upsert_materialize = UpsertMaterialize::kAuto;
  bool require_on_conflict = true;
  // table.exec.source.cdc-events-duplicate
  bool cdc_events_duplicate = false;
  // rowtide.flink-compat
  bool flink_compat = false;
  // execution.runtime-mode: the final rows alone are wanted
  bool batch = false;
  // table.local-time-zone
  std::string local_time_zone = "UTC";
};

struct PlannerContext {
  PlannerOptions options;
  EvaluationContext evaluation;
  std::vector<std::string> deviations;  // lines for "== Deviations From Flink ==", each once

  void Deviate(std::string line) {
    for (const std::string& known : deviations) {
      if (known == line) return;
    }
    deviations.push_back(std::move(line));
  }
};

}  // namespace rowtide

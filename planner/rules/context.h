// What every rule may look at: the options that change plans, and the place where deviations from
// Flink are noted.
#pragma once

#include <string>
#include <vector>

#include "operators/expressions/evaluator.h"

namespace rowtide {

enum class AggregatePhaseStrategy : uint8_t { kAuto, kOnePhase, kTwoPhase };
enum class UpsertMaterialize : uint8_t { kAuto, kForce, kNone };

// The options of a session that planning depends on (docs of the keys: Flink's;
// `rowtide.flink-compat` is ours).
struct PlannerOptions {
  bool mini_batch = false;                // table.exec.mini-batch.enabled
  int64_t mini_batch_latency_millis = 0;  // table.exec.mini-batch.allow-latency
  int64_t mini_batch_size = -1;           // table.exec.mini-batch.size
  AggregatePhaseStrategy phases =
      AggregatePhaseStrategy::kAuto;  // table.optimizer.agg-phase-strategy
  bool insert_update_after_sensitive =
      true;                      // table.exec.deduplicate.insert-update-after-sensitive-enabled
  bool compact_changes = false;  // table.exec.deduplicate.mini-batch.compact-changes-enabled
  UpsertMaterialize upsert_materialize =
      UpsertMaterialize::kAuto;         // table.exec.sink.upsert-materialize
  bool require_on_conflict = true;      // table.exec.sink.require-on-conflict
  bool cdc_events_duplicate = false;    // table.exec.source.cdc-events-duplicate
  bool flink_compat = false;            // rowtide.flink-compat
  std::string local_time_zone = "UTC";  // table.local-time-zone
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

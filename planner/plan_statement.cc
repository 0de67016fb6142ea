#include "planner/plan_statement.h"

#include "planner/exec/exactly_once.h"
#include "planner/exec/to_exec.h"
#include "planner/explain.h"
#include "planner/logical/explain.h"
#include "planner/physical/advice.h"
#include "planner/rules/optimize.h"

namespace rowtide {
namespace {

PlannerOptions PlannerOptionsOf(const Options& options) {
  PlannerOptions planner;
  planner.mini_batch = options.GetBool("table.exec.mini-batch.enabled");
  planner.mini_batch_latency_millis = options.GetMillis("table.exec.mini-batch.allow-latency");
  planner.mini_batch_size = options.GetInt("table.exec.mini-batch.size");
  const std::string phases = options.Get("table.optimizer.agg-phase-strategy");
  if (phases == "ONE_PHASE") planner.phases = AggregatePhaseStrategy::kOnePhase;
  if (phases == "TWO_PHASE") planner.phases = AggregatePhaseStrategy::kTwoPhase;
  planner.insert_update_after_sensitive =
      options.GetBool("table.exec.deduplicate.insert-update-after-sensitive-enabled");
  planner.compact_changes =
      options.GetBool("table.exec.deduplicate.mini-batch.compact-changes-enabled");
  const std::string materialize = options.Get("table.exec.sink.upsert-materialize");
  if (materialize == "FORCE") planner.upsert_materialize = UpsertMaterialize::kForce;
  if (materialize == "NONE") planner.upsert_materialize = UpsertMaterialize::kNone;
  planner.require_on_conflict = options.GetBool("table.exec.sink.require-on-conflict");
  planner.cdc_events_duplicate = options.GetBool("table.exec.source.cdc-events-duplicate");
  planner.batch = options.Get("execution.runtime-mode") == "BATCH";
  planner.flink_compat = options.GetBool("rowtide.flink-compat");
  planner.local_time_zone = options.local_time_zone();
  return planner;
}

Status CheckMiniBatch(const PlannerOptions& options) {
  if (!options.mini_batch || (options.mini_batch_latency_millis > 0 && options.mini_batch_size > 0))
    return Status::Ok();
  return Status::Plan(
             "mini-batch is on, but 'table.exec.mini-batch.allow-latency' and "
             "'table.exec.mini-batch.size' must "
             "both be above 0")
      .WithKind(ErrorKind::kRun);
}

struct Planned {
  std::vector<PhysicalPointer> physical;
  ExecPlan exec;
  std::vector<std::string> deviations;
};

Result<Planned> Plan(const std::vector<LogicalPointer>& roots, UpdateKind root_update,
                     const Options& options) {
  PlannerContext context;
  context.options = PlannerOptionsOf(options);
  context.evaluation.local_time_zone = context.options.local_time_zone;
  context.evaluation.flink_compat = context.options.flink_compat;
  RT_TRY(CheckMiniBatch(context.options));
  Planned planned;
  RT_ASSIGN(planned.physical, Optimize(roots, root_update, context));
  RT_ASSIGN(planned.exec, ToExec(planned.physical, context.options));
  RT_TRY(ExactlyOnceSinksOf(planned.exec).status());
  planned.deviations = std::move(context.deviations);
  return planned;
}

// A blank line between the trees.
std::string SyntaxTrees(const std::vector<LogicalPointer>& roots) {
  std::string text;
  for (const LogicalPointer& root : roots) {
    if (!text.empty()) text += "\n";
    text += ExplainLogical(*root);
  }
  return text;
}

}  // namespace

Result<ExecPlan> PlanJob(const std::vector<LogicalPointer>& roots, const Options& options) {
  RT_ASSIGN(Planned planned, Plan(roots, UpdateKind::kBeforeAndAfter, options));
  RT_TRY(CheckRunnable(planned.exec));
  return std::move(planned.exec);
}

Result<std::string> ExplainPlan(const std::vector<LogicalPointer>& roots, const Options& options,
                                const ExplainDetails& details) {
  RT_ASSIGN(const Planned planned, Plan(roots, UpdateKind::kNone, options));
  std::vector<OwnSection> own = {{"Deviations From Flink", planned.deviations}};
  if (!options.GetBool("rowtide.flink-compat")) own.push_back({"Advice", Advise(planned.physical)});
  return ExplainSections(SyntaxTrees(roots), planned.physical, planned.exec, own,
                         details.changelog_mode);
}

}  // namespace rowtide

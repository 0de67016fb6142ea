#include "planner/physical/deviations.h"

#include <algorithm>

#include "planner/physical/modify_kinds.h"

namespace rowtide {
namespace {

void OnOrder(const std::vector<SortKey>& order, const Schema& input, PlannerContext& context) {
  for (const SortKey& key : order) {
    const Type& type = input.type(key.column);
    if (IsApproximate(type)) {
      context.Deviate("15.9: " + input.name(key.column) +
                      " is sorted in a total order, NaN largest and -0.0 equal to 0.0; "
                      "Flink fails on NaN");
    }
    if (type.is_proctime() && key.descending) {
      context.Deviate(
          "15.20: a Top-N by processing time in descending order keeps the last rows by arrival; "
          "Flink "
          "compares no value and keeps the first");
    }
  }
}

void OnKeys(const std::vector<int>& keys, const Schema& input, PlannerContext& context) {
  for (int column : keys) {
    if (IsApproximate(input.type(column))) {
      context.Deviate("15.9: -0.0 and 0.0 of " + input.name(column) +
                      " are one group; Flink makes two");
    }
  }
}

void OnRank(const PhysicalNode& node, const PhysicalRank& rank, PlannerContext& context) {
  const Schema& input = node.input().schema;
  OnKeys(rank.partition, input, context);
  if (RunsAsDeduplicate(node)) {
    const bool rowtime = input.type(rank.order[0].column).is_rowtime();
    const auto rowtimes = std::count_if(input.fields().begin(), input.fields().end(),
                                        [](const Field& field) { return field.type.is_rowtime(); });
    if (rowtime && rowtimes > 1) {
      context.Deviate("15.10: the deduplication goes by " + input.name(rank.order[0].column) +
                      ", its ORDER BY column; Flink reads the first row time column of its input");
    }
    return;
  }
  OnOrder(rank.order, input, context);
  if (rank.range.is_variable()) {
    context.Deviate("15.6: the number of rows to keep is read from " +
                    input.name(rank.range.variable_end) +
                    " as it is; Flink stops at 100 rows, or reads another column");
  }
  if (rank.strategy.kind == RankStrategy::Kind::kUpdateFast && !rank.range.is_variable() &&
      rank.range.start == 1 && rank.range.end == 1) {
    context.Deviate(
        "15.2: an update of the best row whose sort key stays the same is passed on; Flink drops "
        "it");
  }
  if (rank.strategy.kind == RankStrategy::Kind::kRetract) {
    context.Deviate(
        "15.8: retracting a row that is not there changes nothing and is counted; Flink then loses "
        "rows of "
        "the same sort key");
  }
}

void OnAggregate(const PhysicalNode& node, const PhysicalGroupAggregate& aggregate,
                 PlannerContext& context) {
  OnKeys(aggregate.group, node.input().schema, context);
  if (aggregate.phase == AggregatePhase::kGlobal && aggregate.counts_rows) {
    context.Deviate(
        "15.19: a first bundle of nothing but retractions is dropped and counted; Flink puts out a "
        "row with a "
        "negative count");
  }
  const Schema& raw =
      aggregate.phase == AggregatePhase::kGlobal ? aggregate.raw_input : node.input().schema;
  for (const AggregateCall& call : aggregate.calls) {
    if (call.arguments.empty() || !IsApproximate(raw.type(call.arguments[0]))) continue;
    if (call.function == "MIN" || call.function == "MAX") {
      context.Deviate("15.27: NaN is the largest value for " + call.function +
                      "; in Flink it depends on what came first");
    }
  }
}

void OnExpressions(const PhysicalCalc& calc, PlannerContext& context) {
  const auto look = [&context](const Expression& e) {
    Walk(e, [&context](const Expression& part) {
      if (part.is_call("CAST") && part.type.kind == TypeKind::kDate &&
          IsTimestamp(part.operands[0].type)) {
        context.Deviate(
            "15.24: CAST of a TIMESTAMP before 1970 to DATE gives its own day; Flink gives the "
            "next");
      }
    });
  };
  for (const Expression& e : calc.projections) look(e);
  if (calc.condition) look(*calc.condition);
}

}  // namespace

void NoteDeviations(const PhysicalNode& node, PlannerContext& context) {
  if (context.options.flink_compat) return;
  for (const PhysicalPointer& input : node.inputs) NoteDeviations(*input, context);
  if (const auto* rank = node.as<PhysicalRank>()) OnRank(node, *rank, context);
  if (const auto* sort = node.as<PhysicalSortLimit>())
    OnOrder(sort->order, node.input().schema, context);
  if (const auto* aggregate = node.as<PhysicalGroupAggregate>())
    OnAggregate(node, *aggregate, context);
  if (const auto* calc = node.as<PhysicalCalc>()) OnExpressions(*calc, context);
}

}  // namespace rowtide

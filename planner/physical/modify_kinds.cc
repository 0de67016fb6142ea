#include "planner/physical/modify_kinds.h"

#include <algorithm>

#include "planner/physical/advice.h"
#include "planner/physical/explain.h"

namespace rowtide {
namespace {

constexpr ModifyKinds kInsertOnly{true, false, false};
constexpr ModifyKinds kAll{true, true, true};

ModifyKinds KindsOf(const ChangelogMode& mode) {
  return {mode.insert, mode.has_updates(), mode.deletes};
}

// Who asks, and for what at most.
struct Request {
  ModifyKinds kinds = kAll;
  std::string requester;
};

std::string Joined(const ModifyKinds& asked, const ModifyKinds& given) {
  std::vector<std::string> extra;
  if (given.insert && !asked.insert) extra.push_back("insert");
  if (given.update && !asked.update) extra.push_back("update");
  if (given.deletes && !asked.deletes) extra.push_back("delete");
  std::string text;
  for (size_t i = 0; i < extra.size(); ++i) text += (i ? " and " : "") + extra[i];
  return text;
}

bool IsBounded(const PhysicalNode& node) {
  const auto* scan = node.as<PhysicalScan>();
  if (scan && scan->table->source && !scan->table->source->bounded) return false;
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [](const PhysicalPointer& input) { return IsBounded(*input); });
}

// For whoever wants the same rows in a sink that takes no corrections.
std::string WayWithInsertsAlone(const PhysicalNode& node) {
  const auto* rank = node.as<PhysicalRank>();
  if (!rank) return "";
  if (IsDeduplication(*rank) && RunsAsDeduplicate(node) && rank->order[0].descending)
    return "; ORDER BY … ASC is insert-only, but keeps the first row of a key, not the last";
  const std::string missing = IsDeduplication(*rank) && rank->order.size() == 1
                                  ? MissingWatermark(node.input(), rank->order[0].column)
                                  : "";
  const std::string ways =
      "; of all rankings only keep-first by a time attribute (a column with a "
      "WATERMARK, ORDER BY … ASC, = 1) is insert-only";
  return missing.empty() ? ways : ways + "; what is missing, " + missing;
}

std::string WaysOut(const PhysicalNode& node) {
  std::string ways =
      "every correction as a row: a table with 'connector' = 'print', or one with a PRIMARY KEY "
      "whose connector takes updates" +
      WayWithInsertsAlone(node);
  if (!IsBounded(node)) return ways;
  return "the final rows alone, when the input has ended: SET 'execution.runtime-mode' = "
         "'batch'; " +
         ways;
}

class Inference {
 public:
  explicit Inference(PlannerContext& context) : context_(context) {}

  Result<PhysicalPointer> Visit(const PhysicalPointer& node, const Request& request) {
    auto copy = std::make_shared<PhysicalNode>(*node);
    const Request below = RequestBelow(*node, request);
    for (PhysicalPointer& input : copy->inputs) {
      RT_ASSIGN(input, Visit(input, below));
    }
    copy->trait.kinds = Provided(*copy);
    if (IsStateful(*node) && !request.kinds.Contains(copy->trait.kinds)) {
      return Status::Plan("{} does not take {} changes, which {} gives", request.requester,
                          Joined(request.kinds, copy->trait.kinds), DescribeNode(*copy))
          .WithHint(WaysOut(*copy))
          .WithErrorCode("RT2031");
    }
    return PhysicalPointer(std::move(copy));
  }

 private:
  // Nodes whose own rows can be refused; others only pass on what lies below them.
  static bool IsStateful(const PhysicalNode& node) {
    return node.as<PhysicalScan>() || node.as<PhysicalValues>() || node.as<PhysicalRank>() ||
           node.as<PhysicalSortLimit>() || node.as<PhysicalLimit>() ||
           node.as<PhysicalGroupAggregate>() || node.as<PhysicalChangelogNormalize>() ||
           node.as<PhysicalOverAggregate>() || node.as<PhysicalJoin>() ||
           node.as<PhysicalFinalRows>();
  }

  static Request RequestBelow(const PhysicalNode& node, const Request& request) {
    if (const auto* sink = node.as<PhysicalSink>()) {
      Request below;
      below.requester = "table sink " + Quote(sink->table->path.ToString());
      if (sink->table->sink && sink->table->sink->mode)
        below.kinds = KindsOf(*sink->table->sink->mode);
      return below;
    }
    if (const auto* over = node.as<PhysicalOverAggregate>()) {
      const auto& order = over->calls[0].over->order;
      if (order.size() == 1 && order[0].key.type.is_time_attribute())
        return {kInsertOnly, "StreamPhysicalOverAggregate"};
      return {};
    }
    return IsStateful(node) ? Request{} : request;
  }

  ModifyKinds Provided(const PhysicalNode& node) {
    const ModifyKinds below = node.inputs.empty() ? ModifyKinds{} : node.input().trait.kinds;
    if (const auto* scan = node.as<PhysicalScan>()) return KindsOf(scan->table->source->mode);
    if (node.as<PhysicalValues>() || node.as<PhysicalFinalRows>()) return kInsertOnly;
    if (const auto* rank = node.as<PhysicalRank>()) return OfRank(node, *rank);
    if (node.as<PhysicalSortLimit>()) return kAll;
    if (node.as<PhysicalLimit>()) return below.insert_only() ? kInsertOnly : kAll;
    if (node.as<PhysicalGroupAggregate>()) return {true, true, below.update || below.deletes};
    if (node.as<PhysicalChangelogNormalize>()) return kAll;
    if (node.as<PhysicalUnion>()) {
      ModifyKinds all;
      for (const PhysicalPointer& input : node.inputs) {
        all.insert |= input->trait.kinds.insert;
        all.update |= input->trait.kinds.update;
        all.deletes |= input->trait.kinds.deletes;
      }
      return all;
    }
    if (const auto* over = node.as<PhysicalOverAggregate>()) {
      const auto& order = over->calls[0].over->order;
      return order.size() == 1 && order[0].key.type.is_time_attribute() ? kInsertOnly : kAll;
    }
    return below;
  }

  ModifyKinds OfRank(const PhysicalNode& node, const PhysicalRank& rank) {
    if (!IsDeduplication(rank) || !node.input().trait.kinds.insert_only() ||
        context_.options.mini_batch)
      return kAll;
    const bool on_time = rank.order.size() == 1 &&
                         node.input().schema.type(rank.order[0].column).is_time_attribute();
    const bool ascending = !rank.order[0].descending;
    if (on_time) return ascending ? kInsertOnly : kAll;
    // FLINK-40368: Flink plans these as insert-only, although a better row replaces the one that
    // was sent.
    const bool flink_says_insert_only = rank.order.size() > 1 || ascending;
    if (!flink_says_insert_only) return kAll;
    if (context_.options.flink_compat) return kInsertOnly;
    context_.Deviate(
        "15.1: a Top-1 by an ordinary column, or by several columns, replaces its row when a "
        "better one "
        "comes; it is planned with updates, where Flink says insert-only (FLINK-40368)");
    return kAll;
  }

  PlannerContext& context_;
};

}  // namespace

bool IsDeduplication(const PhysicalRank& rank) {
  return rank.type == RankType::kRowNumber && !rank.range.is_variable() && rank.range.start == 1 &&
         rank.range.end == 1 && !rank.outputs_number;
}

bool RunsAsDeduplicate(const PhysicalNode& node) {
  const auto* rank = node.as<PhysicalRank>();
  return rank && IsDeduplication(*rank) && node.input().trait.kinds.insert_only() &&
         rank->order.size() == 1 &&
         node.input().schema.type(rank->order[0].column).is_time_attribute();
}

Result<PhysicalPointer> InferModifyKinds(const PhysicalPointer& root, PlannerContext& context) {
  return Inference(context).Visit(root, {});
}

}  // namespace rowtide

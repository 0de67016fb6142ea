#include "planner/exec/to_exec.h"

#include <algorithm>
#include <map>
#include <set>

#include "planner/exec/explain.h"

namespace rowtide {
namespace {

bool IsDeduplicate(const PhysicalRank& rank, const PhysicalNode& input) {
  const RankRange& range = rank.range;
  return rank.type == RankType::kRowNumber && !range.is_variable() && range.start == 1 &&
         range.end == 1 && !rank.outputs_number && input.trait.kinds.insert_only() &&
         rank.order.size() == 1 && input.schema.type(rank.order[0].column).is_time_attribute();
}

ExecDeduplicate Deduplication(const PhysicalRank& rank, const PhysicalNode& input,
                              const PlannerOptions& options) {
  const SortKey& order = rank.order[0];
  ExecDeduplicate node;
  node.keys = rank.partition;
  node.order_column = order.column;
  node.rowtime = input.schema.type(order.column).is_rowtime();
  node.keeps_last = order.descending;
  node.mini_batch = options.mini_batch;
  node.outputs_insert_only = !node.keeps_last && !node.mini_batch;
  node.compacts = options.compact_changes;
  node.insert_update_after_sensitive = options.insert_update_after_sensitive;
  return node;
}

constexpr const char* kRowNumberHint =
    "ROW_NUMBER() numbers rows that tie in the order of their arrival, so it has a bound";

// What makes a ranking a Top-N, for whoever meant one.
Status WithBoundHint(Status refusal, const PhysicalOverAggregate& node) {
  if (node.calls.front().function != "ROW_NUMBER") return refusal;
  return std::move(refusal).WithHint(
      "for a Top-N bound the number right above it, as in WHERE rn <= 10; for a deduplication "
      "WHERE rn = 1");
}

Status CheckOver(const PhysicalOverAggregate& node) {
  const OverWindow& over = *node.calls.front().over;
  if (over.order.size() != 1)
    return WithBoundHint(Status::Plan("The window can only be ordered by a single time column."),
                         node);
  if (over.order[0].descending)
    return WithBoundHint(Status::Plan("The window can only be ordered in ASCENDING mode."), node);
  if (!over.upper_current_row)
    return Status::Plan("OVER RANGE FOLLOWING windows are not supported yet.");
  if (!over.lower_unbounded && !over.order[0].key.type.is_time_attribute()) {
    return Status::Plan(
        "OVER windows' ordering in stream mode must be defined on a time attribute.");
  }
  return Status::Ok();
}

// The one OVER aggregate there is: ROW_NUMBER ordered by something else than time.
bool IsRowNumberByValue(const PhysicalOverAggregate& node) {
  const Expression& call = node.calls.front();
  return node.calls.size() == 1 && call.function == "ROW_NUMBER" && call.over->order.size() == 1 &&
         call.over->order[0].key.is_input() && !call.over->order[0].key.type.is_time_attribute() &&
         std::all_of(call.over->partition.begin(), call.over->partition.end(),
                     [](const Expression& key) { return key.is_input(); });
}

class ToExecTranslation {
 public:
  explicit ToExecTranslation(const PlannerOptions& options) : options_(options) {}

  Result<ExecPointer> Visit(const PhysicalNode& node) {
    auto exec = std::make_shared<ExecNode>();
    std::string digest;
    for (const PhysicalPointer& input : node.inputs) {
      RT_ASSIGN(ExecPointer made, Visit(*input));
      digest += digests_.at(made.get()) + " ";
      exec->inputs.push_back(std::move(made));
    }
    exec->schema = node.schema;
    exec->mode = node.trait.mode();
    exec->generates_update_before = node.trait.update == UpdateKind::kBeforeAndAfter;
    if (!node.inputs.empty()) exec->input_mode = node.input().trait.mode();
    RT_TRY(SetOperation(node, exec.get()));
    if (node.as<PhysicalSink>()) {
      digests_[exec.get()] = "";
      return ExecPointer(std::move(exec));
    }
    digest += ExecNodeText(*exec) + Traits(node);
    const auto [known, fresh] = nodes_.emplace(std::move(digest), exec);
    if (fresh) digests_[exec.get()] = std::to_string(digests_.size());
    return ExecPointer(known->second);
  }

 private:
  Status SetOperation(const PhysicalNode& node, ExecNode* exec) {
    if (const auto* rank = node.as<PhysicalRank>()) {
      if (IsDeduplicate(*rank, node.input())) {
        exec->op = Deduplication(*rank, node.input(), options_);
        return Status::Ok();
      }
      if (rank->type == RankType::kRank)
        return Status::Plan("RANK() on streaming table is not supported currently")
            .WithErrorCode("RT2902")
            .WithHint(kRowNumberHint);
      if (rank->type == RankType::kDenseRank) {
        return Status::Plan("DENSE_RANK() on streaming table is not supported currently")
            .WithErrorCode("RT2902")
            .WithHint(kRowNumberHint);
      }
    }
    if (const auto* over = node.as<PhysicalOverAggregate>()) RT_TRY(CheckOver(*over));
    std::visit([exec](const auto& op) { exec->op = op; }, node.op);
    return Status::Ok();
  }

  // What must agree beside the text for two nodes to be one.
  static std::string Traits(const PhysicalNode& node) {
    std::string text = " " + node.trait.mode().ToString() +
                       (node.trait.update == UpdateKind::kBeforeAndAfter ? "!" : "");
    for (const Field& field : node.schema.fields()) text += " " + ToString(field.type);
    return text;
  }

  const PlannerOptions& options_;
  std::map<std::string, std::shared_ptr<ExecNode>> nodes_;
  // A short name of each node, for the digests of its consumers.
  std::map<const ExecNode*, std::string> digests_;
};

// Numbers the nodes that are met a second time, in the order in which that happens.
class Numbering {
 public:
  void Visit(ExecNode* node) {
    if (!met_.insert(node).second) {
      if (node->reuse_id == 0) node->reuse_id = ++last_;
      return;
    }
    for (const ExecPointer& input : node->inputs) Visit(const_cast<ExecNode*>(input.get()));
  }

 private:
  std::set<const ExecNode*> met_;
  int last_ = 0;
};

const char* MissingConstruct(const ExecNode& node) {
  const auto* over = node.as<PhysicalOverAggregate>();
  if (over && !IsRowNumberByValue(*over)) return "OVER aggregation";
  if (node.as<PhysicalJoin>()) return "regular join";
  return nullptr;
}

Status CheckNode(const ExecNode& node) {
  if (const char* construct = MissingConstruct(node)) return Status::Unsupported("{}", construct);
  for (const ExecPointer& input : node.inputs) RT_TRY(CheckNode(*input));
  return Status::Ok();
}

}  // namespace

Result<ExecPlan> ToExec(const std::vector<PhysicalPointer>& roots, const PlannerOptions& options) {
  ExecPlan plan;
  ToExecTranslation translation(options);
  for (const PhysicalPointer& root : roots) {
    RT_ASSIGN(ExecPointer exec, translation.Visit(*root));
    plan.roots.push_back(std::move(exec));
  }
  Numbering numbering;
  for (const ExecPointer& root : plan.roots) numbering.Visit(const_cast<ExecNode*>(root.get()));
  return plan;
}

Status CheckRunnable(const ExecPlan& plan) {
  for (const ExecPointer& root : plan.roots) RT_TRY(CheckNode(*root));
  return Status::Ok();
}

}  // namespace rowtide

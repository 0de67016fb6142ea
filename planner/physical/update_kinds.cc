#include "planner/physical/update_kinds.h"

#include <algorithm>

#include "planner/physical/explain.h"
#include "planner/physical/keys.h"
#include "planner/physical/monotonicity.h"
#include "planner/physical/sink_keys.h"

namespace rowtide {
namespace {

using Visited = Result<std::optional<PhysicalPointer>>;

UpdateKind FullOrNone(const PhysicalNode& input) {
  return input.trait.kinds.update ? UpdateKind::kBeforeAndAfter : UpdateKind::kNone;
}

// Whether a condition reads columns outside of every key.
bool ReadsBeyond(const Expression& condition, const std::vector<ColumnSet>& keys) {
  const std::vector<int> columns = InputsOf(condition);
  return std::none_of(keys.begin(), keys.end(), [&columns](const ColumnSet& key) {
    return std::all_of(columns.begin(), columns.end(), [&key](int c) { return key.count(c) > 0; });
  });
}

// Whether rows really are taken away, whatever the declared mode says (RD §5.1). Requires:
// strategies are settled.
bool CanDelete(const PhysicalNode& node) {
  if (const auto* scan = node.as<PhysicalScan>()) return scan->table->source->mode.deletes;
  if (node.as<PhysicalChangelogNormalize>()) return true;
  if (node.as<PhysicalFinalRows>()) return false;
  if (node.as<PhysicalGroupAggregate>()) return !node.input().trait.kinds.insert_only();
  if (const auto* rank = node.as<PhysicalRank>()) {
    if (rank->strategy.kind == RankStrategy::Kind::kRetract) return true;
    const bool with_number = rank->outputs_number || rank->range.start > 1;
    const bool top1 = !rank->range.is_variable() && rank->range.end == 1;
    const bool first_n = rank->order.size() == 1 && !rank->order[0].descending &&
                         node.input().schema.type(rank->order[0].column).is_proctime();
    return !with_number && !top1 && !first_n;
  }
  if (const auto* sort = node.as<PhysicalSortLimit>()) {
    return sort->strategy.kind == RankStrategy::Kind::kRetract ||
           (sort->offset == 0 && sort->fetch > 1);
  }
  if (node.as<PhysicalLimit>()) return !node.input().trait.kinds.insert_only();
  if (const auto* calc = node.as<PhysicalCalc>(); calc && calc->condition) {
    return CanDelete(node.input()) || (node.input().trait.kinds.update &&
                                       ReadsBeyond(*calc->condition, UpsertKeys(node.input())));
  }
  return std::any_of(node.inputs.begin(), node.inputs.end(),
                     [](const PhysicalPointer& p) { return CanDelete(*p); });
}

bool IsHelpful(Monotonicity monotonicity, const SortKey& key) {
  if (monotonicity == Monotonicity::kConstant) return true;
  return monotonicity == (key.descending ? Monotonicity::kIncreasing : Monotonicity::kDecreasing);
}

class Inference {
 public:
  explicit Inference(PlannerContext& context) : context_(context) {}

  Visited Visit(const PhysicalPointer& node, UpdateKind asked) {
    if (node->as<PhysicalScan>()) return OnScan(node, asked);
    if (node->as<PhysicalValues>()) return Settled(node, {}, UpdateKind::kNone);
    if (const auto* rank = node->as<PhysicalRank>()) return OnRank(node, *rank, asked);
    if (const auto* sort = node->as<PhysicalSortLimit>()) return OnSortLimit(node, *sort, asked);
    if (node->as<PhysicalGroupAggregate>() || node->as<PhysicalLimit>() ||
        node->as<PhysicalOverAggregate>()) {
      return Over(node, FullOrNone(node->input()), OwnKind(*node, asked));
    }
    if (node->as<PhysicalFinalRows>())
      return Over(node, UpdateKind::kBeforeAndAfter, UpdateKind::kNone);
    if (node->as<PhysicalChangelogNormalize>()) {
      return Over(node, UpdateKind::kOnlyUpdateAfter, OwnKind(*node, asked));
    }
    if (node->as<PhysicalUnion>()) return OnUnion(node, asked);
    if (node->as<PhysicalCalc>() && asked == UpdateKind::kOnlyUpdateAfter &&
        FiltersBeyondKey(*node)) {
      return std::optional<PhysicalPointer>();
    }
    return Forward(node, asked);
  }

 private:
  static UpdateKind OwnKind(const PhysicalNode& node, UpdateKind asked) {
    return node.trait.kinds.update ? asked : UpdateKind::kNone;
  }

  static Visited Settled(const PhysicalPointer& node, std::vector<PhysicalPointer> inputs,
                         UpdateKind kind) {
    auto copy = std::make_shared<PhysicalNode>(*node);
    if (!inputs.empty()) copy->inputs = std::move(inputs);
    copy->trait.update = kind;
    return std::optional<PhysicalPointer>(std::move(copy));
  }

  // One input that is asked for `below`; the node itself gives `own`.
  Visited Over(const PhysicalPointer& node, UpdateKind below, UpdateKind own) {
    RT_ASSIGN(std::optional<PhysicalPointer> input,
              Visit(node->inputs[0], node->input().trait.kinds.update ? below : UpdateKind::kNone));
    if (!input) return std::optional<PhysicalPointer>();
    return Settled(node, {*std::move(input)}, own);
  }

  Visited Forward(const PhysicalPointer& node, UpdateKind asked) {
    RT_ASSIGN(std::optional<PhysicalPointer> input, Visit(node->inputs[0], asked));
    if (!input) return std::optional<PhysicalPointer>();
    const UpdateKind kind = (*input)->trait.update;
    return Settled(node, {*std::move(input)}, kind);
  }

  // A filter on a column outside every key lets a row vanish between two updates: its -U is needed
  // (FLINK-9528).
  bool FiltersBeyondKey(const PhysicalNode& node) const {
    const auto& calc = *node.as<PhysicalCalc>();
    if (!calc.condition || !node.input().trait.kinds.update) return false;
    return ReadsBeyond(*calc.condition, UpsertKeys(node.input(), WithoutBefore()));
  }

  KeyOptions WithoutBefore() const {
    return {context_.options.flink_compat, context_.options.flink_compat};
  }

  Visited OnScan(const PhysicalPointer& node, UpdateKind asked) {
    const ChangelogMode& mode = node->as<PhysicalScan>()->table->source->mode;
    UpdateKind own = UpdateKind::kNone;
    if (mode.has_updates())
      own = mode.update_before ? UpdateKind::kBeforeAndAfter : UpdateKind::kOnlyUpdateAfter;
    RT_ASSIGN(std::optional<PhysicalPointer> scan, Settled(node, {}, own));
    if (own == UpdateKind::kBeforeAndAfter && asked == UpdateKind::kOnlyUpdateAfter) {
      ChangelogTrait trait = node->trait;
      trait.update = UpdateKind::kOnlyUpdateAfter;
      Schema schema = node->schema;
      return std::optional<PhysicalPointer>(
          MakePhysical(PhysicalDropUpdateBefore{}, {*std::move(scan)}, std::move(schema), trait));
    }
    if (own == UpdateKind::kOnlyUpdateAfter && asked == UpdateKind::kBeforeAndAfter)
      return std::optional<PhysicalPointer>();
    return scan;
  }

  Visited OnUnion(const PhysicalPointer& node, UpdateKind asked) {
    std::vector<PhysicalPointer> inputs;
    UpdateKind all = UpdateKind::kNone;
    for (const PhysicalPointer& input : node->inputs) {
      const bool updates = input->trait.kinds.update;
      RT_ASSIGN(std::optional<PhysicalPointer> visited,
                Visit(input, updates ? asked : UpdateKind::kNone));
      if (!visited) return std::optional<PhysicalPointer>();
      if (updates) {
        const UpdateKind kind = (*visited)->trait.update;
        if (all != UpdateKind::kNone && all != kind) return std::optional<PhysicalPointer>();
        all = kind;
      }
      inputs.push_back(*std::move(visited));
    }
    return Settled(node, std::move(inputs), all);
  }

  // The strategies Flink would try, best first.
  std::vector<RankStrategy> Candidates(const PhysicalNode& node, const std::vector<int>& partition,
                                       const std::vector<SortKey>& order) const {
    const PhysicalNode& input = node.input();
    if (input.trait.kinds.insert_only()) return {{RankStrategy::Kind::kAppendFast, {}}};
    const RankStrategy retract{RankStrategy::Kind::kRetract, {}};
    const auto* exchange = input.as<PhysicalExchange>();
    const PhysicalNode& below = exchange ? input.input() : input;
    const ColumnSet needed(partition.begin(), partition.end());
    const std::vector<ColumnSet> keys = UpsertKeys(below, WithoutBefore());
    const auto key = std::find_if(keys.begin(), keys.end(), [&](const ColumnSet& k) {
      return std::includes(k.begin(), k.end(), needed.begin(), needed.end());
    });
    if (key == keys.end()) return {retract};
    const std::optional<std::vector<Monotonicity>> monotonicity = MonotonicityOf(input);
    if (!monotonicity || order.empty()) return {retract};
    const bool helpful = std::all_of(order.begin(), order.end(), [&](const SortKey& sort) {
      return IsHelpful((*monotonicity)[static_cast<size_t>(sort.column)], sort);
    });
    if (!helpful) return {retract};
    return {{RankStrategy::Kind::kUpdateFast, {key->begin(), key->end()}}, retract};
  }

  // Visits the input for each candidate until one can be had.
  Result<std::optional<PhysicalPointer>> BestInput(const PhysicalPointer& node,
                                                   const std::vector<RankStrategy>& candidates,
                                                   RankStrategy* chosen) {
    for (const RankStrategy& candidate : candidates) {
      UpdateKind below = UpdateKind::kNone;
      if (candidate.kind == RankStrategy::Kind::kUpdateFast) below = UpdateKind::kOnlyUpdateAfter;
      if (candidate.kind == RankStrategy::Kind::kRetract) below = UpdateKind::kBeforeAndAfter;
      if (!node->input().trait.kinds.update) below = UpdateKind::kNone;
      RT_ASSIGN(std::optional<PhysicalPointer> input, Visit(node->inputs[0], below));
      if (!input) continue;
      if (candidate.kind == RankStrategy::Kind::kUpdateFast && !context_.options.flink_compat &&
          CanDelete(**input)) {
        context_.Deviate(
            "15.3: rows of the ranking's input can be deleted, so its strategy is Retract; Flink "
            "takes "
            "UpdateFast and keeps deleted rows");
        continue;
      }
      *chosen = candidate;
      return input;
    }
    return std::optional<PhysicalPointer>();
  }

  Visited OnRank(const PhysicalPointer& node, const PhysicalRank& rank, UpdateKind asked) {
    PhysicalRank settled = rank;
    RT_ASSIGN(std::optional<PhysicalPointer> input,
              BestInput(node, Candidates(*node, rank.partition, rank.order), &settled.strategy));
    if (!input) return std::optional<PhysicalPointer>();
    auto copy = std::make_shared<PhysicalNode>(*node);
    copy->op = std::move(settled);
    return Settled(copy, {*std::move(input)}, OwnKind(*node, asked));
  }

  Visited OnSortLimit(const PhysicalPointer& node, const PhysicalSortLimit& sort,
                      UpdateKind asked) {
    PhysicalSortLimit settled = sort;
    RT_ASSIGN(std::optional<PhysicalPointer> input,
              BestInput(node, Candidates(*node, {}, sort.order), &settled.strategy));
    if (!input) return std::optional<PhysicalPointer>();
    auto copy = std::make_shared<PhysicalNode>(*node);
    copy->op = std::move(settled);
    return Settled(copy, {*std::move(input)}, OwnKind(*node, asked));
  }

  PlannerContext& context_;
};

// What a sink asks for, in the order it tries.
std::vector<UpdateKind> AskedBySink(const PhysicalSink& sink, const PhysicalNode& input,
                                    PlannerContext& context) {
  if (!input.trait.kinds.update) return {UpdateKind::kNone};
  const std::vector<UpdateKind> either = {UpdateKind::kOnlyUpdateAfter,
                                          UpdateKind::kBeforeAndAfter};
  switch (KindOf(sink)) {
    case SinkKind::kAny:
    case SinkKind::kRetract: return {UpdateKind::kBeforeAndAfter};
    case SinkKind::kAppend: return {UpdateKind::kNone};
    case SinkKind::kUpsert: break;
  }
  if (sink.table->primary_key.empty()) return either;
  const bool compat = context.options.flink_compat;
  if (KeyMatches(sink, input, {compat, compat})) return either;
  if (!compat && KeyMatches(sink, input, {false, true})) {
    context.Deviate(
        "15.4: a ranking with its number gives its input's key only together with -U; the sink is "
        "handed -U, "
        "where Flink leaves rows behind that left the top");
  }
  return {UpdateKind::kBeforeAndAfter};
}

Status NothingFits(const PhysicalNode& node) {
  return Status::Plan(
      "no plan gives {} the kinds of rows it needs: one input gives +U without -U, another part "
      "needs -U",
      DescribeNode(node));
}

}  // namespace

Result<std::optional<PhysicalPointer>> InferUpdateKinds(const PhysicalPointer& node,
                                                        UpdateKind asked, PlannerContext& context) {
  return Inference(context).Visit(node, asked);
}

Result<PhysicalPointer> InferRootUpdateKinds(const PhysicalPointer& root, UpdateKind root_update,
                                             PlannerContext& context) {
  Inference inference(context);
  if (const auto* sink = root->as<PhysicalSink>()) {
    RT_ASSIGN(PhysicalSink settled, WithConflictRules(*sink, root->input(), context));
    for (UpdateKind asked : AskedBySink(*sink, root->input(), context)) {
      RT_ASSIGN(std::optional<PhysicalPointer> input, inference.Visit(root->inputs[0], asked));
      if (!input) continue;
      return MakePhysical(std::move(settled), {*std::move(input)}, root->schema);
    }
    return NothingFits(*root);
  }
  std::vector<UpdateKind> asked = {UpdateKind::kNone};
  if (root->trait.kinds.update) {
    asked = root_update == UpdateKind::kNone
                ? std::vector<UpdateKind>{UpdateKind::kOnlyUpdateAfter, UpdateKind::kBeforeAndAfter}
                : std::vector<UpdateKind>{root_update};
  }
  for (UpdateKind kind : asked) {
    RT_ASSIGN(std::optional<PhysicalPointer> settled, inference.Visit(root, kind));
    if (settled) return *std::move(settled);
  }
  return NothingFits(*root);
}

}  // namespace rowtide

#include "planner/physical/delete_kinds.h"

#include <algorithm>

#include "planner/physical/keys.h"
#include "planner/physical/sink_keys.h"

namespace rowtide {
namespace {

using Visited = std::optional<PhysicalPointer>;

class Inference {
 public:
  explicit Inference(PlannerContext& context) : context_(context) {}

  // None: the node cannot give deletes of that kind.
  Visited Visit(const PhysicalPointer& node, DeleteKind asked) {
    if (const auto* scan = node->as<PhysicalScan>()) {
      DeleteKind own = DeleteKind::kNone;
      if (node->trait.kinds.deletes) {
        own = scan->table->source->mode.key_only_deletes ? DeleteKind::kByKey : DeleteKind::kFull;
      }
      if (own == DeleteKind::kByKey && asked == DeleteKind::kFull) return std::nullopt;
      return Settled(node, {}, own);
    }
    if (node->as<PhysicalValues>()) return Settled(node, {}, DeleteKind::kNone);
    if (node->as<PhysicalChangelogNormalize>()) return OnNormalize(node, asked);
    if (node->as<PhysicalRank>() || node->as<PhysicalSortLimit>() || node->as<PhysicalLimit>() ||
        node->as<PhysicalGroupAggregate>() || node->as<PhysicalOverAggregate>() ||
        node->as<PhysicalFinalRows>()) {
      Visited input = Visit(node->inputs[0], FullIfAny(*node->inputs[0]));
      if (!input) return std::nullopt;
      return Settled(node, {*std::move(input)}, FullIfAny(*node));
    }
    if (node->as<PhysicalUnion>()) return OnUnion(node, asked);
    if (node->as<PhysicalCalc>() && asked == DeleteKind::kByKey && FiltersBeyondKey(*node))
      return std::nullopt;
    Visited input = Visit(node->inputs[0], asked);
    if (!input) return std::nullopt;
    const DeleteKind kind = (*input)->trait.deletes;
    return Settled(node, {*std::move(input)}, kind);
  }

 private:
  static DeleteKind FullIfAny(const PhysicalNode& node) {
    return node.trait.kinds.deletes ? DeleteKind::kFull : DeleteKind::kNone;
  }

  static Visited Settled(const PhysicalPointer& node, std::vector<PhysicalPointer> inputs,
                         DeleteKind kind) {
    auto copy = std::make_shared<PhysicalNode>(*node);
    if (!inputs.empty()) copy->inputs = std::move(inputs);
    copy->trait.deletes = kind;
    return PhysicalPointer(std::move(copy));
  }

  static bool FiltersBeyondKey(const PhysicalNode& node) {
    const auto& calc = *node.as<PhysicalCalc>();
    if (!calc.condition) return false;
    const std::vector<int> columns = InputsOf(*calc.condition);
    for (const ColumnSet& key : UpsertKeys(node.input())) {
      if (std::all_of(columns.begin(), columns.end(), [&](int c) { return key.count(c) > 0; }))
        return false;
    }
    return true;
  }

  Visited OnUnion(const PhysicalPointer& node, DeleteKind asked) {
    std::vector<PhysicalPointer> inputs;
    DeleteKind all = DeleteKind::kNone;
    for (const PhysicalPointer& input : node->inputs) {
      Visited visited = Visit(input, input->trait.kinds.deletes ? asked : DeleteKind::kNone);
      if (!visited) return std::nullopt;
      const DeleteKind kind = (*visited)->trait.deletes;
      if (kind == DeleteKind::kByKey || all == DeleteKind::kByKey) {
        all = DeleteKind::kByKey;
      } else if (kind == DeleteKind::kFull) {
        all = DeleteKind::kFull;
      }
      inputs.push_back(*std::move(visited));
    }
    return Settled(node, std::move(inputs), all);
  }

  Visited OnNormalize(const PhysicalPointer& node, DeleteKind asked) {
    Visited input = Visit(node->inputs[0], DeleteKind::kByKey);
    if (!input) return std::nullopt;
    const DeleteKind below = (*input)->trait.deletes;
    if (IsRemovable(*node) && !(asked == DeleteKind::kFull && below == DeleteKind::kByKey)) {
      return (*input)->inputs[0];  // without the Exchange
    }
    return Settled(node, {*std::move(input)}, FullIfAny(*node));
  }

  // Its consumer takes +U alone, and nothing but the order of kinds would change (FLINK-37475).
  bool IsRemovable(const PhysicalNode& node) const {
    const auto& normalize = *node.as<PhysicalChangelogNormalize>();
    return !normalize.condition && node.trait.update != UpdateKind::kBeforeAndAfter &&
           !context_.options.cdc_events_duplicate && !ReadsMetadata(node);
  }

  static bool ReadsMetadata(const PhysicalNode& node) {
    if (const auto* scan = node.as<PhysicalScan>()) {
      return std::any_of(scan->columns.begin(), scan->columns.end(), [&](int column) {
        return scan->table->columns[static_cast<size_t>(column)].kind ==
               TableColumn::Kind::kMetadata;
      });
    }
    return std::any_of(node.inputs.begin(), node.inputs.end(),
                       [](const PhysicalPointer& p) { return ReadsMetadata(*p); });
  }

  PlannerContext& context_;
};

bool TakesKeysAlone(const PhysicalSink& sink, const PhysicalNode& input) {
  if (!sink.table->sink || !sink.table->sink->mode || !sink.table->sink->mode->key_only_deletes)
    return false;
  const std::vector<int> columns = SinkKey(sink);
  const ColumnSet primary(columns.begin(), columns.end());
  const std::vector<ColumnSet> keys = UpsertKeys(input);
  return std::find(keys.begin(), keys.end(), primary) != keys.end();
}

}  // namespace

Result<PhysicalPointer> InferDeleteKinds(const PhysicalPointer& root, PlannerContext& context) {
  Inference inference(context);
  const auto* sink = root->as<PhysicalSink>();
  const PhysicalPointer& top = sink ? root->inputs[0] : root;
  const DeleteKind full = top->trait.kinds.deletes ? DeleteKind::kFull : DeleteKind::kNone;
  Visited visited;
  if (sink && full == DeleteKind::kFull && TakesKeysAlone(*sink, *top))
    visited = inference.Visit(top, DeleteKind::kByKey);
  if (!visited) visited = inference.Visit(top, full);
  if (!visited)
    return Status::Plan(
        "deletes that carry the key alone reach a part of the plan that needs whole rows");
  if (!sink) return *std::move(visited);
  auto copy = std::make_shared<PhysicalNode>(*root);
  copy->inputs = {*std::move(visited)};
  return PhysicalPointer(std::move(copy));
}

}  // namespace rowtide

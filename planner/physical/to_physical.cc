#include "planner/physical/to_physical.h"

#include <algorithm>
#include <set>

#include "planner/physical/scans.h"
#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

PhysicalPointer Exchanged(PhysicalPointer input, const std::vector<int>& keys) {
  Schema schema = input->schema;
  return MakePhysical(PhysicalExchange{keys}, {std::move(input)}, std::move(schema));
}

class Physical {
 public:
  explicit Physical(PlannerContext& context) : context_(context) {}

  Result<PhysicalPointer> Visit(const PhysicalPointer& node) {
    if (node->as<PhysicalCalc>() && node->input().as<PhysicalScan>())
      return CalcOverScan(node, context_);
    if (node->as<PhysicalScan>()) return PlainScan(node, context_);
    auto copy = std::make_shared<PhysicalNode>(*node);
    for (PhysicalPointer& input : copy->inputs) {
      RT_ASSIGN(input, Visit(input));
    }
    if (node->as<PhysicalGroupAggregate>()) copy->inputs[0] = WithoutUnread(*copy);
    if (const auto* limit = node->as<PhysicalLimit>(); limit && limit->fetch) {
      copy->inputs[0] = WithLimit(copy->inputs[0], limit->offset + *limit->fetch);
    }
    if (const std::optional<std::vector<int>> keys = ExchangeKeys(*node)) {
      copy->inputs[0] = Exchanged(copy->inputs[0], *keys);
    }
    if (node->as<PhysicalWatermarkAssigner>()) return BelowNormalize(copy);
    if (node->as<PhysicalCalc>() && copy->input().as<PhysicalChangelogNormalize>())
      return CalcOverNormalize(copy, context_);
    return PhysicalPointer(std::move(copy));
  }

 private:
  // What counts rows and reads no column needs no Calc over a scan that projects: COUNT(*). Flink
  // keeps one where the table's columns stand in another order than the scan's.
  static PhysicalPointer WithoutUnread(const PhysicalNode& node) {
    const auto& aggregate = *node.as<PhysicalGroupAggregate>();
    const PhysicalPointer& input = node.inputs[0];
    const auto* calc = input->as<PhysicalCalc>();
    const auto* scan = calc ? input->input().as<PhysicalScan>() : nullptr;
    const bool reads_columns =
        !aggregate.group.empty() ||
        std::any_of(aggregate.calls.begin(), aggregate.calls.end(), [](const AggregateCall& call) {
          return !call.arguments.empty() || call.filter >= 0;
        });
    if (reads_columns || !scan || calc->condition || !scan->table->source->projection) return input;
    const std::vector<int> columns = scan->table->ScanColumns();
    if (!std::is_sorted(columns.begin(), columns.end())) return input;
    const bool is_unread = std::all_of(calc->projections.begin(), calc->projections.end(),
                                       [](const Expression& e) { return InputsOf(e).empty(); });
    return is_unread ? input->inputs[0] : input;
  }

  // What the node's input must be hashed by; empty = single; none = no exchange.
  static std::optional<std::vector<int>> ExchangeKeys(const PhysicalNode& node) {
    if (const auto* rank = node.as<PhysicalRank>()) return rank->partition;
    if (const auto* aggregate = node.as<PhysicalGroupAggregate>()) return aggregate->group;
    if (node.as<PhysicalSortLimit>() || node.as<PhysicalLimit>() || node.as<PhysicalFinalRows>())
      return std::vector<int>{};
    if (const auto* over = node.as<PhysicalOverAggregate>()) {
      std::vector<int> keys;
      for (const Expression& part : over->calls[0].over->partition) keys.push_back(part.column);
      return keys;
    }
    return std::nullopt;
  }

  // Row times are assigned before rows are normalised
  // (WatermarkAssignerChangelogNormalizeTransposeRule).
  Result<PhysicalPointer> BelowNormalize(const PhysicalPointer& node) {
    const auto& assigner = *node->as<PhysicalWatermarkAssigner>();
    PhysicalPointer below = node->inputs[0];
    const auto* calc = below->as<PhysicalCalc>();
    PhysicalPointer normalize = calc ? below->inputs[0] : below;
    const auto* op = normalize->as<PhysicalChangelogNormalize>();
    if (!op) return node;
    if (calc && (calc->condition || op->condition)) return node;
    std::vector<int> keys = op->keys;
    if (calc) {
      for (int& key : keys) {
        const auto found =
            std::find_if(calc->projections.begin(), calc->projections.end(),
                         [key](const Expression& e) { return e.is_input() && e.column == key; });
        if (found == calc->projections.end()) return node;
        key = static_cast<int>(found - calc->projections.begin());
      }
    }
    PhysicalPointer rows = normalize->inputs[0];  // the Exchange
    rows = rows->inputs[0];
    if (calc) rows = MakePhysical(*calc, {rows}, below->schema);
    rows = MakePhysical(assigner, {rows}, node->schema);
    rows = MakePhysical(PhysicalExchange{keys}, {rows}, node->schema);
    return MakePhysical(PhysicalChangelogNormalize{keys, op->condition}, {rows}, node->schema);
  }

  PlannerContext& context_;
};

}  // namespace

Result<PhysicalPointer> ToPhysical(const PhysicalPointer& rel, PlannerContext& context) {
  return Physical(context).Visit(rel);
}

}  // namespace rowtide

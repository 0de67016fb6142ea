#include "planner/rules/final_rows.h"

namespace rowtide {
namespace {

PhysicalPointer Over(const PhysicalPointer& input, std::vector<SortKey> order) {
  return MakePhysical(PhysicalFinalRows{std::move(order)}, {input}, input->schema);
}

PhysicalPointer WithInput(const PhysicalPointer& node, PhysicalPointer input) {
  auto copy = std::make_shared<PhysicalNode>(*node);
  copy->inputs = {std::move(input)};
  return copy;
}

PhysicalPointer OnTop(const PhysicalPointer& node) {
  if (node->as<PhysicalFinalRows>()) return node;
  if (const auto* sort = node->as<PhysicalSortLimit>()) return Over(node, sort->order);
  const auto* calc = node->as<PhysicalCalc>();
  if (calc && !calc->condition) {
    // A projection keeps the order of its rows.
    const PhysicalPointer& below = node->inputs[0];
    if (below->as<PhysicalFinalRows>()) return node;
    if (const auto* sort = below->as<PhysicalSortLimit>())
      return WithInput(node, Over(below, sort->order));
  }
  return Over(node, {});
}

bool IsIdle(const PhysicalNode& node) {
  const auto* rows = node.as<PhysicalFinalRows>();
  return rows && rows->order.empty() && node.input().trait.kinds.insert_only();
}

}  // namespace

PhysicalPointer WithFinalRows(const PhysicalPointer& root) {
  if (root->as<PhysicalSink>()) return WithInput(root, OnTop(root->inputs[0]));
  return OnTop(root);
}

PhysicalPointer WithoutIdleFinalRows(const PhysicalPointer& root) {
  if (IsIdle(*root)) {
    const PhysicalPointer& input = root->inputs[0];
    return input->as<PhysicalExchange>() ? input->inputs[0] : input;
  }
  if (root->as<PhysicalSink>() && IsIdle(root->input()))
    return WithInput(root, WithoutIdleFinalRows(root->inputs[0]));
  return root;
}

}  // namespace rowtide

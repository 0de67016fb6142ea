#include "planner/exec/explain.h"

#include <set>

#include "planner/exec/expression_text.h"
#include "planner/physical/explain.h"
#include "planner/physical/node_text.h"

namespace rowtide {
namespace {

NodeText TextOf(const ExecDeduplicate& node, const NodeSurroundings& around) {
  NodeText text{"Deduplicate", {}};
  text.Add("keep", node.keeps_last ? "LastRow" : "FirstRow");
  text.Add("key", ColumnNames(node.keys, around.input()));
  text.Add("order", node.rowtime ? "ROWTIME" : "PROCTIME");
  text.Add("outputInsertOnly", node.outputs_insert_only ? "true" : "false");
  return text;
}

class ExecExplain {
 public:
  explicit ExecExplain(const ExecPlan& plan) : shared_first_(plan.roots.size() > 1) {}

  void Root(const ExecNode& node) {
    if (shared_first_) SharedBelow(node);
    Tree(node);
  }

  std::string Take() { return std::move(text_); }

 private:
  // Shared nodes below `node` that are not printed yet, the innermost first, each as a tree of its
  // own.
  void SharedBelow(const ExecNode& node) {
    for (const ExecPointer& input : node.inputs) {
      if (printed_.count(input.get()) > 0) continue;
      SharedBelow(*input);
      if (input->reuse_id > 0) Tree(*input);
    }
  }

  void Tree(const ExecNode& root) {
    if (!text_.empty()) text_ += "\n";
    TreeDrawing drawing;
    Node(root, &drawing);
  }

  void Node(const ExecNode& node, TreeDrawing* drawing) {
    text_ += drawing->Prefix();
    if (node.reuse_id > 0 && !printed_.insert(&node).second) {
      text_ += "Reused(reference_id=[" + std::to_string(node.reuse_id) + "])\n";
      return;
    }
    text_ += ExecNodeText(node);
    if (node.reuse_id > 0) text_ += "(reuse_id=[" + std::to_string(node.reuse_id) + "])";
    text_ += "\n";
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      drawing->Enter(i + 1 == node.inputs.size());
      Node(*node.inputs[i], drawing);
      drawing->Leave();
    }
  }

  bool shared_first_;
  std::set<const ExecNode*> printed_;
  std::string text_;
};

}  // namespace

std::string ExecNodeText(const ExecNode& node) {
  static const ExpressionText kInfixForm = [](const Expression& e, const InputName& names) {
    return ExecText(e, names);
  };
  NodeSurroundings around{node.schema, {}, kInfixForm, false};
  for (const ExecPointer& input : node.inputs) around.inputs.push_back(&input->schema);
  return std::visit([&around](const auto& op) { return TextOf(op, around).ToString(); }, node.op);
}

std::string ExplainExec(const ExecPlan& plan) {
  ExecExplain explain(plan);
  for (const ExecPointer& root : plan.roots) explain.Root(*root);
  return explain.Take();
}

}  // namespace rowtide

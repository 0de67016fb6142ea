#include "planner/physical/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "planner/physical/node_text.h"

namespace rowtide {
namespace {

std::string TtlHints(const std::vector<std::pair<std::string, std::string>>& hints) {
  std::vector<std::string> times;
  for (const auto& [alias, time] : hints) times.push_back(time);
  return fmt::format("[[STATE_TTL options:[{}]]]", fmt::join(times, ", "));
}

NodeText OwnText(const PhysicalNode& node) {
  static const ExpressionText kPrefixForm = [](const Expression& e, const InputName& names) {
    return PhysicalText(e, names);
  };
  NodeSurroundings around{node.schema, {}, kPrefixForm, true};
  for (const PhysicalPointer& input : node.inputs) around.inputs.push_back(&input->schema);
  return std::visit([&around](const auto& op) { return TextOf(op, around); }, node.op);
}

void AppendTree(const PhysicalNode& node, bool changelog_mode, TreeDrawing* drawing,
                std::string* out) {
  NodeText text = OwnText(node);
  if (changelog_mode)
    text.Add("changelogMode", node.as<PhysicalSink>() ? "NONE" : node.trait.mode().ToString());
  const auto* aggregate = node.as<PhysicalGroupAggregate>();
  if (aggregate && !aggregate->ttl_hints.empty())
    text.Add("stateTtlHints", TtlHints(aggregate->ttl_hints));
  *out += drawing->Prefix() + text.ToString() + "\n";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    drawing->Enter(i + 1 == node.inputs.size());
    AppendTree(*node.inputs[i], changelog_mode, drawing, out);
    drawing->Leave();
  }
}

}  // namespace

std::string DescribeNode(const PhysicalNode& node) { return OwnText(node).ToString(); }

std::string TreeDrawing::Prefix() const {
  std::string text;
  for (size_t i = 0; i < last_.size(); ++i) {
    if (i + 1 < last_.size()) {
      text += last_[i] ? "   " : ":  ";
    } else {
      text += last_[i] ? "+- " : ":- ";
    }
  }
  return text;
}

std::string ExplainPhysical(const std::vector<PhysicalPointer>& roots, bool changelog_mode) {
  std::string text;
  for (const PhysicalPointer& root : roots) {
    if (!text.empty()) text += "\n";
    TreeDrawing drawing;
    AppendTree(*root, changelog_mode, &drawing, &text);
  }
  return text;
}

}  // namespace rowtide

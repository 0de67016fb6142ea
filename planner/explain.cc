#include "planner/explain.h"

#include "planner/exec/explain.h"
#include "planner/physical/explain.h"

namespace rowtide {
namespace {

// Exactly one newline at the end.
std::string Ended(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + "\n";
}

}  // namespace

std::string ExplainSections(const std::string& ast, const std::vector<PhysicalPointer>& physical,
                            const ExecPlan& exec, const std::vector<std::string>& deviations,
                            bool changelog_mode) {
  std::string text = "== Abstract Syntax Tree ==\n" + Ended(ast);
  text += "\n== Optimized Physical Plan ==\n" + Ended(ExplainPhysical(physical, changelog_mode));
  text += "\n== Optimized Execution Plan ==\n" + Ended(ExplainExec(exec));
  if (deviations.empty()) return text;
  text += "\n== Deviations From Flink ==\n";
  for (const std::string& line : deviations) text += line + "\n";
  return text;
}

}  // namespace rowtide

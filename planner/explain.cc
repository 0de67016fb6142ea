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
                            const ExecPlan& exec, const std::vector<OwnSection>& own,
                            bool changelog_mode) {
  std::string text = "== Abstract Syntax Tree ==\n" + Ended(ast);
  text += "\n== Optimized Physical Plan ==\n" + Ended(ExplainPhysical(physical, changelog_mode));
  text += "\n== Optimized Execution Plan ==\n" + Ended(ExplainExec(exec));
  for (const OwnSection& section : own) {
    if (section.lines.empty()) continue;
    text += "\n== " + section.title + " ==\n";
    for (const std::string& line : section.lines) text += line + "\n";
  }
  return text;
}

}  // namespace rowtide

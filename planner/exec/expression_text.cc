#include "planner/exec/expression_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rowtide {
namespace {

bool IsInfix(const std::string& function) {
  static const char* const kOperators[] = {"=",
                                           "<>",
                                           "<",
                                           "<=",
                                           ">",
                                           ">=",
                                           "+",
                                           "-",
                                           "*",
                                           "/",
                                           "/INT",
                                           "AND",
                                           "OR",
                                           "IS DISTINCT FROM",
                                           "IS NOT DISTINCT FROM"};
  for (const char* name : kOperators) {
    if (function == name) return true;
  }
  return false;
}

bool IsPostfix(const std::string& function) {
  static const char* const kOperators[] = {"IS NULL",     "IS NOT NULL",   "IS TRUE",
                                           "IS NOT TRUE", "IS FALSE",      "IS NOT FALSE",
                                           "IS UNKNOWN",  "IS NOT UNKNOWN"};
  for (const char* name : kOperators) {
    if (function == name) return true;
  }
  return false;
}

std::string LiteralPart(const Expression& literal) {
  if (literal.is_null_literal()) return "null:" + TypeText(literal.type);
  if (literal.type.kind == TypeKind::kSymbol) return std::get<std::string>(literal.literal);
  if (IsCharacter(literal.type)) return "'" + std::get<std::string>(literal.literal) + "'";
  return BareLiteralText(literal);
}

}  // namespace

std::string ExecText(const Expression& e, const InputName& input_name) {
  if (e.is_input()) return input_name(e.column);
  if (e.is_literal()) return LiteralPart(e);
  if (e.is_call("SEARCH") && e.sarg) {
    return fmt::format("SEARCH({}, {})", ExecText(e.operands[0], input_name),
                       SargText(*e.sarg, false));
  }
  std::vector<std::string> operands;
  for (const Expression& operand : e.operands) operands.push_back(ExecText(operand, input_name));
  if (e.is_call("CAST") || e.is_call("TRY_CAST")) {
    return fmt::format("{}({} AS {})", e.function, operands[0], TypeText(e.type));
  }
  if (operands.size() == 1 && IsPostfix(e.function)) return operands[0] + " " + e.function;
  if (operands.size() > 1 && IsInfix(e.function)) {
    return fmt::format("({})", fmt::join(operands, " " + e.function + " "));
  }
  return fmt::format("{}({})", e.function, fmt::join(operands, ", "));
}

}  // namespace rowtide

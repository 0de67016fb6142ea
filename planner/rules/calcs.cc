#include "planner/rules/calcs.h"

#include <algorithm>
#include <set>

#include "planner/rules/simplify.h"

namespace rowtide {
namespace {

// Both conditions. Requires: one of them.
Expression Conjoined(const std::optional<Expression>& first,
                     const std::optional<Expression>& more) {
  if (!first || !more) return first ? *first : *more;
  std::vector<Expression> all = Conjuncts(*first);
  for (Expression& part : Conjuncts(*more)) all.push_back(std::move(part));
  return AndOf(std::move(all));
}

// The column that a conjunct fixes, `col = literal` or IS NULL, and its value in the literal's own
// type; -1 = none.
int FixedColumn(const Expression& part, Expression* literal) {
  if (part.is_call("IS NULL") && part.operands[0].is_input()) {
    *literal = Expression::Null(part.operands[0].type);
    return part.operands[0].column;
  }
  if (!part.is_call("=") || !part.operands[1].is_literal()) return -1;
  const Expression* column = &part.operands[0];
  if (column->is_call("CAST") && IsNumber(column->type)) column = &column->operands[0];
  if (!column->is_input()) return -1;
  *literal = part.operands[1];
  return column->column;
}

// Columns that a condition fixes and no conjunct but an equality mentions.
std::map<int, Expression> SettledBy(const Expression& condition) {
  std::map<int, Expression> fixed;
  std::set<int> mentioned;
  for (const Expression& part : Conjuncts(condition)) {
    Expression literal;
    const int column = FixedColumn(part, &literal);
    if (column >= 0) {
      fixed[column] = std::move(literal);
    } else if (!part.is_call("=")) {
      for (int input : InputsOf(part)) mentioned.insert(input);
    }
  }
  for (int column : mentioned) fixed.erase(column);
  return fixed;
}

// The same in the types of the columns.
Result<std::map<int, Expression>> FixedBy(const Expression& condition, const Schema& input,
                                          PlannerContext& context) {
  std::map<int, Expression> fixed = SettledBy(condition);
  for (auto& [column, literal] : fixed) {
    const Type& type = input.type(column);
    if (literal.is_null_literal() || literal.type.SameButNullability(type)) continue;
    RT_ASSIGN(literal,
              SimplifyValue(Expression::Cast(literal, type.NotNull()), context.evaluation));
  }
  std::erase_if(fixed, [](const auto& entry) { return !entry.second.is_literal(); });
  return fixed;
}

Result<CalcParts> Simplified(CalcParts spec, const PhysicalNode& input, PlannerContext& context) {
  const std::map<int, Expression> known = ConstantsOf(input);
  if (spec.condition) {
    std::map<int, Expression> everywhere = known;
    Expression condition = *spec.condition;
    if (!known.empty()) {
      std::vector<Expression> replacements = InputsOfAll(input.schema);
      for (const auto& [column, constant] : known) {
        if (!constant.is_null_literal()) {
          replacements[static_cast<size_t>(column)] =
              Expression::Literal(constant.literal, constant.type.NotNull());
        }
      }
      condition = Substitute(condition, replacements);
    }
    RT_ASSIGN(Expression simple, SimplifyCondition(condition, context.evaluation));
    spec.condition = std::move(simple);
    if (spec.condition->is_true()) spec.condition.reset();
  }
  std::map<int, Expression> constants = known;
  if (spec.condition) {
    RT_ASSIGN(auto fixed, FixedBy(*spec.condition, input.schema, context));
    for (auto& [column, constant] : fixed) constants[column] = std::move(constant);
  }
  if (spec.only_filters) return spec;
  for (Expression& e : spec.projections) {
    RT_ASSIGN(
        e, SimplifyValue(constants.empty() ? e : WithConstants(e, constants), context.evaluation));
  }
  return spec;
}

// UNION ALL: the whole Calc goes into each input. The branch's own columns again where a filter
// alone sinks into it and reads only what it gives: aliases are lost.
PhysicalPointer WithOwnNames(const PhysicalPointer& branch) {
  const auto* calc = branch->as<PhysicalCalc>();
  if (!calc || !calc->condition || !IsAscendingSubset(calc->projections)) return branch;
  std::set<int> given;
  std::vector<std::string> names;
  for (const Expression& e : calc->projections) {
    given.insert(e.column);
    names.push_back(branch->input().schema.name(e.column));
  }
  for (int column : InputsOf(*calc->condition)) {
    if (given.count(column) == 0) return branch;
  }
  return MakePhysical(*calc, branch->inputs, SchemaOf(calc->projections, names));
}

// Filters and projections go into all branches; a projection gives them all its names, a filter
// leaves them theirs.
Result<PhysicalPointer> IntoUnion(const PhysicalNode& unions, const CalcParts& spec, bool filters,
                                  PlannerContext& context) {
  std::vector<PhysicalPointer> inputs;
  for (const PhysicalPointer& input : unions.inputs) {
    CalcParts copy = spec;
    if (filters) copy.names = input->schema.names();
    RT_ASSIGN(PhysicalPointer pushed, MakeCalc(input, std::move(copy), context));
    inputs.push_back(filters ? WithOwnNames(pushed) : pushed);
  }
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [](const PhysicalPointer& p) { return IsEmptyValues(*p); }),
               inputs.end());
  const Schema schema = SchemaOf(spec.projections, spec.names);
  if (inputs.empty()) return EmptyValues(schema);
  if (inputs.size() == 1) return inputs[0];
  std::vector<Field> fields;
  for (int i = 0; i < schema.size(); ++i)
    fields.push_back({inputs[0]->schema.name(i), schema.type(i)});
  return MakePhysical(PhysicalUnion{}, std::move(inputs), Schema(std::move(fields)));
}

// Conjuncts on group columns alone filter before they are grouped.
Result<PhysicalPointer> BelowAggregate(PhysicalPointer aggregate, CalcParts* spec,
                                       PlannerContext& context) {
  const auto& op = *aggregate->as<PhysicalGroupAggregate>();
  if (!spec->condition || op.group.empty()) return aggregate;
  std::vector<Expression> below, above;
  for (Expression& part : Conjuncts(*spec->condition)) {
    const std::vector<int> columns = InputsOf(part);
    const bool on_group = !columns.empty() && columns.back() < static_cast<int>(op.group.size());
    (on_group && IsDeterministic(part) ? below : above).push_back(std::move(part));
  }
  if (below.empty()) return aggregate;
  Expression condition = Remap(AndOf(std::move(below)), op.group);
  RT_ASSIGN(PhysicalPointer input, MakeFilter(aggregate->inputs[0], std::move(condition), context));
  if (above.empty()) {
    spec->condition.reset();
  } else {
    spec->condition = AndOf(std::move(above));
  }
  if (IsEmptyValues(*input)) return EmptyValues(aggregate->schema);
  return MakePhysical(op, {std::move(input)}, aggregate->schema);
}

}  // namespace

std::vector<Expression> InputsOfAll(const Schema& schema) {
  std::vector<Expression> all;
  for (int i = 0; i < schema.size(); ++i) all.push_back(Expression::Input(i, schema.type(i)));
  return all;
}

bool IsAscendingSubset(const std::vector<Expression>& projections) {
  int last = -1;
  for (const Expression& e : projections) {
    if (!e.is_input() || e.column <= last) return false;
    last = e.column;
  }
  return true;
}

bool IsIdentity(const std::vector<Expression>& projections, const Schema& input) {
  return static_cast<int>(projections.size()) == input.size() && IsAscendingSubset(projections);
}

Schema SchemaOf(const std::vector<Expression>& projections, const std::vector<std::string>& names) {
  std::vector<Field> fields;
  std::set<std::string> used;
  for (size_t i = 0; i < projections.size(); ++i) {
    std::string name = names[i];
    for (int n = 0; !used.insert(name).second; ++n) name = names[i] + std::to_string(n);
    fields.push_back({name, projections[i].type});
  }
  return Schema(std::move(fields));
}

// A stack of views whose columns each use the one below twice would double with every view. Flink
// merges without a bound, and runs out of memory where this one stops.
constexpr int64_t kMergedNodesMax = 4096;

int64_t NodesOf(const Expression& expression) {
  int64_t nodes = 0;
  Walk(expression, [&nodes](const Expression&) { ++nodes; });
  return nodes;
}

bool IsMergeable(const std::vector<Expression>& below, const std::vector<Expression>& above,
                 const std::optional<Expression>& condition) {
  std::map<int, int> uses;
  const auto count = [&uses](const Expression& e) {
    Walk(e, [&uses](const Expression& part) {
      if (part.is_input()) ++uses[part.column];
    });
  };
  for (const Expression& e : above) count(e);
  if (condition) count(*condition);
  int64_t merged_nodes = 0;
  for (const auto& [column, times] : uses)
    merged_nodes += times * NodesOf(below[static_cast<size_t>(column)]);
  if (merged_nodes > kMergedNodesMax) return false;
  return std::all_of(uses.begin(), uses.end(), [&below](const auto& use) {
    return use.second <= 1 || IsDeterministic(below[static_cast<size_t>(use.first)]);
  });
}

Result<PhysicalPointer> MakeCalc(PhysicalPointer input, CalcParts spec, PlannerContext& context) {
  // The condition over the columns it was written on, before they become expressions.
  if (spec.condition && !spec.as_written) {
    RT_ASSIGN(spec.condition, SimplifyCondition(*spec.condition, context.evaluation));
  }
  if (!spec.condition && IsIdentity(spec.projections, input->schema)) return input;
  if (const auto* below = input->as<PhysicalCalc>();
      below && IsMergeable(below->projections, spec.projections, spec.condition)) {
    CalcParts merged;
    merged.names = std::move(spec.names);
    merged.only_filters =
        spec.only_filters && IsIdentity(below->projections, input->input().schema);
    merged.as_written = spec.as_written;
    for (const Expression& e : spec.projections) {
      merged.projections.push_back(Substitute(e, below->projections));
    }
    std::optional<Expression> condition;
    if (spec.condition) condition = Substitute(*spec.condition, below->projections);
    if (below->condition || condition) merged.condition = Conjoined(below->condition, condition);
    return MakeCalc(input->inputs[0], std::move(merged), context);
  }
  const bool filters = IsIdentity(spec.projections, input->schema);
  if (!spec.as_written) {
    RT_ASSIGN(spec, Simplified(std::move(spec), *input, context));
  }
  const Schema schema = SchemaOf(spec.projections, spec.names);
  if (IsEmptyValues(*input) || (spec.condition && spec.condition->is_false()))
    return EmptyValues(schema);
  if (!spec.condition && IsIdentity(spec.projections, input->schema)) return input;
  if (input->as<PhysicalUnion>()) {
    if (filters) spec.projections = InputsOfAll(input->schema);  // its constants come with a branch
    return IntoUnion(*input, spec, filters, context);
  }
  if (input->as<PhysicalGroupAggregate>()) {
    RT_ASSIGN(input, BelowAggregate(std::move(input), &spec, context));
    if (IsEmptyValues(*input)) return EmptyValues(schema);
    if (!spec.condition && IsIdentity(spec.projections, input->schema)) return input;
  }
  return MakePhysical(PhysicalCalc{std::move(spec.projections), std::move(spec.condition)},
                      {std::move(input)}, schema);
}

Result<PhysicalPointer> MakeFilter(PhysicalPointer input, Expression condition,
                                   PlannerContext& context) {
  CalcParts spec{InputsOfAll(input->schema), input->schema.names(), std::move(condition), true};
  return MakeCalc(std::move(input), std::move(spec), context);
}

PhysicalPointer EmptyValues(Schema schema) {
  return MakePhysical(PhysicalValues{}, {}, std::move(schema));
}

bool IsEmptyValues(const PhysicalNode& node) {
  const auto* values = node.as<PhysicalValues>();
  return values && values->rows.empty();
}

namespace {

bool IsConstant(const Expression& e) {
  return e.is_literal() || (e.is_call("CAST") && e.operands[0].is_literal() &&
                            e.operands[0].type.SameButNullability(e.type));
}

Expression LiteralOf(const Expression& constant) {
  return constant.is_literal() ? constant : constant.operands[0];
}

}  // namespace

std::map<int, Expression> ConstantsOf(const PhysicalNode& node) {
  if (const auto* calc = node.as<PhysicalCalc>()) {
    std::map<int, Expression> below = ConstantsOf(node.input());
    if (calc->condition) {
      for (auto& [column, constant] : SettledBy(*calc->condition)) below[column] = constant;
    }
    std::map<int, Expression> constants;
    for (size_t i = 0; i < calc->projections.size(); ++i) {
      const Expression& e = calc->projections[i];
      if (IsConstant(e)) constants[static_cast<int>(i)] = LiteralOf(e);
      if (e.is_input() && below.count(e.column))
        constants[static_cast<int>(i)] = below.at(e.column);
    }
    return constants;
  }
  if (node.as<PhysicalUnion>()) {
    std::map<int, Expression> constants = ConstantsOf(node.input());
    for (size_t i = 1; i < node.inputs.size() && !constants.empty(); ++i) {
      const std::map<int, Expression> other = ConstantsOf(*node.inputs[i]);
      std::erase_if(constants, [&other](const auto& entry) {
        const auto found = other.find(entry.first);
        return found == other.end() || !(found->second == entry.second);
      });
    }
    return constants;
  }
  if (node.as<PhysicalSortLimit>() || node.as<PhysicalLimit>() ||
      node.as<PhysicalWatermarkAssigner>()) {
    return ConstantsOf(node.input());
  }
  return {};
}

namespace {

// Every constant in its place, or (`not_null`) only those of columns that cannot be NULL.
Expression Replaced(const Expression& e, const std::map<int, Expression>& constants,
                    bool not_null) {
  if (e.is_input()) {
    const auto found = constants.find(e.column);
    if (found == constants.end() || e.type.is_time_attribute() || (not_null && e.type.nullable))
      return e;
    return ConstantOfType(found->second, e.type);
  }
  Expression copy = e;
  for (Expression& operand : copy.operands) operand = Replaced(operand, constants, not_null);
  return copy;
}

}  // namespace

Expression WithConstants(const Expression& expression, const std::map<int, Expression>& constants) {
  if (expression.over) {
    Expression copy = Replaced(expression, constants, true);
    OverWindow over = *copy.over;
    for (Expression& part : over.partition) part = WithConstants(part, constants);
    for (OverWindow::Order& order : over.order) order.key = WithConstants(order.key, constants);
    copy.over = std::make_shared<const OverWindow>(std::move(over));
    return copy;
  }
  if (HasOver(expression)) {
    Expression copy = expression;
    for (Expression& operand : copy.operands) operand = WithConstants(operand, constants);
    return copy;
  }
  const Expression all = Replaced(expression, constants, false);
  return InputsOf(all).empty() ? all : Replaced(expression, constants, true);
}

}  // namespace rowtide

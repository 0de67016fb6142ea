#include "planner/rules/aggregates.h"

#include <algorithm>
#include <set>

#include "operators/expressions/registry.h"
#include "planner/physical/keys.h"
#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

bool SameCall(const AggregateCall& a, const AggregateCall& b) {
  return a.function == b.function && a.arguments == b.arguments && a.distinct == b.distinct &&
         a.filter == b.filter;
}

// Adds a call unless an equal one is there; returns its index.
size_t AddCall(AggregateCall call, std::vector<AggregateCall>* calls) {
  for (size_t i = 0; i < calls->size(); ++i) {
    if (SameCall((*calls)[i], call)) return i;
  }
  calls->push_back(std::move(call));
  return calls->size() - 1;
}

struct Reduced {
  std::vector<AggregateCall> calls;
  std::vector<Expression> results;  // over group columns and calls; one for each original call
};

// SUM and AVG written with $SUM0 and COUNT (Calcite's AggregateReduceFunctionsRule).
class Reducer {
 public:
  Reducer(const PhysicalNode& input, int groups) : input_(input), groups_(groups) {}

  Result<Reduced> Run(const std::vector<AggregateCall>& calls) {
    for (const AggregateCall& call : calls) {
      if (call.function == "SUM" && !call.distinct) {
        RT_ASSIGN(Expression sum, Sum(call, call.name));
        reduced_.results.push_back(std::move(sum));
      } else if (call.function == "AVG" && !call.distinct) {
        RT_ASSIGN(Expression average, Average(call));
        reduced_.results.push_back(std::move(average));
      } else {
        reduced_.results.push_back(Reference(call));
      }
    }
    return std::move(reduced_);
  }

 private:
  Expression Reference(const AggregateCall& call) {
    const size_t index = AddCall(call, &reduced_.calls);
    return Expression::Input(groups_ + static_cast<int>(index), call.type);
  }

  Expression Count(const AggregateCall& call) {
    AggregateCall count = call;
    count.function = "COUNT";
    count.name.clear();
    count.type = Type::BigInt().NotNull();
    if (!input_.schema.type(call.arguments[0]).nullable) count.arguments.clear();
    return Reference(count);
  }

  // CASE(=(count, 0), null, sum0), or sum0 alone when a group cannot be without values.
  Result<Expression> Sum(const AggregateCall& call, const std::string& name) {
    AggregateCall sum0 = call;
    sum0.function = "$SUM0";
    sum0.name = name;
    sum0.type = call.type.NotNull();
    const Expression sum = Reference(sum0);
    if (!call.type.nullable) return sum;
    const Expression count = Count(call);
    const Expression empty =
        Expression::Call("=", {count, Expression::Literal(int64_t{0}, Type::Int().NotNull())},
                         Type::Boolean().NotNull());
    return Expression::Call("CASE", {empty, Expression::Null(call.type), sum}, call.type);
  }

  Result<Expression> Average(const AggregateCall& call) {
    AggregateCall total = call;
    total.type = SumType(input_.schema.type(call.arguments[0])).WithNullable(call.type.nullable);
    RT_ASSIGN(Expression sum, Sum(total, ""));
    const Expression count = Count(call);
    RT_ASSIGN(Expression quotient, MakeCall("/", {sum, count}));
    if (quotient.type == call.type) return quotient;
    return Expression::Cast(std::move(quotient), call.type);
  }

  static Type SumType(const Type& argument) {
    if (argument.kind == TypeKind::kDecimal)
      return Type::Decimal(kMaxDecimalPrecision, argument.scale);
    return argument.WithoutTimeAttribute();
  }

  const PhysicalNode& input_;
  int groups_;
  Reduced reduced_;
};

// GROUP BY on columns that are unique already: each group is one row.
Result<std::optional<PhysicalPointer>> Undone(const PhysicalPointer& input,
                                              const LogicalAggregate& aggregate,
                                              PlannerContext& context) {
  const auto covered = [&](const ColumnSet& key) {
    return std::all_of(key.begin(), key.end(), [&](int column) {
      return std::find(aggregate.group.begin(), aggregate.group.end(), column) !=
             aggregate.group.end();
    });
  };
  const std::vector<ColumnSet> keys = GroupingKeys(*input);
  if (std::none_of(keys.begin(), keys.end(), covered)) return std::optional<PhysicalPointer>();
  CalcParts spec;
  for (int column : aggregate.group)
    spec.projections.push_back(Expression::Input(column, input->schema.type(column)));
  for (const AggregateCall& call : aggregate.calls) {
    const bool keeps_value =
        call.function == "SUM" || call.function == "MIN" || call.function == "MAX";
    if (!keeps_value || call.filter >= 0) return std::optional<PhysicalPointer>();
    const Expression argument =
        Expression::Input(call.arguments[0], input->schema.type(call.arguments[0]));
    spec.projections.push_back(argument.type == call.type ? argument
                                                          : Expression::Cast(argument, call.type));
  }
  // The names are those of the input: the calls' own go with the calls.
  for (int column : aggregate.group) spec.names.push_back(input->schema.name(column));
  for (const AggregateCall& call : aggregate.calls)
    spec.names.push_back(input->schema.name(call.arguments[0]));
  RT_ASSIGN(PhysicalPointer calc, MakeCalc(input, std::move(spec), context));
  return std::optional<PhysicalPointer>(std::move(calc));
}

// A GROUP BY whose calls read nothing: without them it has no columns but its key.
bool IsBareGroup(const PhysicalNode& node) {
  const auto* aggregate = node.as<PhysicalGroupAggregate>();
  return aggregate && aggregate->group.size() == 1 && !aggregate->calls.empty() &&
         std::all_of(
             aggregate->calls.begin(), aggregate->calls.end(),
             [](const AggregateCall& call) { return call.arguments.empty() && call.filter < 0; });
}

// COUNT(*) over everything reads nothing. One column may as well be what there is, or the one that
// a filter over a table reads; of more, none is carried, but a constant in their place.
Result<PhysicalPointer> WithoutColumns(PhysicalPointer input, PlannerContext& context) {
  const auto* calc = input->as<PhysicalCalc>();
  CalcParts parts;
  if (calc && calc->condition) {
    const std::vector<int> read = InputsOf(*calc->condition);
    const PhysicalNode& below = input->input();
    parts.condition = calc->condition;
    if (read.size() == 1 && (below.as<PhysicalScan>() || below.as<PhysicalWatermarkAssigner>())) {
      parts.projections.push_back(Expression::Input(read[0], below.schema.type(read[0])));
      parts.names.push_back(below.schema.name(read[0]));
      return MakeCalc(input->inputs[0], std::move(parts), context);
    }
    input = input->inputs[0];
  } else if (input->as<PhysicalUnion>() || input->as<PhysicalValues>() || IsBareGroup(*input) ||
             (input->schema.size() == 1 && !calc)) {
    return input;
  }
  parts.projections.push_back(Expression::Literal(int64_t{0}, Type::Int().NotNull()));
  parts.names.push_back("$f0");
  return MakeCalc(std::move(input), std::move(parts), context);
}

// The input without the columns that the aggregate does not read; `aggregate` is moved to what is
// left.
Result<PhysicalPointer> OnlyRead(PhysicalPointer input, LogicalAggregate* aggregate,
                                 PlannerContext& context) {
  std::set<int> read(aggregate->group.begin(), aggregate->group.end());
  for (const AggregateCall& call : aggregate->calls) {
    read.insert(call.arguments.begin(), call.arguments.end());
    if (call.filter >= 0) read.insert(call.filter);
  }
  std::vector<int> mapping(static_cast<size_t>(input->schema.size()), -1);
  CalcParts parts;
  for (int column : read) {
    mapping[static_cast<size_t>(column)] = static_cast<int>(parts.names.size());
    parts.projections.push_back(Expression::Input(column, input->schema.type(column)));
    parts.names.push_back(input->schema.name(column));
  }
  const auto move = [&mapping](int& column) { column = mapping[static_cast<size_t>(column)]; };
  for (int& column : aggregate->group) move(column);
  for (AggregateCall& call : aggregate->calls) {
    for (int& column : call.arguments) move(column);
    if (call.filter >= 0) move(call.filter);
  }
  return MakeCalc(std::move(input), std::move(parts), context);
}

// Group columns that are literals do not group: all but one, if nothing else groups, are written
// above instead.
std::optional<LogicalAggregate> WithoutLiterals(const PhysicalNode& input,
                                                const LogicalAggregate& aggregate) {
  const auto* calc = input.as<PhysicalCalc>();
  if (!calc || aggregate.group.size() < 2) return std::nullopt;
  LogicalAggregate narrow = aggregate;
  narrow.group.clear();
  for (int column : aggregate.group) {
    if (!calc->projections[static_cast<size_t>(column)].is_literal())
      narrow.group.push_back(column);
  }
  if (narrow.group.empty()) narrow.group.push_back(aggregate.group[0]);
  if (narrow.group.size() == aggregate.group.size()) return std::nullopt;
  return narrow;
}

}  // namespace

Result<PhysicalPointer> MakeAggregate(PhysicalPointer input, const LogicalAggregate& aggregate,
                                      const Schema& schema, PlannerContext& context) {
  if (const std::optional<LogicalAggregate> narrow = WithoutLiterals(*input, aggregate)) {
    const auto& literals = input->as<PhysicalCalc>()->projections;
    std::vector<Field> fields;
    CalcParts above{{}, schema.names(), std::nullopt};
    for (size_t i = 0; i < aggregate.group.size(); ++i) {
      const int column = aggregate.group[i];
      const Field& field = schema.field(static_cast<int>(i));
      if (std::find(narrow->group.begin(), narrow->group.end(), column) == narrow->group.end()) {
        above.projections.push_back(literals[static_cast<size_t>(column)]);
      } else if (literals[static_cast<size_t>(column)].is_literal()) {
        above.projections.push_back(literals[static_cast<size_t>(column)]);
        fields.push_back(field);
      } else {
        above.projections.push_back(Expression::Input(static_cast<int>(fields.size()), field.type));
        fields.push_back(field);
      }
    }
    for (int i = static_cast<int>(aggregate.group.size()); i < schema.size(); ++i) {
      above.projections.push_back(
          Expression::Input(static_cast<int>(fields.size()), schema.type(i)));
      fields.push_back(schema.field(i));
    }
    LogicalAggregate read = *narrow;
    RT_ASSIGN(input, OnlyRead(std::move(input), &read, context));
    RT_ASSIGN(PhysicalPointer made,
              MakeAggregate(std::move(input), read, Schema(std::move(fields)), context));
    return MakeCalc(std::move(made), std::move(above), context);
  }
  if (IsEmptyValues(*input) && !aggregate.group.empty()) return EmptyValues(schema);
  RT_ASSIGN(std::optional<PhysicalPointer> undone, Undone(input, aggregate, context));
  if (undone) return *undone;
  const int groups = static_cast<int>(aggregate.group.size());
  // Equal calls become one, which takes the last name.
  Reduced plain;
  for (AggregateCall call : aggregate.calls) {
    if (call.function == "MIN" || call.function == "MAX")
      call.distinct = false;  // the same without it
    const size_t index = AddCall(call, &plain.calls);
    plain.calls[index].name = call.name;
    plain.results.push_back(Expression::Input(groups + static_cast<int>(index), call.type));
  }
  RT_ASSIGN(Reduced reduced, Reducer(*input, groups).Run(plain.calls));
  const bool reduces = reduced.calls.size() < plain.calls.size();
  Reduced& best = reduces ? reduced : plain;
  if (reduces && plain.results.size() != reduced.results.size()) {
    std::vector<Expression> all;
    for (const Expression& e : plain.results)
      all.push_back(reduced.results[static_cast<size_t>(e.column - groups)]);
    reduced.results = std::move(all);
  }
  if (aggregate.group.empty() &&
      std::all_of(best.calls.begin(), best.calls.end(), [](const AggregateCall& call) {
        return call.arguments.empty() && call.filter < 0;
      })) {
    RT_ASSIGN(input, WithoutColumns(std::move(input), context));
  }
  PhysicalGroupAggregate op;
  op.group = aggregate.group;
  op.ttl_hints = aggregate.ttl_hints;
  std::vector<Field> fields;
  for (int i = 0; i < groups; ++i)  // columns keep their names, calls have aliases
    fields.push_back(input->schema.field(aggregate.group[static_cast<size_t>(i)]));
  for (AggregateCall& call : best.calls) {
    // Calls that no SELECT item is (`agg#0`) are named for their place.
    if (call.name.empty() || call.name.starts_with("agg#"))
      call.name = "$f" + std::to_string(fields.size());
    const auto is_taken = [&fields](const std::string& name) {
      return std::any_of(fields.begin(), fields.end(),
                         [&name](const Field& field) { return field.name == name; });
    };
    const std::string wanted = call.name;
    for (int n = 0; is_taken(call.name); ++n) call.name = wanted + "_" + std::to_string(n);
    fields.push_back({call.name, call.type});
  }
  op.calls = best.calls;
  PhysicalPointer node = MakePhysical(std::move(op), {std::move(input)}, Schema(std::move(fields)));
  if (best.results.size() == best.calls.size() && !reduces) return node;
  CalcParts above;
  for (int i = 0; i < groups; ++i)
    above.projections.push_back(Expression::Input(i, node->schema.type(i)));
  for (const Expression& e : best.results) above.projections.push_back(e);
  above.names = schema.names();
  return MakeCalc(std::move(node), std::move(above), context);
}

}  // namespace rowtide

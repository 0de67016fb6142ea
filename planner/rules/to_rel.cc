#include "planner/rules/to_rel.h"

#include <algorithm>
#include <set>

#include "planner/rules/aggregates.h"
#include "planner/rules/calcs.h"
#include "planner/rules/lateral.h"
#include "planner/rules/over.h"
#include "planner/rules/sorts.h"

namespace rowtide {
namespace {

// The columns of a node that its parent reads; none = all of them.
using Needed = std::optional<std::set<int>>;

void AddInputs(const Expression& e, std::set<int>* columns) {
  for (int column : InputsOf(e)) columns->insert(column);
}

class Converter {
 public:
  explicit Converter(PlannerContext& context) : context_(context) {}

  Result<PhysicalPointer> Convert(const LogicalNode& node, const Needed& needed) {
    return std::visit([&](const auto& op) { return On(op, node, needed); }, node.op);
  }

 private:
  Result<PhysicalPointer> On(const LogicalScan& op, const LogicalNode& node, const Needed&) {
    PhysicalScan scan;
    scan.table = op.table;
    scan.hint_options = op.hint_options;
    scan.columns = op.table->ScanColumns();
    return MakePhysical(std::move(scan), {}, node.schema);
  }

  Result<PhysicalPointer> On(const LogicalValues& op, const LogicalNode& node, const Needed&) {
    return MakePhysical(PhysicalValues{op.rows}, {}, node.schema);
  }

  Result<PhysicalPointer> On(const LogicalProject& op, const LogicalNode& node, const Needed& needed) {
    std::vector<Expression> projections = op.expressions;
    const LogicalNode* below = node.inputs[0].get();
    for (const auto* next = below->as<LogicalProject>(); next; next = below->as<LogicalProject>()) {
      if (HasOverCalls(projections) && HasOverCalls(next->expressions)) break;
      for (Expression& e : projections) e = Substitute(e, next->expressions);
      below = below->inputs[0].get();
    }
    const bool has_over = HasOverCalls(projections);
    std::set<int> used;
    for (size_t i = 0; i < projections.size(); ++i) {
      if (has_over || !needed || needed->count(static_cast<int>(i))) AddInputs(projections[i], &used);
    }
    CalcParts parts{std::move(projections), node.schema.names(), std::nullopt};
    if (const auto* filter = below->as<LogicalFilter>(); filter && !has_over) {
      AddInputs(filter->condition, &used);
      RT_ASSIGN(PhysicalPointer input, Convert(below->input(), Needed(used)));
      return OverFilter(std::move(input), std::move(parts), filter->condition);
    }
    RT_ASSIGN(PhysicalPointer input, Convert(*below, Needed(used)));
    if (has_over) return MakeOver(std::move(input), std::move(parts), context_);
    return MakeCalc(std::move(input), std::move(parts), context_);
  }

  static bool HasOverCalls(const std::vector<Expression>& projections) {
    return std::any_of(projections.begin(), projections.end(), HasOver);
  }

  // A projection that only drops columns sinks below the filter, and its aliases are lost with it: names are those of
  // what lies below. So they are with an identity. spec: what Flink's plans show.
  Result<PhysicalPointer> OverFilter(PhysicalPointer input, CalcParts parts, const Expression& condition) {
    if (IsIdentity(parts.projections, input->schema)) parts.names = input->schema.names();
    const bool sinks = Covers(parts.projections, condition);
    parts.condition = condition;
    RT_ASSIGN(PhysicalPointer made, MakeCalc(std::move(input), std::move(parts), context_));
    const auto* calc = made->as<PhysicalCalc>();
    if (!sinks || !calc || !calc->condition || !Covers(calc->projections, *calc->condition)) return made;
    std::vector<std::string> names;
    for (const Expression& e : calc->projections) names.push_back(made->input().schema.name(e.column));
    Schema schema = SchemaOf(calc->projections, names);
    return MakePhysical(*calc, made->inputs, std::move(schema));
  }

  // Ascending plain columns, those of the condition among them.
  static bool Covers(const std::vector<Expression>& projections, const Expression& condition) {
    if (!IsAscendingSubset(projections)) return false;
    const std::vector<int> read = InputsOf(condition);
    return std::all_of(read.begin(), read.end(), [&](int column) {
      return std::any_of(projections.begin(), projections.end(), [column](const Expression& e) { return e.column == column; });
    });
  }

  Result<PhysicalPointer> On(const LogicalFilter& op, const LogicalNode& node, const Needed& needed) {
    Needed below = needed;
    if (below) AddInputs(op.condition, &*below);
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), below));
    return MakeFilter(std::move(input), op.condition, context_);
  }

  Result<PhysicalPointer> On(const LogicalAggregate& op, const LogicalNode& node, const Needed&) {
    std::set<int> used(op.group.begin(), op.group.end());
    for (const AggregateCall& call : op.calls) {
      used.insert(call.arguments.begin(), call.arguments.end());
      if (call.filter >= 0) used.insert(call.filter);
    }
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), Needed(used)));
    RT_ASSIGN(std::optional<PhysicalPointer> unpermuted, WithoutPermutation(input, node.input()));
    if (!unpermuted) return MakeAggregate(std::move(input), op, node.schema, context_);
    return OverUnpermuted(*std::move(unpermuted), *input->as<PhysicalCalc>(), op, node.schema);
  }

  // GROUP BY reads columns in any order, so a projection that only changes their order is not made.
  Result<std::optional<PhysicalPointer>> WithoutPermutation(const PhysicalPointer& input, const LogicalNode& logical) {
    const auto* calc = input->as<PhysicalCalc>();
    const auto* project = logical.as<LogicalProject>();
    if (!calc || !project) return std::optional<PhysicalPointer>();
    std::set<int> columns;
    for (const Expression& e : calc->projections) {
      if (!e.is_input() || !columns.insert(e.column).second) return std::optional<PhysicalPointer>();
    }
    if (IsAscendingSubset(calc->projections)) return std::optional<PhysicalPointer>();
    if (calc->condition) {
      for (int column : InputsOf(*calc->condition)) {
        if (columns.count(column) == 0) return std::optional<PhysicalPointer>();
      }
    } else if (static_cast<int>(columns.size()) != input->input().schema.size()) {
      return std::optional<PhysicalPointer>();
    }
    CalcParts sorted;
    for (int column : columns) {
      sorted.projections.push_back(Expression::Input(column, input->input().schema.type(column)));
      sorted.names.push_back(input->input().schema.name(column));
    }
    sorted.condition = calc->condition;
    RT_ASSIGN(PhysicalPointer made, MakeCalc(input->inputs[0], std::move(sorted), context_));
    return std::optional<PhysicalPointer>(std::move(made));
  }

  Result<PhysicalPointer> OverUnpermuted(PhysicalPointer input, const PhysicalCalc& permutation,
                                         const LogicalAggregate& op, const Schema& schema) {
    std::vector<int> sorted;
    for (const Expression& e : permutation.projections) sorted.push_back(e.column);
    std::sort(sorted.begin(), sorted.end());
    const auto moved = [&](int column) {
      const int below = permutation.projections[static_cast<size_t>(column)].column;
      return static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), below) - sorted.begin());
    };
    LogicalAggregate aggregate = op;
    for (int& column : aggregate.group) column = moved(column);
    const std::vector<int> as_written = aggregate.group;
    std::sort(aggregate.group.begin(), aggregate.group.end());
    for (AggregateCall& call : aggregate.calls) {
      for (int& column : call.arguments) column = moved(column);
      if (call.filter >= 0) call.filter = moved(call.filter);
    }
    // Group columns come out ascending; a Calc puts them back where they were written.
    CalcParts back;
    std::vector<Field> fields;
    for (int column : aggregate.group) fields.push_back(input->schema.field(column));
    for (int column : as_written) {
      const auto place = std::find(aggregate.group.begin(), aggregate.group.end(), column) - aggregate.group.begin();
      back.projections.push_back(Expression::Input(static_cast<int>(place), input->schema.type(column)));
      back.names.push_back(input->schema.name(column));
    }
    for (int i = static_cast<int>(op.group.size()); i < schema.size(); ++i) {
      fields.push_back(schema.field(i));
      back.projections.push_back(Expression::Input(i, schema.type(i)));
      back.names.push_back(schema.name(i));
    }
    RT_ASSIGN(PhysicalPointer made, MakeAggregate(std::move(input), aggregate, Schema(std::move(fields)), context_));
    return MakeCalc(std::move(made), std::move(back), context_);
  }

  Result<PhysicalPointer> On(const LogicalJoin&, const LogicalNode&, const Needed&) {
    return Status::Unsupported("joins are not supported yet").WithErrorCode("RT3001");
  }

  Result<PhysicalPointer> On(const LogicalCorrelate& op, const LogicalNode& node, const Needed&) {
    RT_ASSIGN(LogicalPointer rewritten, LateralToRank(op, node));
    return Convert(*rewritten, std::nullopt);
  }

  // A branch of a union gives exactly the union's types, nullability included.
  Result<PhysicalPointer> Coerced(PhysicalPointer branch, const Schema& schema) {
    CalcParts spec{InputsOfAll(branch->schema), branch->schema.names(), std::nullopt};
    bool casts = false;
    for (int i = 0; i < schema.size(); ++i) {
      if (branch->schema.type(i) == schema.type(i)) continue;
      Expression& e = spec.projections[static_cast<size_t>(i)];
      e = Expression::Cast(std::move(e), schema.type(i).WithoutTimeAttribute());
      casts = true;
    }
    if (!casts) return branch;
    return MakeCalc(std::move(branch), std::move(spec), context_);
  }

  Result<PhysicalPointer> On(const LogicalUnion& op, const LogicalNode& node, const Needed&) {
    std::vector<PhysicalPointer> inputs;
    for (const LogicalPointer& input : node.inputs) {
      RT_ASSIGN(PhysicalPointer converted, Convert(*input, std::nullopt));
      RT_ASSIGN(converted, Coerced(std::move(converted), node.schema));
      if (!IsEmptyValues(*converted)) inputs.push_back(std::move(converted));
    }
    if (inputs.empty()) return EmptyValues(node.schema);
    PhysicalPointer all = inputs[0];
    if (inputs.size() > 1) {
      std::vector<Field> fields;
      for (int i = 0; i < node.schema.size(); ++i) fields.push_back({inputs[0]->schema.name(i), node.schema.type(i)});
      all = MakePhysical(PhysicalUnion{}, std::move(inputs), Schema(std::move(fields)));
    }
    if (op.all) return all;
    LogicalAggregate distinct;
    for (int i = 0; i < node.schema.size(); ++i) distinct.group.push_back(i);
    return MakeAggregate(all, distinct, all->schema, context_);
  }

  Result<PhysicalPointer> On(const LogicalSort& op, const LogicalNode& node, const Needed&) {
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), std::nullopt));
    return MakeSort(std::move(input), op, context_);
  }

  Result<PhysicalPointer> On(const LogicalWatermarkAssigner& op, const LogicalNode& node, const Needed& needed) {
    const Schema& schema = node.schema;
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), std::nullopt));
    std::vector<int> kept;
    if (needed && !OnlyProctimeLeaves(*needed, op.rowtime, schema)) {
      std::set<int> wanted = *needed;
      wanted.insert(op.rowtime);
      AddInputs(op.watermark, &wanted);
      kept.assign(wanted.begin(), wanted.end());
    }
    if (kept.empty() || static_cast<int>(kept.size()) == schema.size() || input->as<PhysicalScan>()) {
      if (!(input->as<PhysicalScan>() && Projects(*input) && !kept.empty())) {
        return Assigned(std::move(input), op.rowtime, op.watermark, schema);
      }
    }
    // Only what is read above goes through the assigner; the Calc on top puts the columns back where they were.
    CalcParts below, above;
    std::vector<int> mapping(static_cast<size_t>(schema.size()), -1);
    std::vector<Field> fields;
    for (int column : kept) {
      mapping[static_cast<size_t>(column)] = static_cast<int>(fields.size());
      below.projections.push_back(Expression::Input(column, input->schema.type(column)));
      below.names.push_back(input->schema.name(column));
      fields.push_back({input->schema.name(column), schema.type(column)});
    }
    for (int i = 0; i < schema.size(); ++i) {
      const int at = mapping[static_cast<size_t>(i)];
      above.projections.push_back(at >= 0 ? Expression::Input(at, schema.type(i)) : Expression::Null(schema.type(i)));
      above.names.push_back(schema.name(i));
    }
    RT_ASSIGN(input, MakeCalc(std::move(input), std::move(below), context_));
    RT_ASSIGN(PhysicalPointer assigned, Assigned(std::move(input), mapping[static_cast<size_t>(op.rowtime)],
                                                 Remap(op.watermark, mapping), Schema(std::move(fields))));
    return MakeCalc(std::move(assigned), std::move(above), context_);
  }

  static bool Projects(const PhysicalNode& node) {
    const auto* scan = node.as<PhysicalScan>();
    return scan && scan->table->source && scan->table->source->projection;
  }

  // SELECT k, PROCTIME column … keeps everything below the assigner, as Flink's rule does not take it.
  static bool OnlyProctimeLeaves(const std::set<int>& needed, int rowtime, const Schema& schema) {
    if (needed.count(rowtime)) return false;
    return std::any_of(needed.begin(), needed.end(), [&](int column) { return schema.type(column).is_proctime(); });
  }

  Result<PhysicalPointer> Assigned(PhysicalPointer input, int rowtime, const Expression& watermark, Schema schema) {
    if (const auto* scan = input->as<PhysicalScan>();
        scan && (watermark.is_call("SOURCE_WATERMARK") || (scan->table->source && scan->table->source->watermark))) {
      PhysicalScan copy = *scan;
      copy.watermark = TableWatermark{rowtime, watermark, watermark.is_call("SOURCE_WATERMARK"), ""};
      return MakePhysical(std::move(copy), {}, std::move(schema));
    }
    return MakePhysical(PhysicalWatermarkAssigner{rowtime, watermark}, {std::move(input)}, std::move(schema));
  }

  Result<PhysicalPointer> On(const LogicalSink& op, const LogicalNode& node, const Needed&) {
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), std::nullopt));
    PhysicalSink sink;
    sink.table = op.table;
    sink.target_columns = op.target_columns;
    sink.hint_options = op.hint_options;
    sink.conflict = op.conflict;
    Schema schema = input->schema;
    return MakePhysical(std::move(sink), {std::move(input)}, std::move(schema));
  }

  PlannerContext& context_;
};

}  // namespace

Result<PhysicalPointer> ToRel(const LogicalNode& node, PlannerContext& context) {
  return Converter(context).Convert(node, std::nullopt);
}

}  // namespace rowtide

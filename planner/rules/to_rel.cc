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
    const bool has_over = std::any_of(projections.begin(), projections.end(), HasOver);
    for (const auto* next = below->as<LogicalProject>(); next; next = below->as<LogicalProject>()) {
      if (std::any_of(next->expressions.begin(), next->expressions.end(), HasOver)) break;
      for (Expression& e : projections) e = Substitute(e, next->expressions);
      below = below->inputs[0].get();
    }
    CalcParts spec{projections, node.schema.names(), std::nullopt};
    std::set<int> used;
    for (size_t i = 0; i < projections.size(); ++i) {
      if (has_over || !needed || needed->count(static_cast<int>(i))) AddInputs(projections[i], &used);
    }
    if (const auto* filter = below->as<LogicalFilter>(); filter && !has_over) {
      spec.condition = filter->condition;
      std::set<int> all;
      for (const Expression& e : projections) AddInputs(e, &all);
      AddInputs(filter->condition, &all);
      AddInputs(filter->condition, &used);
      RT_ASSIGN(PhysicalPointer input, Convert(below->input(), used));
      // A projection that only drops columns sinks below the filter, and its aliases are lost with it.
      if (IsAscendingSubset(projections) && all.size() == projections.size()) {
        for (size_t i = 0; i < projections.size(); ++i) spec.names[i] = input->schema.name(projections[i].column);
      }
      return MakeCalc(std::move(input), std::move(spec), context_);
    }
    RT_ASSIGN(PhysicalPointer input, Convert(*below, Needed(used)));
    if (has_over) return MakeOver(std::move(input), std::move(spec), context_);
    return MakeCalc(std::move(input), std::move(spec), context_);
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
    return MakeAggregate(std::move(input), op, node.schema, context_);
  }

  Result<PhysicalPointer> On(const LogicalJoin&, const LogicalNode&, const Needed&) {
    return Status::Unsupported("joins are not supported yet").WithErrorCode("RT3001");
  }

  Result<PhysicalPointer> On(const LogicalCorrelate& op, const LogicalNode& node, const Needed&) {
    RT_ASSIGN(LogicalPointer rewritten, LateralToRank(op, node));
    return Convert(*rewritten, std::nullopt);
  }

  Result<PhysicalPointer> On(const LogicalUnion& op, const LogicalNode& node, const Needed&) {
    std::vector<PhysicalPointer> inputs;
    for (const LogicalPointer& input : node.inputs) {
      RT_ASSIGN(PhysicalPointer converted, Convert(*input, std::nullopt));
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

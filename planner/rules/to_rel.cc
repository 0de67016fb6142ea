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

// The columns of a node that its parent reads, in the order in which it first does; none = all of
// them.
using Columns = std::vector<int>;
using Needed = std::optional<Columns>;

bool Contains(const Columns& columns, int column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

void Add(int column, Columns* columns) {
  if (!Contains(*columns, column)) columns->push_back(column);
}

void AddInputs(const Expression& e, Columns* columns) {
  for (int column : InputsOf(e)) Add(column, columns);
}

// `e` with its window calls and columns read from `items`, the SELECT list; none when one is not in
// the list.
std::optional<Expression> OverItems(const Expression& e, const std::vector<Expression>& items) {
  if (e.is_input() || e.kind == Expression::Kind::kOver) {
    const auto found = std::find(items.begin(), items.end(), e);
    if (found == items.end()) return std::nullopt;
    return Expression::Input(static_cast<int>(found - items.begin()), e.type);
  }
  Expression copy = e;
  for (Expression& operand : copy.operands) {
    std::optional<Expression> over = OverItems(operand, items);
    if (!over) return std::nullopt;
    operand = *std::move(over);
  }
  return copy;
}

// QUALIFY on what the SELECT list gives, written as WHERE over it; null when it is no such thing.
LogicalPointer Unqualified(const LogicalFilter& filter, const LogicalNode& input) {
  const auto* project = input.as<LogicalProject>();
  if (!project || !filter.condition.is_input()) return nullptr;
  const int last = input.schema.size() - 1;
  if (filter.condition.column != last || input.schema.name(last) != "QualifyExpression")
    return nullptr;
  LogicalProject items{{project->expressions.begin(), project->expressions.end() - 1},
                       project->ttl_hints};
  std::optional<Expression> condition = OverItems(project->expressions.back(), items.expressions);
  if (!condition) return nullptr;
  const Schema schema({input.schema.fields().begin(), input.schema.fields().end() - 1});
  LogicalPointer list = MakeLogical(std::move(items), input.inputs, schema);
  return MakeLogical(LogicalFilter{*std::move(condition)}, {std::move(list)}, schema);
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
    scan.whole = whole_;
    return MakePhysical(std::move(scan), {}, node.schema);
  }

  Result<PhysicalPointer> On(const LogicalValues& op, const LogicalNode& node, const Needed&) {
    return MakePhysical(PhysicalValues{op.rows}, {}, node.schema);
  }

  Result<PhysicalPointer> On(const LogicalProject& op, const LogicalNode& node,
                             const Needed& needed) {
    std::vector<Expression> projections = op.expressions;
    std::vector<std::string> names = node.schema.names();
    const LogicalNode* below = node.inputs[0].get();
    for (const auto* next = below->as<LogicalProject>(); next; next = below->as<LogicalProject>()) {
      if (HasOverCalls(projections) && HasOverCalls(next->expressions)) break;
      if (!IsMergeable(next->expressions, projections, std::nullopt)) break;
      if (IsIdentity(projections, below->schema)) names = below->schema.names();
      for (Expression& e : projections) e = Substitute(e, next->expressions);
      below = below->inputs[0].get();
    }
    const bool has_over = HasOverCalls(projections);
    const bool qualifies = std::exchange(qualifies_, false);
    Columns used;
    std::optional<Columns> below_window;
    if (has_over) below_window = ColumnsBelowWindow(projections);
    if (below_window) used = *below_window;
    // A window takes all columns unless a projection has to compute one below it.
    const bool keeps_all = has_over && !qualifies && !below_window;
    for (size_t i = 0; i < projections.size(); ++i) {
      if (has_over || !needed || Contains(*needed, static_cast<int>(i)))
        AddInputs(projections[i], &used);
    }
    CalcParts parts{std::move(projections), std::move(names), std::nullopt};
    LogicalPointer plain_filter;
    if (const auto* filter = below->as<LogicalFilter>(); filter && !has_over) {
      const LogicalNode& list = below->input();
      const bool from_qualify =
          list.as<LogicalProject>() && list.schema.fields().back().name == "QualifyExpression";
      qualifies_ = from_qualify;
      plain_filter = Unqualified(*filter, list);
      if (plain_filter) {
        below = plain_filter.get();
        filter = below->as<LogicalFilter>();
      }
      AddInputs(filter->condition, &used);
      std::sort(used.begin(),
                used.end());  // a projection that sinks below a filter puts columns in their order
      RT_ASSIGN(PhysicalPointer input, Convert(below->input(), Needed(used)));
      return OverFilter(std::move(input), std::move(parts), filter->condition, from_qualify);
    }
    whole_ = keeps_all;
    RT_ASSIGN(PhysicalPointer input, Convert(*below, keeps_all ? Needed() : Needed(used)));
    whole_ = false;
    if (has_over) return MakeOver(std::move(input), std::move(parts), !qualifies, context_);
    return MakeCalc(std::move(input), std::move(parts), context_);
  }

  static bool HasOverCalls(const std::vector<Expression>& projections) {
    return std::any_of(projections.begin(), projections.end(), HasOver);
  }

  // A projection that only drops columns sinks below the filter, and its aliases are lost with it:
  // names are those of what lies below. So they are with an identity. spec: what Flink's plans
  // show.
  Result<PhysicalPointer> OverFilter(PhysicalPointer input, CalcParts parts,
                                     const Expression& condition, bool from_qualify) {
    const bool keeps_aliases = KeepsAliases(*input, condition, from_qualify);
    if (IsIdentity(parts.projections, input->schema) && !keeps_aliases) {
      parts.names = input->schema.names();
    }
    const bool sinks = Covers(parts.projections, condition) && !(from_qualify && keeps_aliases);
    parts.condition = condition;
    RT_ASSIGN(PhysicalPointer made, MakeCalc(std::move(input), std::move(parts), context_));
    const auto* calc = made->as<PhysicalCalc>();
    if (!sinks || !calc || !calc->condition || !Covers(calc->projections, *calc->condition))
      return made;
    std::vector<std::string> names;
    for (const Expression& e : calc->projections)
      names.push_back(FreedName(made->input().schema.name(e.column), names));
    Schema schema = SchemaOf(calc->projections, names);
    return MakePhysical(*calc, made->inputs, std::move(schema));
  }

  // An identity over a filter that fixes the number of a ranking (rn = 2) is no identity any more,
  // since a literal takes the number's place; its aliases stay unless the ranking was given a list
  // of columns.
  static bool KeepsAliases(const PhysicalNode& input, const Expression& condition,
                           bool from_qualify) {
    if (!input.as<PhysicalOverAggregate>()) return false;
    const auto* below = input.input().as<PhysicalCalc>();
    if (!from_qualify && below && !below->condition && IsAscendingSubset(below->projections))
      return false;
    const int number = input.schema.size() - 1;
    const std::vector<Expression> parts = Conjuncts(condition);
    return std::any_of(parts.begin(), parts.end(), [number](const Expression& e) {
      return e.is_call("=") && ((e.operands[0].is_input() && e.operands[0].column == number &&
                                 e.operands[1].is_literal()) ||
                                (e.operands[1].is_input() && e.operands[1].column == number &&
                                 e.operands[0].is_literal()));
    });
  }

  // `w0$o0_0` is called `w0$o0` again where the column that had the name is gone.
  static std::string FreedName(const std::string& name, const std::vector<std::string>& used) {
    const size_t tail = name.rfind('_');
    if (!name.starts_with("w0$o") || tail == std::string::npos) return name;
    const std::string plain = name.substr(0, tail);
    return std::find(used.begin(), used.end(), plain) == used.end() ? plain : name;
  }

  // Ascending plain columns, those of the condition among them.
  static bool Covers(const std::vector<Expression>& projections, const Expression& condition) {
    if (!IsAscendingSubset(projections)) return false;
    const std::vector<int> read = InputsOf(condition);
    return std::all_of(read.begin(), read.end(), [&](int column) {
      return std::any_of(projections.begin(), projections.end(),
                         [column](const Expression& e) { return e.column == column; });
    });
  }

  Result<PhysicalPointer> On(const LogicalFilter& op, const LogicalNode& node,
                             const Needed& needed) {
    Needed below = needed;
    if (below) AddInputs(op.condition, &*below);
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), below));
    return MakeFilter(std::move(input), op.condition, context_);
  }

  Result<PhysicalPointer> On(const LogicalAggregate& op, const LogicalNode& node, const Needed&) {
    Columns used = op.group;
    for (const AggregateCall& call : op.calls) {
      for (int column : call.arguments) Add(column, &used);
      if (call.filter >= 0) Add(call.filter, &used);
    }
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), Needed(used)));
    RT_ASSIGN(std::optional<PhysicalPointer> unpermuted, WithoutPermutation(input, node.input()));
    if (!unpermuted) return MakeAggregate(std::move(input), op, node.schema, context_);
    return OverUnpermuted(*std::move(unpermuted), *input->as<PhysicalCalc>(), op, node.schema);
  }

  // A scan that projects puts metadata columns behind the physical ones, whatever the query's
  // order.
  static bool ScansMetadata(const PhysicalNode& node, const std::set<int>& columns) {
    const auto* scan = node.as<PhysicalScan>();
    return scan && Projects(node) &&
           std::any_of(columns.begin(), columns.end(), [scan](int column) {
             const int position = scan->columns[static_cast<size_t>(column)];
             return scan->table->columns[static_cast<size_t>(position)].kind ==
                    TableColumn::Kind::kMetadata;
           });
  }

  // GROUP BY reads columns in any order, so a projection that only changes their order is not made.
  Result<std::optional<PhysicalPointer>> WithoutPermutation(const PhysicalPointer& input,
                                                            const LogicalNode& logical) {
    const auto* calc = input->as<PhysicalCalc>();
    const auto* project = logical.as<LogicalProject>();
    if (!calc || !project) return std::optional<PhysicalPointer>();
    std::set<int> columns;
    for (const Expression& e : calc->projections) {
      if (!e.is_input() || !columns.insert(e.column).second)
        return std::optional<PhysicalPointer>();
    }
    if (IsAscendingSubset(calc->projections)) return std::optional<PhysicalPointer>();
    if (calc->condition) {
      for (int column : InputsOf(*calc->condition)) {
        if (columns.count(column) == 0) return std::optional<PhysicalPointer>();
      }
    } else if (static_cast<int>(columns.size()) != input->input().schema.size() &&
               !ScansMetadata(input->input(), columns)) {
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
      return static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), below) -
                              sorted.begin());
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
      const auto place = std::find(aggregate.group.begin(), aggregate.group.end(), column) -
                         aggregate.group.begin();
      back.projections.push_back(
          Expression::Input(static_cast<int>(place), input->schema.type(column)));
      back.names.push_back(input->schema.name(column));
    }
    for (int i = static_cast<int>(op.group.size()); i < schema.size(); ++i) {
      fields.push_back(schema.field(i));
      back.projections.push_back(Expression::Input(i, schema.type(i)));
      back.names.push_back(schema.name(i));
    }
    RT_ASSIGN(PhysicalPointer made,
              MakeAggregate(std::move(input), aggregate, Schema(std::move(fields)), context_));
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
  Result<PhysicalPointer> Coerced(PhysicalPointer branch, const std::vector<std::string>& names,
                                  const Schema& schema) {
    CalcParts spec{InputsOfAll(branch->schema), names, std::nullopt};
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

  Result<PhysicalPointer> On(const LogicalUnion& op, const LogicalNode& node,
                             const Needed& needed) {
    std::vector<PhysicalPointer> inputs;
    for (const LogicalPointer& input : node.inputs) {
      RT_ASSIGN(PhysicalPointer converted, Convert(*input, op.all ? needed : std::nullopt));
      RT_ASSIGN(converted, Coerced(std::move(converted), input->schema.names(), node.schema));
      if (!IsEmptyValues(*converted)) inputs.push_back(std::move(converted));
    }
    if (inputs.empty()) return EmptyValues(node.schema);
    PhysicalPointer all = inputs[0];
    if (inputs.size() > 1) {
      std::vector<Field> fields;
      for (int i = 0; i < node.schema.size(); ++i)
        fields.push_back({inputs[0]->schema.name(i), node.schema.type(i)});
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

  Result<PhysicalPointer> On(const LogicalWatermarkAssigner& op, const LogicalNode& node,
                             const Needed& needed) {
    const Schema& schema = node.schema;
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), std::nullopt));
    Columns kept;
    if (needed && !RowtimeInFront(*needed, op.rowtime)) {
      kept = *needed;
      Add(op.rowtime, &kept);
      AddInputs(op.watermark, &kept);
    }
    if (kept.empty() || static_cast<int>(kept.size()) == schema.size() ||
        input->as<PhysicalScan>()) {
      if (!(input->as<PhysicalScan>() && Projects(*input) && !kept.empty())) {
        return Assigned(std::move(input), op.rowtime, op.watermark, schema);
      }
    }
    // Only what is read above goes through the assigner; the Calc on top puts the columns back
    // where they were.
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
      above.projections.push_back(at >= 0 ? Expression::Input(at, schema.type(i))
                                          : Expression::Null(schema.type(i)));
      above.names.push_back(schema.name(i));
    }
    RT_ASSIGN(input, MakeCalc(std::move(input), std::move(below), context_));
    RT_ASSIGN(PhysicalPointer assigned,
              Assigned(std::move(input), mapping[static_cast<size_t>(op.rowtime)],
                       Remap(op.watermark, mapping), Schema(std::move(fields))));
    return MakeCalc(std::move(assigned), std::move(above), context_);
  }

  static bool Projects(const PhysicalNode& node) {
    const auto* scan = node.as<PhysicalScan>();
    return scan && scan->table->source && scan->table->source->projection;
  }

  // Flink's rule gives up when it would have to add the row time in front of a column that is read.
  static bool RowtimeInFront(const Columns& needed, int rowtime) {
    if (Contains(needed, rowtime)) return false;
    return std::any_of(needed.begin(), needed.end(),
                       [rowtime](int column) { return column > rowtime; });
  }

  Result<PhysicalPointer> Assigned(PhysicalPointer input, int rowtime, const Expression& watermark,
                                   Schema schema) {
    if (const auto* scan = input->as<PhysicalScan>();
        scan && (watermark.is_call("SOURCE_WATERMARK") ||
                 (scan->table->source && scan->table->source->watermark))) {
      PhysicalScan copy = *scan;
      copy.watermark =
          TableWatermark{rowtime, watermark, watermark.is_call("SOURCE_WATERMARK"), ""};
      return MakePhysical(std::move(copy), {}, std::move(schema));
    }
    return MakePhysical(PhysicalWatermarkAssigner{rowtime, watermark}, {std::move(input)},
                        std::move(schema));
  }

  Result<PhysicalPointer> On(const LogicalSink& op, const LogicalNode& node, const Needed&) {
    RT_ASSIGN(PhysicalPointer input, Convert(node.input(), std::nullopt));
    PhysicalSink sink;
    sink.table = op.table;
    sink.target_columns = op.target_columns;
    sink.hint_options = op.hint_options;
    sink.conflict = op.conflict;
    sink.overwrite = op.overwrite;
    Schema schema = input->schema;
    return MakePhysical(std::move(sink), {std::move(input)}, std::move(schema));
  }

  bool qualifies_ = false;  // the next projection was written with QUALIFY
  bool whole_ = false;      // a window takes all columns of the scan that comes next
  PlannerContext& context_;
};

}  // namespace

Result<PhysicalPointer> ToRel(const LogicalNode& node, PlannerContext& context) {
  return Converter(context).Convert(node, std::nullopt);
}

}  // namespace rowtide

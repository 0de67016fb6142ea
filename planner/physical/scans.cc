#include "planner/physical/scans.h"

#include <algorithm>
#include <set>

#include "planner/rules/calcs.h"

namespace rowtide {
namespace {

std::set<int> ReadBy(const PhysicalCalc& calc) {
  std::set<int> columns;
  for (const Expression& e : calc.projections) {
    for (int column : InputsOf(e)) columns.insert(column);
  }
  if (calc.condition) {
    for (int column : InputsOf(*calc.condition)) columns.insert(column);
  }
  return columns;
}

PhysicalPointer Narrowed(const PhysicalPointer& scan_node, const std::vector<int>& columns) {
  PhysicalScan scan = *scan_node->as<PhysicalScan>();
  std::vector<Field> fields;
  std::vector<int> kept;
  for (int column : columns) {
    kept.push_back(scan.columns[static_cast<size_t>(column)]);
    fields.push_back(scan_node->schema.field(column));
  }
  scan.columns = std::move(kept);
  scan.projected = true;
  return MakePhysical(std::move(scan), {}, Schema(std::move(fields)));
}

std::vector<int> MappingOf(const std::vector<int>& kept, int columns) {
  std::vector<int> mapping(static_cast<size_t>(columns), -1);
  for (size_t i = 0; i < kept.size(); ++i)
    mapping[static_cast<size_t>(kept[i])] = static_cast<int>(i);
  return mapping;
}

// Not through MakeCalc: physical Calcs that stand on each other stay apart, as in Flink.
PhysicalPointer PhysicalCalcOver(PhysicalPointer input, CalcParts spec) {
  if (!spec.condition && IsIdentity(spec.projections, input->schema)) return input;
  Schema schema = SchemaOf(spec.projections, spec.names);
  return MakePhysical(PhysicalCalc{std::move(spec.projections), std::move(spec.condition)},
                      {std::move(input)}, std::move(schema));
}

CalcParts Remapped(const PhysicalNode& node, const std::vector<int>& mapping) {
  const auto& calc = *node.as<PhysicalCalc>();
  CalcParts spec;
  for (const Expression& e : calc.projections) spec.projections.push_back(Remap(e, mapping));
  spec.names = node.schema.names();
  if (calc.condition) spec.condition = Remap(*calc.condition, mapping);
  return spec;
}

Result<PhysicalPointer> Pushed(const PhysicalPointer& node) {
  const auto& calc = *node->as<PhysicalCalc>();
  PhysicalPointer scan_node = node->inputs[0];
  const SourceAbilities& abilities = *scan_node->as<PhysicalScan>()->table->source;
  if (calc.condition && abilities.filter) {
    PhysicalScan scan = *scan_node->as<PhysicalScan>();
    scan.filters = Conjuncts(*calc.condition);
    scan.filter_tried = true;
    scan_node = MakePhysical(std::move(scan), {}, scan_node->schema);
  }
  if (!abilities.projection || scan_node->as<PhysicalScan>()->whole)
    return PhysicalCalcOver(scan_node, {calc.projections, node->schema.names(), calc.condition});
  const std::set<int> read = ReadBy(calc);
  std::vector<int> kept(read.begin(), read.end());
  const bool only_columns =
      !calc.condition && std::all_of(calc.projections.begin(), calc.projections.end(),
                                     [](const Expression& e) { return e.is_input(); });
  if (only_columns && read.size() == calc.projections.size()) {
    kept.clear();
    for (const Expression& e : calc.projections) kept.push_back(e.column);
  }
  if (kept.empty()) kept.push_back(0);  // COUNT(*) reads the first column
  const int columns = scan_node->schema.size();
  if (static_cast<int>(kept.size()) == columns && std::is_sorted(kept.begin(), kept.end())) {
    return PhysicalCalcOver(scan_node, {calc.projections, node->schema.names(), calc.condition});
  }
  const std::vector<int> mapping = MappingOf(kept, columns);
  PhysicalPointer narrow = Narrowed(scan_node, kept);
  // Filters told to the connector are over the columns that are left.
  PhysicalScan scan = *narrow->as<PhysicalScan>();
  for (Expression& filter : scan.filters) filter = Remap(filter, mapping);
  narrow = MakePhysical(std::move(scan), {}, narrow->schema);
  return PhysicalCalcOver(narrow, Remapped(*node, mapping));
}

bool NeedsNormalize(const PhysicalScan& scan, const PlannerContext& context) {
  const ChangelogMode& mode = scan.table->source->mode;
  if (mode.insert_only()) return false;
  if (mode.update_after && !mode.update_before) return true;
  return context.options.cdc_events_duplicate;
}

Status CheckMode(const PhysicalScan& scan, const PlannerContext& context) {
  const CatalogTable& table = *scan.table;
  const ChangelogMode& mode = table.source->mode;
  if (mode.update_before && !mode.update_after) {
    return Status::Plan("table {} says that it gives -U but no +U; no source can",
                        Quote(table.path.ToString()))
        .WithKind(ErrorKind::kValidate);
  }
  if (!NeedsNormalize(scan, context) || !table.primary_key.empty()) return Status::Ok();
  if (mode.update_after && !mode.update_before) {
    return Status::Plan("table {} gives +U without -U, so it needs a PRIMARY KEY",
                        Quote(table.path.ToString()))
        .WithHint("add PRIMARY KEY (…) NOT ENFORCED to the table");
  }
  return Status::Plan(
      "'table.exec.source.cdc-events-duplicate' is on, so table {} needs a PRIMARY KEY",
      Quote(table.path.ToString()));
}

}  // namespace

Result<PhysicalPointer> PlainScan(const PhysicalPointer& scan_node, PlannerContext& context) {
  const auto& scan = *scan_node->as<PhysicalScan>();
  if (!scan.table->source) {
    return Status::Plan("table {} cannot be read: connector {} is for writing only",
                        Quote(scan.table->path.ToString()), Quote(scan.table->connector()))
        .WithKind(ErrorKind::kValidate);
  }
  RT_TRY(CheckMode(scan, context));
  if (!NeedsNormalize(scan, context)) return scan_node;
  std::vector<int> keys;
  for (int column : scan.table->primary_key) {
    const auto found = std::find(scan.columns.begin(), scan.columns.end(), column);
    if (found == scan.columns.end())
      return Status::Internal("key column {} is not scanned", column);
    keys.push_back(static_cast<int>(found - scan.columns.begin()));
  }
  std::sort(keys.begin(), keys.end());
  PhysicalPointer rows = MakePhysical(PhysicalExchange{keys}, {scan_node}, scan_node->schema);
  return MakePhysical(PhysicalChangelogNormalize{keys, std::nullopt}, {std::move(rows)},
                      scan_node->schema);
}

Result<PhysicalPointer> CalcOverScan(const PhysicalPointer& node, PlannerContext& context) {
  RT_ASSIGN(PhysicalPointer scan, PlainScan(node->inputs[0], context));
  if (scan->as<PhysicalScan>()) return Pushed(node);
  auto copy = std::make_shared<PhysicalNode>(*node);
  copy->inputs = {std::move(scan)};
  return CalcOverNormalize(copy, context);
}

Result<PhysicalPointer> CalcOverNormalize(const PhysicalPointer& node,
                                          PlannerContext& /*context*/) {
  const auto& calc = *node->as<PhysicalCalc>();
  const PhysicalPointer& normalize_node = node->inputs[0];
  const auto& normalize = *normalize_node->as<PhysicalChangelogNormalize>();
  if (normalize.condition) return node;
  const PhysicalPointer& rows = normalize_node->input().inputs[0];  // below the Exchange
  const std::set<int> keys(normalize.keys.begin(), normalize.keys.end());
  std::vector<Expression> on_key, others;
  if (calc.condition) {
    for (Expression& part : Conjuncts(*calc.condition)) {
      const std::vector<int> columns = InputsOf(part);
      const bool only_keys =
          !columns.empty() &&
          std::all_of(columns.begin(), columns.end(), [&](int c) { return keys.count(c) > 0; });
      (only_keys ? on_key : others).push_back(std::move(part));
    }
  }
  std::set<int> read(keys);
  const auto add = [&read](const Expression& e) {
    for (int column : InputsOf(e)) read.insert(column);
  };
  for (const Expression& e : calc.projections) add(e);
  for (const Expression& e : others) add(e);
  const std::vector<int> kept(read.begin(), read.end());
  const std::vector<int> mapping = MappingOf(kept, rows->schema.size());
  CalcParts below;
  for (int column : kept) {
    below.projections.push_back(Expression::Input(column, rows->schema.type(column)));
    below.names.push_back(rows->schema.name(column));
  }
  if (!on_key.empty()) below.condition = AndOf(std::move(on_key));
  PhysicalPointer input = rows;
  if (const auto* stacked = rows->as<PhysicalCalc>(); stacked && !stacked->condition) {
    CalcParts merged;
    merged.names = below.names;
    for (const Expression& e : below.projections)
      merged.projections.push_back(Substitute(e, stacked->projections));
    if (below.condition) merged.condition = Substitute(*below.condition, stacked->projections);
    input = PhysicalCalcOver(rows->inputs[0], std::move(merged));
  } else {
    input = PhysicalCalcOver(input, std::move(below));
  }
  std::vector<int> narrow_keys;
  for (int key : normalize.keys) narrow_keys.push_back(mapping[static_cast<size_t>(key)]);
  PhysicalChangelogNormalize narrow{narrow_keys, std::nullopt};
  if (!others.empty()) narrow.condition = Remap(AndOf(std::move(others)), mapping);
  Schema schema = input->schema;
  input = MakePhysical(PhysicalExchange{narrow_keys}, {std::move(input)}, schema);
  input = MakePhysical(std::move(narrow), {std::move(input)}, schema);
  CalcParts above;
  for (const Expression& e : calc.projections) above.projections.push_back(Remap(e, mapping));
  above.names = node->schema.names();
  return PhysicalCalcOver(std::move(input), std::move(above));
}

PhysicalPointer WithLimit(const PhysicalPointer& scan_node, int64_t rows) {
  const auto* scan = scan_node->as<PhysicalScan>();
  if (!scan || !scan->table->source->limit || !scan->filters.empty()) return scan_node;
  PhysicalScan copy = *scan;
  copy.limit = rows;
  return MakePhysical(std::move(copy), {}, scan_node->schema);
}

}  // namespace rowtide

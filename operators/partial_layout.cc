#include "operators/partial_layout.h"

#include <algorithm>

#include "engine/status.h"

namespace rowtide {
namespace {

// Numbers the columns as they come: `sum$1`.
class Columns {
 public:
  int Add(const char* name, Type type) {
    schema_.Add({std::string(name) + "$" + std::to_string(schema_.size()), type});
    return schema_.size() - 1;
  }
  int AddNamed(std::string name, Type type) {
    schema_.Add({std::move(name), type});
    return schema_.size() - 1;
  }
  Schema Take() { return std::move(schema_); }

 private:
  Schema schema_;
};

const char* ValueName(AggregateFunction function) {
  switch (function) {
    case AggregateFunction::kMin: return "min";
    case AggregateFunction::kMax: return "max";
    case AggregateFunction::kFirstValue: return "first_value";
    case AggregateFunction::kLastValue: return "last_value";
    case AggregateFunction::kListAgg: return "listagg";
    case AggregateFunction::kCount: return "count";
    case AggregateFunction::kSum:
    case AggregateFunction::kSum0:
    case AggregateFunction::kAverageSum:
    case AggregateFunction::kExactSum:
    case AggregateFunction::kAvg: return "sum";
  }
  return "";
}

std::vector<int> AddColumns(const Aggregation& call, const Schema& raw_input, Columns* columns) {
  const bool star = call.arguments.empty();
  const Type count = call.distinct ? Type::BigInt() : Type::BigInt().NotNull();
  if (call.function == AggregateFunction::kCount)
    return {columns->Add(star ? "count1" : "count", count)};
  const Type argument = raw_input.type(call.arguments[0]).Nullable().WithoutTimeAttribute();
  if (ScansValues(call) && !call.distinct)
    return {columns->Add(ValueName(call.function), Type::Bytes())};
  if (SumsExactly(call, argument)) {
    std::vector<int> out{columns->Add("sum", Type::Bytes())};
    if (call.function != AggregateFunction::kSum0) out.push_back(columns->Add("count", count));
    return out;
  }
  switch (call.function) {
    case AggregateFunction::kSum: {
      std::vector<int> out{columns->Add("sum", call.type.Nullable())};
      if (call.retracts) out.push_back(columns->Add("count", count));
      return out;
    }
    case AggregateFunction::kAvg: {
      const int sum = columns->Add("sum", AverageSumType(argument));
      return {sum, columns->Add("count", count)};
    }
    case AggregateFunction::kListAgg: {
      if (ScansValues(call)) return {columns->Add("listagg", Type::Bytes())};
      const int delimiter = columns->Add("accDelimiter", Type::String());
      return {columns->Add("concatAcc", Type::String()), delimiter};
    }
    case AggregateFunction::kSum0: return {columns->Add("sum", call.type.Nullable())};
    case AggregateFunction::kMin:
    case AggregateFunction::kMax:
    case AggregateFunction::kFirstValue:
    case AggregateFunction::kLastValue: return {columns->Add(ValueName(call.function), argument)};
    case AggregateFunction::kAverageSum:
    case AggregateFunction::kExactSum:
    case AggregateFunction::kCount: break;
  }
  return {};
}

}  // namespace

int PartialLayout::DistinctSet::FilterNumber(int filter) const {
  return static_cast<int>(std::find(filters.begin(), filters.end(), filter) - filters.begin());
}

const PartialLayout::DistinctSet& PartialLayout::SetOf(const Aggregation& call) const {
  for (const DistinctSet& set : distinct_sets) {
    if (set.arguments == call.arguments) return set;
  }
  RT_CHECK(false);
  __builtin_unreachable();
}

PartialLayout LayoutOfPartials(const std::vector<Aggregation>& calls, bool counts_rows,
                               int count_star, const Schema& raw_input) {
  PartialLayout layout;
  Columns columns;
  for (const Aggregation& call : calls)
    layout.columns.push_back(AddColumns(call, raw_input, &columns));
  if (count_star >= 0) {
    layout.row_count = layout.columns[static_cast<size_t>(count_star)][0];
  } else if (counts_rows) {
    layout.row_count = columns.Add("count1", Type::BigInt().NotNull());
  }
  for (const Aggregation& call : calls) {
    if (!call.distinct) continue;
    auto set = std::find_if(
        layout.distinct_sets.begin(), layout.distinct_sets.end(),
        [&](const PartialLayout::DistinctSet& each) { return each.arguments == call.arguments; });
    if (set == layout.distinct_sets.end()) {
      const std::string name = "distinct$" + std::to_string(layout.distinct_sets.size());
      layout.distinct_sets.push_back({call.arguments, {}, columns.AddNamed(name, Type::Bytes())});
      set = layout.distinct_sets.end() - 1;
    }
    if (set->FilterNumber(call.filter) == static_cast<int>(set->filters.size()))
      set->filters.push_back(call.filter);
  }
  layout.schema = columns.Take();
  return layout;
}

Type AverageSumType(const Type& argument) {
  if (argument.kind == TypeKind::kDecimal)
    return Type::Decimal(kMaxDecimalPrecision, argument.scale);
  return IsApproximate(argument) ? Type::Double() : Type::BigInt();
}

Schema LogSchema(const Schema& raw_input, const std::vector<int>& arguments) {
  Schema schema;
  for (int column : arguments) {
    schema.Add({raw_input.name(column), raw_input.type(column).Nullable().WithoutTimeAttribute()});
  }
  return schema;
}

void AppendLogHeader(bool retracts, uint8_t filter, size_t row_bytes, std::string* log) {
  const uint32_t size = static_cast<uint32_t>(row_bytes);
  log->push_back(retracts ? 1 : 0);
  log->push_back(static_cast<char>(filter));
  log->append(reinterpret_cast<const char*>(&size), sizeof(size));
}

LogEntry TakeLogEntry(std::string_view* log) {
  RT_CHECK(log->size() >= kLogHeaderBytes);
  LogEntry entry;
  entry.retracts = (*log)[0] != 0;
  entry.filter = static_cast<uint8_t>((*log)[1]);
  uint32_t size;
  std::memcpy(&size, log->data() + 2, sizeof(size));
  RT_CHECK(log->size() >= kLogHeaderBytes + size);
  entry.row = log->substr(kLogHeaderBytes, size);
  log->remove_prefix(kLogHeaderBytes + size);
  return entry;
}

}  // namespace rowtide

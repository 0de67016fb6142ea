#include "operators/group_calls.h"

#include <algorithm>
#include <cstring>

namespace rowtide {

// The rows of a batch, or those of a log column: the changes of each partial row, in order.
struct GroupCalls::RowSet {
  // --- a log ---
  int column = -1;
  uint8_t filter = 0;
  Schema schema;
  std::unique_ptr<RowCodec> codec;
  EncodedRows null_row;
  std::vector<const char*> pointers;
  std::vector<uint8_t> steps;
  std::vector<int32_t> units;
  RowBatch unpacked;
  // --- what runs ---
  const RowBatch* batch = nullptr;
  GroupRows rows;

  void Unpack(const RowBatch& partials, const GroupRows& partial_rows);
  void Add(const char* row, int step, int unit) {
    pointers.push_back(row);
    steps.push_back(static_cast<uint8_t>(step));
    units.push_back(unit);
  }
};

void GroupCalls::RowSet::Unpack(const RowBatch& partials, const GroupRows& partial_rows) {
  pointers.clear();
  steps.clear();
  units.clear();
  const Column& logs = partials.columns[static_cast<size_t>(column)];
  for (int row = 0; row < partial_rows.rows; ++row) {
    const uint8_t step = partial_rows.steps[row];
    if (step == 0) continue;
    const int unit = partial_rows.unit(row);
    const size_t first = steps.size();
    std::string_view log =
        logs.IsNull(row) ? std::string_view() : logs.values<StringView>()[row].view();
    while (!log.empty()) {
      const LogEntry entry = TakeLogEntry(&log);
      if (entry.filter == filter)
        Add(entry.row.data(), kStepApply | (entry.retracts ? kStepRetract : 0), unit);
    }
    if (steps.size() == first) Add(null_row.row(0).data(), 0, unit);
    steps[first] |= step & (kStepInit | kStepOpen);
    steps.back() |= step & (kStepClose | kStepEnd);
  }
  unpacked.rows = static_cast<int>(steps.size());
  unpacked.columns.clear();
  for (int i = 0; i < schema.size(); ++i)
    unpacked.columns.push_back(codec->GatherColumn(pointers, i));
  batch = &unpacked;
  rows = {unpacked.rows, steps.data(), units.data(), partial_rows.entries};
}

struct GroupCalls::Filtered {
  int from = 0;  // sources
  int to = 0;
  int column = 0;

  void Run(const RowBatch& batch, const GroupRows& rows, std::vector<uint8_t>* steps) const {
    const Column& condition = batch.columns[static_cast<size_t>(column)];
    steps->assign(rows.steps, rows.steps + rows.rows);
    for (int row = 0; row < rows.rows; ++row) {
      const bool passes = !condition.IsNull(row) && condition.values<uint8_t>()[row] != 0;
      if (!passes)
        (*steps)[static_cast<size_t>(row)] &= static_cast<uint8_t>(~(kStepApply | kStepRetract));
    }
  }
};

struct GroupCalls::Distinct {
  int from = 0;
  int to = 0;
  std::vector<int> arguments;
  std::unique_ptr<DistinctValues> values;
};

struct GroupCalls::Simple {
  int call = 0;
  int source = 0;
  AggregateKernel kernel = nullptr;
  int offset = 0;
  int argument = -1;
  int second = -1;
};

struct GroupCalls::Extremes {
  int source = 0;
  int argument = 0;
  std::unique_ptr<ExtremeValues> values;
  std::vector<int> calls;
  std::vector<CollectionTarget> targets;
};

struct GroupCalls::Listed {
  int source = 0;
  int argument = 0;
  int offset = 0;
  std::unique_ptr<ValueList> values;
  std::vector<int> calls;
  std::vector<CollectionTarget> targets;
};

GroupCalls::GroupCalls() = default;
GroupCalls::~GroupCalls() = default;

Result<std::unique_ptr<GroupCalls>> GroupCalls::Create(std::vector<Aggregation> calls,
                                                       const Schema& input, int header_bytes,
                                                       const OperatorContext& context) {
  std::unique_ptr<GroupCalls> made(new GroupCalls());
  RT_TRY(made->Build(std::move(calls), input, header_bytes, context, nullptr, 0));
  return made;
}

Result<std::unique_ptr<GroupCalls>> GroupCalls::CreateMerging(std::vector<Aggregation> calls,
                                                              const Schema& raw_input,
                                                              const PartialLayout& layout,
                                                              int first_column, int header_bytes,
                                                              const OperatorContext& context) {
  std::unique_ptr<GroupCalls> made(new GroupCalls());
  RT_TRY(made->Build(std::move(calls), raw_input, header_bytes, context, &layout, first_column));
  return made;
}

namespace {

// What the kernels of the call write.
Layout ResultLayout(const Aggregation& call, const Schema& input) {
  if (call.function == AggregateFunction::kCount) return Layout::kInt64;
  const Type& argument = input.type(call.arguments[0]);
  if (call.function == AggregateFunction::kAverageSum) return LayoutOf(AverageSumType(argument));
  if (call.function == AggregateFunction::kExactSum) return Layout::kBytes;
  const bool adds = call.function == AggregateFunction::kSum ||
                    call.function == AggregateFunction::kSum0 ||
                    call.function == AggregateFunction::kAvg;
  return adds && argument.kind == TypeKind::kDecimal ? Layout::kInt128 : LayoutOf(argument);
}

Status CheckCall(const Aggregation& call, const Schema& input) {
  for (int column : call.arguments) {
    if (column < 0 || column >= input.size())
      return Status::Internal("{} of column {}", Name(call.function), column);
  }
  if (call.filter >= input.size()) return Status::Internal("FILTER by column {}", call.filter);
  if (call.filter >= 0 && input.type(call.filter).kind != TypeKind::kBoolean) {
    return Status::InvalidArgument("FILTER needs a condition, not {}",
                                   ToString(input.type(call.filter)));
  }
  if (call.arguments.empty() && call.function != AggregateFunction::kCount) {
    return Status::InvalidArgument("{} needs an argument", Name(call.function));
  }
  if (call.arguments.size() > 1 && call.function != AggregateFunction::kListAgg) {
    return Status::Plan("{} takes one column, not {}", Name(call.function), call.arguments.size());
  }
  const Layout layout = ResultLayout(call, input);
  if (layout != LayoutOf(call.type)) {
    return Status::Internal("{} of {} does not give {}", Name(call.function),
                            ToString(input.type(call.arguments[0])), ToString(call.type));
  }
  return Status::Ok();
}

}  // namespace

Status GroupCalls::Build(std::vector<Aggregation> calls, const Schema& input, int header_bytes,
                         const OperatorContext& context, const PartialLayout* layout,
                         int first_column) {
  entry_bytes_ = header_bytes;
  exact_sums_ = !context.flink_compat;
  sets_.push_back(std::make_unique<RowSet>());
  sources_.push_back({});
  for (const Aggregation& call : calls) {
    RT_TRY(CheckCall(call, input));
    before_.emplace_back(LayoutOf(call.type));
    after_.emplace_back(LayoutOf(call.type));
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    const Aggregation& call = calls[i];
    const int index = static_cast<int>(i);
    if (!layout || (!call.distinct && !ScansValues(call))) {
      int source = 0;
      if (!layout) {
        source = FilterSource(0, call.filter);
        if (call.distinct) source = DistinctSource(source, call.arguments, input, context);
      }
      if (ScansValues(call)) {
        AddScanning(index, call, input, call.arguments, source, context);
      } else {
        RT_TRY(AddSimple(index, call, input, source, layout, first_column));
      }
      continue;
    }
    // Over partials: the values come out of a log, whose columns are the arguments in order.
    const Schema values = LogSchema(input, call.arguments);
    std::vector<int> arguments;
    for (int k = 0; k < values.size(); ++k) arguments.push_back(k);
    int source;
    if (call.distinct) {
      const PartialLayout::DistinctSet& set = layout->SetOf(call);
      const int filter = set.FilterNumber(call.filter);
      source = LogSet(first_column + set.column, static_cast<uint8_t>(filter), values);
      source = DistinctSource(source, arguments, values, context);
    } else {
      source = LogSet(first_column + layout->columns[i][0], 0, values);
    }
    Aggregation unpacked = call;
    unpacked.arguments = arguments;
    if (ScansValues(call)) {
      AddScanning(index, unpacked, values, arguments, source, context);
    } else {
      RT_TRY(AddSimple(index, unpacked, values, source, nullptr, 0));
    }
  }
  return Status::Ok();
}

int GroupCalls::Take(int bytes, bool text) {
  const int offset = entry_bytes_;
  if (text) text_offsets_.push_back(offset);
  entry_bytes_ += bytes;
  return offset;
}

Status GroupCalls::AddSimple(int index, const Aggregation& call, const Schema& input, int source,
                             const PartialLayout* layout, int first_column) {
  const Type argument = call.arguments.empty() ? Type::BigInt() : input.type(call.arguments[0]);
  RT_ASSIGN(const AccumulatorPlan plan,
            layout ? PlanMerge(call, argument) : PlanAccumulator(call, argument, exact_sums_));
  Simple simple;
  simple.call = index;
  simple.source = source;
  simple.kernel = plan.kernel;
  simple.offset = Take(plan.bytes, plan.text);
  if (layout) {
    const std::vector<int>& columns = layout->columns[static_cast<size_t>(index)];
    simple.argument = first_column + columns[0];
    if (columns.size() > 1) simple.second = first_column + columns[1];
  } else {
    if (!call.arguments.empty()) simple.argument = call.arguments[0];
    if (call.arguments.size() > 1) simple.second = call.arguments[1];
  }
  simple_.push_back(simple);
  return Status::Ok();
}

void GroupCalls::AddScanning(int index, const Aggregation& call, const Schema& input,
                             const std::vector<int>& arguments, int source,
                             const OperatorContext& context) {
  const int argument = arguments[0];
  CollectionTarget target;
  target.function = call.function;
  if (arguments.size() > 1) target.second = arguments[1];
  if (call.function == AggregateFunction::kMin || call.function == AggregateFunction::kMax) {
    target.offset = Take(ExtremeValues::EntryBytes(input.type(argument)),
                         ExtremeValues::HasText(input.type(argument)));
    auto same = std::find_if(extremes_.begin(), extremes_.end(), [&](const Extremes& each) {
      return each.source == source && each.argument == argument;
    });
    if (same == extremes_.end()) {
      extremes_.push_back(
          {source, argument, ExtremeValues::Create(input, argument, context), {}, {}});
      same = extremes_.end() - 1;
    }
    same->calls.push_back(index);
    same->targets.push_back(target);
    return;
  }
  auto same = std::find_if(listed_.begin(), listed_.end(), [&](const Listed& each) {
    return each.source == source && each.argument == argument;
  });
  if (same == listed_.end()) {
    const int offset = Take(ValueList::kEntryBytes, false);
    listed_.push_back(
        {source, argument, offset, std::make_unique<ValueList>(input, argument, context), {}, {}});
    same = listed_.end() - 1;
  }
  same->calls.push_back(index);
  same->targets.push_back(target);
}

int GroupCalls::FilterSource(int source, int filter) {
  if (filter < 0) return source;
  for (const Filtered& each : filtered_) {
    if (each.from == source && each.column == filter) return each.to;
  }
  const int made = static_cast<int>(sources_.size());
  sources_.push_back({sources_[static_cast<size_t>(source)].set, {}, true});
  filtered_.push_back({source, made, filter});
  return made;
}

int GroupCalls::DistinctSource(int source, const std::vector<int>& arguments, const Schema& input,
                               const OperatorContext& context) {
  for (const Distinct& each : distinct_) {
    if (each.from == source && each.arguments == arguments) return each.to;
  }
  const int made = static_cast<int>(sources_.size());
  sources_.push_back({sources_[static_cast<size_t>(source)].set, {}, true});
  distinct_.push_back(
      {source, made, arguments, std::make_unique<DistinctValues>(input, arguments, context)});
  return made;
}

int GroupCalls::LogSet(int column, uint8_t filter, const Schema& schema) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    const RowSet& set = *sets_[static_cast<size_t>(sources_[i].set)];
    if (set.column == column && set.filter == filter && !sources_[i].own_steps)
      return static_cast<int>(i);
  }
  auto set = std::make_unique<RowSet>();
  set->column = column;
  set->filter = filter;
  set->schema = schema;
  set->codec = std::make_unique<RowCodec>(schema);
  const std::vector<Value> nulls(static_cast<size_t>(schema.size()));
  const Status encoded =
      set->codec->EncodeAll(rowtide::BatchOf(schema, {{RowKind::kInsert, nulls}}), &set->null_row);
  RT_CHECK(encoded.ok());
  sets_.push_back(std::move(set));
  sources_.push_back({static_cast<int>(sets_.size()) - 1, {}, false});
  return static_cast<int>(sources_.size()) - 1;
}

std::vector<StatePart*> GroupCalls::parts() {
  std::vector<StatePart*> parts;
  for (Distinct& each : distinct_) parts.push_back(each.values->part());
  for (Extremes& each : extremes_) parts.push_back(each.values->part());
  for (Listed& each : listed_) {
    for (StatePart* part : each.values->parts()) parts.push_back(part);
  }
  return parts;
}

void GroupCalls::Show(const Schema& input, const KeyCodec& key, ShownStates* shown) {
  for (Distinct& each : distinct_) shown->push_back(each.values->Shown(input, key));
  for (Extremes& each : extremes_) shown->push_back(each.values->Shown(input, key));
  for (Listed& each : listed_) shown->push_back(each.values->Shown(input, key));
}

Status GroupCalls::Find(const KeyBatch& keys) {
  for (Distinct& each : distinct_) RT_TRY(each.values->Find(keys));
  for (Extremes& each : extremes_) RT_TRY(each.values->Find(keys));
  for (Listed& each : listed_) RT_TRY(each.values->Find(keys));
  return Status::Ok();
}

void GroupCalls::Settle() {
  for (Distinct& each : distinct_) each.values->Settle();
  for (Extremes& each : extremes_) each.values->Settle();
  for (Listed& each : listed_) each.values->Settle();
}

GroupRows GroupCalls::RowsOf(int source) const {
  const Source& from = sources_[static_cast<size_t>(source)];
  GroupRows rows = sets_[static_cast<size_t>(from.set)]->rows;
  if (from.own_steps) rows.steps = from.steps.data();
  return rows;
}

const RowBatch& GroupCalls::BatchOf(int source) const {
  return *sets_[static_cast<size_t>(sources_[static_cast<size_t>(source)].set)]->batch;
}

void GroupCalls::Run(const RowBatch& batch, const GroupRows& rows, int units,
                     StringBlocks* strings) {
  sets_[0]->batch = &batch;
  sets_[0]->rows = rows;
  for (size_t i = 1; i < sets_.size(); ++i) sets_[i]->Unpack(batch, rows);
  for (ResultColumn& column : before_) column.Resize(units);
  for (ResultColumn& column : after_) column.Resize(units);
  for (const Filtered& each : filtered_) {
    each.Run(BatchOf(each.from), RowsOf(each.from), &sources_[static_cast<size_t>(each.to)].steps);
  }
  for (Distinct& each : distinct_) {
    each.values->Run(BatchOf(each.from), RowsOf(each.from),
                     &sources_[static_cast<size_t>(each.to)].steps);
  }
  for (const Simple& each : simple_) {
    const RowBatch& from = BatchOf(each.source);
    AggregatePass pass;
    pass.rows = RowsOf(each.source);
    pass.offset = each.offset;
    if (each.argument >= 0) pass.argument = &from.columns[static_cast<size_t>(each.argument)];
    if (each.second >= 0) pass.second = &from.columns[static_cast<size_t>(each.second)];
    pass.strings = strings;
    pass.before = &before_[static_cast<size_t>(each.call)];
    pass.after = &after_[static_cast<size_t>(each.call)];
    each.kernel(pass);
  }
  const auto aim = [this](const std::vector<int>& calls, std::vector<CollectionTarget>* targets) {
    for (size_t i = 0; i < calls.size(); ++i) {
      (*targets)[i].before = &before_[static_cast<size_t>(calls[i])];
      (*targets)[i].after = &after_[static_cast<size_t>(calls[i])];
    }
  };
  for (Extremes& each : extremes_) {
    aim(each.calls, &each.targets);
    each.values->Run(BatchOf(each.source), RowsOf(each.source), each.targets, strings);
  }
  for (Listed& each : listed_) {
    aim(each.calls, &each.targets);
    each.values->Run(BatchOf(each.source), RowsOf(each.source), each.offset, each.targets, strings);
  }
}

namespace {

template <typename T>
bool SameNumber(T before, T after, bool nan_equals_nan) {
  return nan_equals_nan ? CompareNumbers(before, after) == 0 : before == after;
}

bool SameResult(const ResultColumn& before, const ResultColumn& after, int unit,
                bool nan_equals_nan) {
  if (before.IsNull(unit) || after.IsNull(unit)) return before.IsNull(unit) && after.IsNull(unit);
  switch (before.layout()) {
    case Layout::kBool:
    case Layout::kInt8: return *before.at(unit) == *after.at(unit);
    case Layout::kInt16: return before.Get<int16_t>(unit) == after.Get<int16_t>(unit);
    case Layout::kInt32: return before.Get<int32_t>(unit) == after.Get<int32_t>(unit);
    case Layout::kInt64: return before.Get<int64_t>(unit) == after.Get<int64_t>(unit);
    case Layout::kFloat:
      return SameNumber(before.Get<float>(unit), after.Get<float>(unit), nan_equals_nan);
    case Layout::kDouble:
      return SameNumber(before.Get<double>(unit), after.Get<double>(unit), nan_equals_nan);
    case Layout::kInt128: return before.Get<int128>(unit) == after.Get<int128>(unit);
    case Layout::kWideTime: return before.Get<WideTime>(unit) == after.Get<WideTime>(unit);
    case Layout::kBytes: return before.Get<StringView>(unit) == after.Get<StringView>(unit);
  }
  return false;
}

}  // namespace

bool GroupCalls::Unchanged(int unit) const {
  for (size_t i = 0; i < before_.size(); ++i) {
    if (!SameResult(before_[i], after_[i], unit, exact_sums_)) return false;
  }
  return true;
}

}  // namespace rowtide

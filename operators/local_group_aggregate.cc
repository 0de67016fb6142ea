#include "operators/local_group_aggregate.h"

#include <algorithm>
#include <cstring>

#include "operators/group_output.h"
#include "operators/shown_rows.h"

namespace rowtide {
namespace {

constexpr int kFlushKeys = kBatchRows;

// Does the row count for a FILTER column, -1 being none?
bool Passes(const RowBatch& batch, int filter, int row) {
  if (filter < 0) return true;
  const Column& condition = batch.columns[static_cast<size_t>(filter)];
  return !condition.IsNull(row) && condition.values<uint8_t>()[row] != 0;
}

Column AllNull(Layout layout, int rows) {
  ColumnBuilder builder(layout);
  builder.Reserve(rows);
  for (int i = 0; i < rows; ++i) builder.AppendNull();
  return builder.Finish();
}

}  // namespace

Schema LocalGroupAggregate::OutputSchema(const LocalGroupAggregateSpec& spec, const Schema& input) {
  Schema schema;
  for (int column : spec.group) schema.Add(input.field(column));
  const PartialLayout layout =
      LayoutOfPartials(spec.calls, spec.counts_rows, spec.count_star, input);
  for (const Field& field : layout.schema.fields()) schema.Add(field);
  return schema;
}

Result<std::unique_ptr<Operator>> LocalGroupAggregate::Create(LocalGroupAggregateSpec spec,
                                                              const Schema& input,
                                                              const OperatorContext& context) {
  if (!spec.mini_batch.enabled())
    return Status::Internal("the first phase of an aggregate works in mini-batches");
  std::unique_ptr<LocalGroupAggregate> made(
      new LocalGroupAggregate(std::move(spec), input, context));
  RT_TRY(made->Plan(input, context));
  return std::unique_ptr<Operator>(std::move(made));
}

LocalGroupAggregate::LocalGroupAggregate(LocalGroupAggregateSpec spec, const Schema& input,
                                         const OperatorContext& context)
    : KeyedOperator("local_group_aggregate", OutputSchema(spec, input)),
      spec_(std::move(spec)),
      input_(input),
      layout_(LayoutOfPartials(spec_.calls, spec_.counts_rows, spec_.count_star, input)),
      key_codec_(input, spec_.group, context.flink_compat),
      row_codec_(input),
      bundle_(context) {
  bundle_.CheckRows([this](std::string_view row) { return row_codec_.Check(row); });
  Register(&bundle_);
}

Status LocalGroupAggregate::Plan(const Schema& input, const OperatorContext& context) {
  std::vector<Aggregation> calls;
  parts_.resize(static_cast<size_t>(layout_.schema.size()));
  for (size_t i = 0; i < parts_.size(); ++i)
    parts_[i].layout = LayoutOf(layout_.schema.type(static_cast<int>(i)));
  for (size_t i = 0; i < spec_.calls.size(); ++i)
    PlanCall(spec_.calls[i], layout_.columns[i], input, &calls);
  if (spec_.counts_rows && spec_.count_star < 0) {
    Part& count = parts_[static_cast<size_t>(layout_.row_count)];
    count.kind = Part::Kind::kCall;
    count.index = static_cast<int>(calls.size());
    calls.push_back({AggregateFunction::kCount, {}, -1, false, false, Type::BigInt().NotNull()});
  }
  for (const PartialLayout::DistinctSet& set : layout_.distinct_sets) {
    Part& part = parts_[static_cast<size_t>(set.column)];
    part.kind = Part::Kind::kLog;
    part.index = static_cast<int>(logs_.size());
    logs_.push_back({set.arguments, set.filters, RowCodec(LogSchema(input, set.arguments)), {}});
  }
  RT_ASSIGN(calls_, GroupCalls::Create(std::move(calls), input, 0, context));
  return Status::Ok();
}

void LocalGroupAggregate::PlanCall(const Aggregation& call, const std::vector<int>& columns,
                                   const Schema& input, std::vector<Aggregation>* calls) {
  if (call.distinct) return;  // its columns are NULL, its values are in the log of its arguments
  const auto part = [&](size_t i, Part::Kind kind, int index) {
    Part& to = parts_[static_cast<size_t>(columns[i])];
    to.kind = kind;
    to.index = index;
  };
  if (ScansValues(call)) {
    part(0, Part::Kind::kLog, static_cast<int>(logs_.size()));
    logs_.push_back(
        {call.arguments, {call.filter}, RowCodec(LogSchema(input, call.arguments)), {}});
    return;
  }
  Aggregation first = call;
  Aggregation count{AggregateFunction::kCount, call.arguments, call.filter, false, false,
                    Type::BigInt().NotNull()};
  if (call.function == AggregateFunction::kSum && call.retracts)
    first.function = AggregateFunction::kSum0;
  if (call.function == AggregateFunction::kAvg) {
    first.function = AggregateFunction::kAverageSum;
    first.type = AverageSumType(input.type(call.arguments[0]));
  }
  if (!call.arguments.empty() && SumsExactly(call, input.type(call.arguments[0]))) {
    first.function = AggregateFunction::kExactSum;
    first.type = Type::Bytes();
  }
  part(0, Part::Kind::kCall, static_cast<int>(calls->size()));
  calls->push_back(first);
  if (columns.size() < 2) return;
  if (call.function == AggregateFunction::kListAgg) {
    part(1, Part::Kind::kSeparator, call.arguments.size() > 1 ? call.arguments[1] : -1);
    return;
  }
  part(1, Part::Kind::kCall, static_cast<int>(calls->size()));
  calls->push_back(count);
}

ShownStates LocalGroupAggregate::Shown() {
  ShownStates shown;
  shown.push_back(ShowBundle({"bundle", input_, key_codec_, input_}, &bundle_, &row_codec_));
  return shown;
}

Status LocalGroupAggregate::Process(int /*input*/, const RowBatch& batch, Collector& out) {
  RT_TRY(key_codec_.Encode(batch, &keys_));
  RT_TRY(row_codec_.EncodeAll(batch, &encoded_));
  for (int row = 0; row < batch.rows; ++row) {
    bundle_.Append(bundle_.FindOrAdd(keys_.key(row), keys_.hash(row)), batch.kind(row),
                   encoded_.row(row));
    bundle_.CountRow();
    if (bundle_.rows_added() >= spec_.mini_batch.size) RT_TRY(Flush(out));
  }
  return Status::Ok();
}

Status LocalGroupAggregate::Advance(int /*input*/, Time time, Collector& out) {
  if (time.kind != Time::Kind::kIdle) RT_TRY(Flush(out));
  return out.Advance(time);
}

Status LocalGroupAggregate::Flush(Collector& out) {
  for (int first = 0; first < bundle_.keys(); first += kFlushKeys) RT_TRY(FlushKeys(first, out));
  bundle_.Clear();
  return Status::Ok();
}

Status LocalGroupAggregate::FlushKeys(int first, Collector& out) {
  const int units = std::min(kFlushKeys, bundle_.keys() - first);
  GatherRows(bundle_, row_codec_, first, units, &rows_);
  const RowBatch& batch = rows_.batch;
  steps_.assign(static_cast<size_t>(batch.rows), kStepApply);
  for (int row = 0; row < batch.rows; ++row) {
    if (!Adds(batch.kind(row))) steps_[static_cast<size_t>(row)] |= kStepRetract;
  }
  // Entries live for this flush only.
  const size_t entry_bytes = static_cast<size_t>(calls_->entry_bytes());
  const std::vector<int>& text_offsets = calls_->text_offsets();
  entries_.assign(entry_bytes * static_cast<size_t>(units), 0);
  texts_.resize(text_offsets.size() * static_cast<size_t>(units));
  unit_entries_.clear();
  results_.clear();
  for (int unit = 0; unit < units; ++unit) {
    char* const entry = entries_.data() + entry_bytes * static_cast<size_t>(unit);
    for (size_t i = 0; i < text_offsets.size(); ++i) {
      const TextCell cell{&texts_[text_offsets.size() * static_cast<size_t>(unit) + i], 0};
      std::memcpy(entry + text_offsets[i], &cell, sizeof(cell));
    }
    unit_entries_.push_back(entry);
    results_.push_back(unit * 2 + 1);
    const size_t begin =
        unit == 0 ? 0 : static_cast<size_t>(rows_.last_rows[static_cast<size_t>(unit) - 1] + 1);
    steps_[begin] |= kStepInit;
    steps_[static_cast<size_t>(rows_.last_rows[static_cast<size_t>(unit)])] |= kStepClose;
  }
  calls_->Run(batch, {batch.rows, steps_.data(), rows_.units.data(), unit_entries_.data()}, units,
              &strings_);

  RowBatch groups;
  groups.rows = batch.rows;
  groups.blocks = batch.blocks;
  for (int column : spec_.group)
    groups.columns.push_back(batch.columns[static_cast<size_t>(column)]);
  RowBatch result = Select(groups, rows_.last_rows);
  for (const Part& part : parts_) result.columns.push_back(PartOf(part, units));
  for (BlockPointer& block : strings_.Finish()) result.blocks.push_back(std::move(block));
  return out.Emit(std::move(result));
}

Column LocalGroupAggregate::PartOf(const Part& part, int units) {
  switch (part.kind) {
    case Part::Kind::kCall:
      return GatherResults(calls_->before(part.index), calls_->after(part.index), results_.data(),
                           results_.size());
    case Part::Kind::kLog: return LogColumn(&logs_[static_cast<size_t>(part.index)], units);
    case Part::Kind::kNull: return AllNull(part.layout, units);
    case Part::Kind::kSeparator: break;
  }
  ColumnBuilder builder(Layout::kBytes);
  builder.Reserve(units);
  for (int unit = 0; unit < units; ++unit) {
    if (part.index < 0) {
      builder.Append(StringView(std::string_view(",")));
      continue;
    }
    const int row = rows_.last_rows[static_cast<size_t>(unit)];
    const Column& separators = rows_.batch.columns[static_cast<size_t>(part.index)];
    if (separators.IsNull(row)) {
      builder.AppendNull();
    } else {
      builder.Append(separators.values<StringView>()[row]);
    }
  }
  return builder.Finish();
}

Column LocalGroupAggregate::LogColumn(Log* log, int units) {
  RowBatch arguments;
  arguments.rows = rows_.batch.rows;
  for (int column : log->arguments)
    arguments.columns.push_back(rows_.batch.columns[static_cast<size_t>(column)]);
  const Status encoded = log->codec.EncodeAll(arguments, &log->rows);
  RT_CHECK(encoded.ok());  // parts of rows that have been encoded before
  ColumnBuilder builder(Layout::kBytes);
  builder.Reserve(units);
  std::string text;
  int row = 0;
  for (int unit = 0; unit < units; ++unit) {
    text.clear();
    for (; row <= rows_.last_rows[static_cast<size_t>(unit)]; ++row) {
      for (size_t filter = 0; filter < log->filters.size(); ++filter) {
        if (!Passes(rows_.batch, log->filters[filter], row)) continue;
        const std::string_view bytes = log->rows.row(row);
        AppendLogHeader(!Adds(rows_.batch.kind(row)), static_cast<uint8_t>(filter), bytes.size(),
                        &text);
        text.append(bytes);
      }
    }
    builder.Append(strings_.Copy(text));
  }
  return builder.Finish();
}

}  // namespace rowtide

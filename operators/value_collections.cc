#include "operators/value_collections.h"

#include <cstring>
#include <string>
#include <type_traits>

#include "operators/arrival_key.h"
#include "operators/number_extremes.h"
#include "state/value_bytes.h"

namespace rowtide {
namespace {

constexpr int64_t kCollectionGraceMillis = 60'000;

std::vector<SortField> Ascending(const std::vector<int>& columns) {
  std::vector<SortField> fields;
  for (int column : columns) fields.push_back({column, false, true, false});
  return fields;
}

int64_t CountIn(const char* row) {
  int64_t count;
  std::memcpy(&count, row, sizeof(count));
  return count;
}

// The count of a value after the change; a value with the count 0 is not kept. `put_value` writes
// what follows the count.
template <typename PutValue>
int64_t Bump(OrderedState* state, Entry key, SortKeyView value, int64_t delta, size_t value_bytes,
             const PutValue& put_value) {
  const OrderedState::Cursor cursor = state->Seek(key, value);
  if (OrderedState::Has(cursor, value)) {
    char* row = state->MutableRow(key, cursor);
    const int64_t count = CountIn(row) + delta;
    if (count == 0) {
      state->Erase(key, cursor.position());
    } else {
      std::memcpy(row, &count, sizeof(count));
    }
    return count;
  }
  char* const row = state->InsertRoom(key, value, sizeof(int64_t) + value_bytes, 0).room;
  std::memcpy(row, &delta, sizeof(delta));
  put_value(row + sizeof(delta));
  return delta;
}

// Fetches what the rows ahead will touch: first their entries, then the nodes these point to.
void PrefetchAhead(const OrderedState& state, const std::vector<Entry>& keys, const GroupRows& rows,
                   int row) {
  constexpr int kFar = 16;
  constexpr int kNear = 8;
  if (row + kFar < rows.rows) state.Prefetch(keys[static_cast<size_t>(rows.unit(row + kFar))]);
  if (row + kNear < rows.rows) {
    state.PrefetchRows(keys[static_cast<size_t>(rows.unit(row + kNear))]);
  }
}

void Empty(OrderedState* state, Entry key) {
  if (state->rows(key) > 0) state->EraseAll(key);
}

size_t ValueBytes(Layout layout, const Column& column, int row) {
  if (layout == Layout::kBytes) return column.values<StringView>()[row].size();
  return static_cast<size_t>(WidthOf(layout));
}

const char* ValueData(Layout layout, const Column& column, int row) {
  if (layout == Layout::kBytes) return column.values<StringView>()[row].data();
  return column.data() + static_cast<size_t>(row) * static_cast<size_t>(WidthOf(layout));
}

// --- MIN and MAX ---

int CompareValues(WideTime a, WideTime b) {
  if (a.millis != b.millis) return a.millis < b.millis ? -1 : 1;
  return a.nanos == b.nanos ? 0 : (a.nanos < b.nanos ? -1 : 1);
}
template <typename T>
int CompareValues(T a, T b) {
  return CompareNumbers(a, b);
}

// The cached extreme of one target in the entry: | value | values: i64 |, `values` being how many
// distinct ones are there.
template <typename T>
class FixedExtreme {
 public:
  using Value = T;
  static constexpr int kBytes = static_cast<int>(sizeof(T) + sizeof(int64_t));

  explicit FixedExtreme(char* at) : at_(at) {}
  void Begin() { std::memset(at_, 0, kBytes); }
  int64_t values() const { return CountIn(at_ + sizeof(T)); }
  void set_values(int64_t values) { std::memcpy(at_ + sizeof(T), &values, sizeof(values)); }
  int CompareTo(T value) const {
    T best;
    std::memcpy(&best, at_, sizeof(T));
    return CompareValues(value, best);
  }
  void Set(T value) { std::memcpy(at_, &value, sizeof(T)); }
  void SetStored(std::string_view stored) { std::memcpy(at_, stored.data(), sizeof(T)); }
  void Clear() { std::memset(at_, 0, sizeof(T)); }
  void Emit(StringBlocks*, ResultColumn* to, int unit) const {
    values() > 0 ? to->PutBytes(unit, at_) : to->PutNull(unit);
  }

 private:
  char* at_;
};

class TextExtreme {
 public:
  using Value = StringView;
  static constexpr int kBytes = static_cast<int>(sizeof(TextCell) + sizeof(int64_t));

  explicit TextExtreme(char* at) : at_(at) {}
  void Begin() {
    set_values(0);
    Clear();
  }
  int64_t values() const { return CountIn(at_ + sizeof(TextCell)); }
  void set_values(int64_t values) { std::memcpy(at_ + sizeof(TextCell), &values, sizeof(values)); }
  int CompareTo(StringView value) const { return value.view().compare(text()); }
  void Set(StringView value) { text().assign(value.view()); }
  void SetStored(std::string_view stored) { text().assign(stored); }
  void Clear() { text().clear(); }
  void Emit(StringBlocks* strings, ResultColumn* to, int unit) const {
    values() > 0 ? to->Put(unit, strings->Copy(text())) : to->PutNull(unit);
  }

 private:
  std::string& text() const {
    TextCell cell;
    std::memcpy(&cell, at_, sizeof(cell));
    return *cell.text;
  }
  char* at_;
};

// Flink's rules, kept to the letter so that retractions of unknown values give the same rows.
template <typename Cell>
void Added(Cell cell, bool is_max, typename Cell::Value value, int64_t count) {
  const bool better =
      cell.values() == 0 || (is_max ? cell.CompareTo(value) > 0 : cell.CompareTo(value) < 0);
  if (better) cell.Set(value);
  if (count == 1) cell.set_values(cell.values() + 1);
}

template <typename Cell>
void Removed(Cell cell, bool is_max, typename Cell::Value value, int64_t count,
             const OrderedState& state, Entry key) {
  if (count != 0) return;
  cell.set_values(cell.values() - 1);
  if (cell.values() == 0) return cell.Clear();
  if (cell.CompareTo(value) != 0) return;
  const int64_t rows = state.rows(key);
  if (rows == 0) {
    cell.set_values(0);
    return cell.Clear();
  }
  const OrderedState::Cursor best = state.At(key, is_max ? rows - 1 : 0);
  cell.SetStored(best.row().substr(sizeof(int64_t)));
}

// --- what comes from outside ---

bool IsValue(Layout layout, std::string_view bytes) {
  return layout == Layout::kBytes || bytes.size() == static_cast<size_t>(WidthOf(layout));
}

Status CheckBytes(bool are_right, std::string_view bytes) {
  if (are_right) return Status::Ok();
  return Status::Corruption("a value of a group in the state has {} bytes", bytes.size());
}

// --- looking ---

Schema ColumnsOf(const Schema& input, const std::vector<int>& columns) {
  Schema schema;
  for (const int column : columns) schema.Add(input.field(column));
  return schema;
}

std::string NamesOf(const Schema& schema) {
  const std::vector<std::string> names = schema.names();
  return fmt::format("{}", fmt::join(names, ", "));
}

// Values, which are the sort keys, and how often each is there.
std::unique_ptr<ShownState> ShowCounts(const std::string& name, const Schema& input,
                                       const KeyCodec& key, const Schema& values,
                                       const SortKeyCodec& codec, OrderedState* state) {
  Schema shown = values;
  shown.Add({"count", Type::BigInt().NotNull()});
  return ShowEntries<OrderedState>(
      {name, input, key, shown}, state,
      [state, &codec, shown](Entry entry, ShownRows& rows) -> Status {
        for (OrderedState::Cursor at = state->Begin(entry); at.valid(); at.Next()) {
          RT_ASSIGN(std::vector<Value> row, codec.Decode(at.sort_key()));
          row.emplace_back(CountIn(at.row().data()));
          RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
          for (int i = 0; i < shown.size(); ++i)
            builder->AppendValue(i, shown.type(i), row[static_cast<size_t>(i)]);
        }
        return Status::Ok();
      });
}

}  // namespace

Ttl CollectionTtl(const OperatorContext& context) {
  if (context.state_ttl_millis <= 0) return Ttl();
  return Ttl(context.clock, context.state_ttl_millis + kCollectionGraceMillis);
}

// --- DISTINCT ---

DistinctValues::DistinctValues(const Schema& input, const std::vector<int>& arguments,
                               const OperatorContext& context)
    : state_(context, CollectionTtl(context)),
      arguments_(ColumnsOf(input, arguments)),
      codec_(input, Ascending(arguments)) {
  state_.CheckRows([](std::string_view, std::string_view row) {
    return CheckBytes(row.size() == sizeof(int64_t), row);
  });
}

std::unique_ptr<ShownState> DistinctValues::Shown(const Schema& input, const KeyCodec& key) {
  return ShowCounts("distinct " + NamesOf(arguments_), input, key, arguments_, codec_, &state_);
}

void DistinctValues::Run(const RowBatch& batch, const GroupRows& rows,
                         std::vector<uint8_t>* steps) {
  codec_.Encode(batch, 0, &values_);
  steps->assign(rows.steps, rows.steps + rows.rows);
  for (int row = 0; row < rows.rows; ++row) {
    const uint8_t step = rows.steps[row];
    PrefetchAhead(state_, keys_, rows, row);
    if (step == 0) continue;
    const Entry key = keys_[static_cast<size_t>(rows.unit(row))];
    if (step & kStepInit) Empty(&state_, key);
    if (step & kStepApply) {
      const bool retracts = (step & kStepRetract) != 0;
      const int64_t count =
          Bump(&state_, key, values_.view(row), retracts ? -1 : 1, 0, [](char*) {});
      const bool changes = retracts ? count == 0 : count == 1;
      if (!changes)
        (*steps)[static_cast<size_t>(row)] &= static_cast<uint8_t>(~(kStepApply | kStepRetract));
      state_.Touch(key);
    }
    if (step & kStepEnd) Empty(&state_, key);
  }
}

// --- MIN and MAX ---

ValueCounts::ValueCounts(const Schema& input, int argument, const OperatorContext& context)
    : state_(context, CollectionTtl(context)),
      argument_(argument),
      values_schema_(ColumnsOf(input, {argument})),
      layout_(LayoutOf(input.type(argument))),
      codec_(input, Ascending({argument})) {
  state_.CheckRows([layout = layout_](std::string_view, std::string_view row) {
    return CheckBytes(row.size() >= sizeof(int64_t) &&
                          IsValue(layout, row.substr(std::min(row.size(), sizeof(int64_t)))),
                      row);
  });
}

std::unique_ptr<ShownState> ValueCounts::Shown(const Schema& input, const KeyCodec& key) {
  return ShowCounts("values of " + NamesOf(values_schema_), input, key, values_schema_, codec_,
                    &state_);
}

std::unique_ptr<ExtremeValues> ExtremeValues::Create(const Schema& input, int argument,
                                                     const OperatorContext& context) {
  if (NumberExtremes::Holds(input.type(argument)))
    return std::make_unique<NumberExtremes>(input, argument, context);
  return std::make_unique<ValueCounts>(input, argument, context);
}

int ExtremeValues::EntryBytes(const Type& argument) {
  const Layout layout = LayoutOf(argument);
  if (layout == Layout::kBytes) return TextExtreme::kBytes;
  return WidthOf(layout) + static_cast<int>(sizeof(int64_t));
}

template <typename Cell>
void ValueCounts::RunAs(const RowBatch& batch, const GroupRows& rows,
                        const std::vector<CollectionTarget>& targets, StringBlocks* strings) {
  using Value = typename Cell::Value;
  const Column& argument = batch.columns[static_cast<size_t>(argument_)];
  const Value* values = argument.values<Value>();
  codec_.Encode(batch, 0, &values_);
  for (int row = 0; row < rows.rows; ++row) {
    const uint8_t step = rows.steps[row];
    PrefetchAhead(state_, keys_, rows, row);
    if (step == 0) continue;
    const int unit = rows.unit(row);
    char* const entry = rows.entries[unit];
    const Entry key = keys_[static_cast<size_t>(unit)];
    if (step & kStepInit) {
      Empty(&state_, key);
      for (const CollectionTarget& target : targets) Cell(entry + target.offset).Begin();
    }
    if (step & kStepOpen) {
      for (const CollectionTarget& target : targets)
        Cell(entry + target.offset).Emit(strings, target.before, unit);
    }
    if ((step & kStepApply) && !argument.IsNull(row)) {
      const bool retracts = (step & kStepRetract) != 0;
      const int64_t count = Bump(&state_, key, values_.view(row), retracts ? -1 : 1,
                                 ValueBytes(layout_, argument, row), [&](char* to) {
                                   std::memcpy(to, ValueData(layout_, argument, row),
                                               ValueBytes(layout_, argument, row));
                                 });
      for (const CollectionTarget& target : targets) {
        const bool is_max = target.function == AggregateFunction::kMax;
        if (retracts) {
          Removed(Cell(entry + target.offset), is_max, values[row], count, state_, key);
        } else {
          Added(Cell(entry + target.offset), is_max, values[row], count);
        }
      }
    }
    if (step & kStepApply) state_.Touch(key);
    if (step & kStepClose) {
      for (const CollectionTarget& target : targets)
        Cell(entry + target.offset).Emit(strings, target.after, unit);
    }
    if (step & kStepEnd) Empty(&state_, key);
  }
}

void ValueCounts::Run(const RowBatch& batch, const GroupRows& rows,
                      const std::vector<CollectionTarget>& targets, StringBlocks* strings) {
  switch (layout_) {
    case Layout::kBool:
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64: RT_CHECK(false); return;  // whole numbers have NumberExtremes
    case Layout::kFloat: return RunAs<FixedExtreme<float>>(batch, rows, targets, strings);
    case Layout::kDouble: return RunAs<FixedExtreme<double>>(batch, rows, targets, strings);
    case Layout::kInt128: return RunAs<FixedExtreme<int128>>(batch, rows, targets, strings);
    case Layout::kWideTime: return RunAs<FixedExtreme<WideTime>>(batch, rows, targets, strings);
    case Layout::kBytes: return RunAs<TextExtreme>(batch, rows, targets, strings);
  }
}

// --- FIRST_VALUE, LAST_VALUE, LISTAGG ---

ValueList::ValueList(const Schema& input, int argument, const OperatorContext& context)
    : by_arrival_(context, CollectionTtl(context)),
      by_value_(context, CollectionTtl(context)),
      argument_(argument),
      values_schema_(ColumnsOf(input, {argument})),
      layout_(LayoutOf(input.type(argument))),
      codec_(input, Ascending({argument})) {
  by_arrival_.CheckRows([layout = layout_](std::string_view sort, std::string_view row) {
    return CheckBytes(sort.size() == sizeof(uint64_t) && IsValue(layout, row), row);
  });
  by_value_.CheckRows([](std::string_view, std::string_view row) {
    return CheckBytes(row.size() == sizeof(uint64_t), row);
  });
}

// In the order of their arrival.
std::unique_ptr<ShownState> ValueList::Shown(const Schema& input, const KeyCodec& key) {
  return ShowEntries<OrderedState>(
      {"list of " + NamesOf(values_schema_), input, key, values_schema_}, &by_arrival_,
      [this](Entry entry, ShownRows& rows) -> Status {
        const Type& type = values_schema_.type(0);
        for (OrderedState::Cursor at = by_arrival_.Begin(entry); at.valid(); at.Next()) {
          RT_ASSIGN(BatchBuilder* const builder, rows.BeginRow());
          builder->AppendValue(0, type, ValueOfBytes(at.row(), type));
        }
        return Status::Ok();
      });
}

void ValueList::Add(Entry arrival_key, Entry value_key, const RowBatch& batch, int row,
                    char* next_arrival) {
  const Column& argument = batch.columns[static_cast<size_t>(argument_)];
  uint64_t arrival;
  std::memcpy(&arrival, next_arrival, sizeof(arrival));
  const std::string_view value{ValueData(layout_, argument, row),
                               ValueBytes(layout_, argument, row)};
  by_arrival_.Insert(arrival_key, ArrivalKey(arrival).view(), value);
  by_value_.Insert(value_key, values_.view(row),
                   {reinterpret_cast<const char*>(&arrival), sizeof(arrival)});
  ++arrival;
  std::memcpy(next_arrival, &arrival, sizeof(arrival));
}

void ValueList::RemoveOldest(Entry arrival_key, Entry value_key, int row) {
  const SortKeyView value = values_.view(row);
  const OrderedState::Cursor cursor = by_value_.Seek(value_key, value);
  if (!OrderedState::Has(cursor, value)) return;
  uint64_t arrival;
  std::memcpy(&arrival, cursor.row().data(), sizeof(arrival));
  by_value_.Erase(value_key, cursor.position());
  const int64_t position = by_arrival_.LowerBound(arrival_key, ArrivalKey(arrival).view());
  if (position < by_arrival_.rows(arrival_key)) by_arrival_.Erase(arrival_key, position);
}

void ValueList::Emit(const CollectionTarget& target, Entry arrival_key, const RowBatch& batch,
                     int row, StringBlocks* strings, ResultColumn* to, int unit) {
  const int64_t rows = by_arrival_.rows(arrival_key);
  if (rows == 0) return to->PutNull(unit);
  if (target.function == AggregateFunction::kListAgg) {
    std::string_view separator = ",";
    if (target.second >= 0) {
      const Column& column = batch.columns[static_cast<size_t>(target.second)];
      separator = column.IsNull(row) ? std::string_view() : column.values<StringView>()[row].view();
    }
    text_.clear();
    for (OrderedState::Cursor cursor = by_arrival_.Begin(arrival_key); cursor.valid();
         cursor.Next()) {
      if (cursor.position() > 0) text_.append(separator);
      text_.append(cursor.row());
    }
    return to->Put(unit, strings->Copy(text_));
  }
  const bool last = target.function == AggregateFunction::kLastValue;
  const OrderedState::Cursor cursor = by_arrival_.At(arrival_key, last ? rows - 1 : 0);
  if (layout_ == Layout::kBytes) return to->Put(unit, strings->Copy(cursor.row()));
  to->PutBytes(unit, cursor.row().data());
}

void ValueList::Run(const RowBatch& batch, const GroupRows& rows, int offset,
                    const std::vector<CollectionTarget>& targets, StringBlocks* strings) {
  const Column& argument = batch.columns[static_cast<size_t>(argument_)];
  codec_.Encode(batch, 0, &values_);
  for (int row = 0; row < rows.rows; ++row) {
    const uint8_t step = rows.steps[row];
    if (step == 0) continue;
    const int unit = rows.unit(row);
    char* const next_arrival = rows.entries[unit] + offset;
    const Entry arrival_key = arrival_keys_[static_cast<size_t>(unit)];
    const Entry value_key = value_keys_[static_cast<size_t>(unit)];
    if (step & kStepInit) {
      Empty(&by_arrival_, arrival_key);
      Empty(&by_value_, value_key);
      std::memset(next_arrival, 0, kEntryBytes);
    }
    if (step & kStepOpen) {
      for (const CollectionTarget& target : targets)
        Emit(target, arrival_key, batch, row, strings, target.before, unit);
    }
    if ((step & kStepApply) && !argument.IsNull(row)) {
      if (step & kStepRetract) {
        RemoveOldest(arrival_key, value_key, row);
      } else {
        Add(arrival_key, value_key, batch, row, next_arrival);
      }
    }
    if (step & kStepApply) {
      by_arrival_.Touch(arrival_key);
      by_value_.Touch(value_key);
    }
    if (step & kStepClose) {
      for (const CollectionTarget& target : targets)
        Emit(target, arrival_key, batch, row, strings, target.after, unit);
    }
    if (step & kStepEnd) {
      Empty(&by_arrival_, arrival_key);
      Empty(&by_value_, value_key);
    }
  }
}

}  // namespace rowtide

#include "operators/number_extremes.h"

#include <algorithm>
#include <cstring>

namespace rowtide {
namespace {

// One target's bytes in the entry.
template <typename T>
struct [[gnu::packed]] Extreme {
  T value;
  int64_t count;  // of the value: then it is the extreme; 0 = the collection tells
};

template <typename T>
Extreme<T> ExtremeAt(const char* at) {
  Extreme<T> extreme;
  std::memcpy(&extreme, at, sizeof(extreme));
  return extreme;
}

template <typename T>
void PutExtreme(char* at, Extreme<T> extreme) {
  std::memcpy(at, &extreme, sizeof(extreme));
}

bool IsMax(const CollectionTarget& target) { return target.function == AggregateFunction::kMax; }

template <typename T>
bool Beats(T value, T extreme, bool is_max) {
  return is_max ? value > extreme : value < extreme;
}

Value ValueOfNumber(int64_t number, const Type& type) {
  if (type.kind == TypeKind::kBoolean) return number != 0;
  if (type.kind == TypeKind::kDecimal) return int128{number};
  return number;
}

}  // namespace

NumberExtremes::NumberExtremes(const Schema& input, int argument, const OperatorContext& context)
    : numbers_(context, CollectionTtl(context)),
      argument_(argument),
      field_(input.field(argument)),
      layout_(LayoutOf(input.type(argument))) {}

bool NumberExtremes::Holds(const Type& argument) {
  switch (LayoutOf(argument)) {
    case Layout::kBool:
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64: return true;
    case Layout::kFloat:
    case Layout::kDouble:
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: return false;
  }
  return false;
}

void NumberExtremes::Run(const RowBatch& batch, const GroupRows& rows,
                         const std::vector<CollectionTarget>& targets, StringBlocks* /*strings*/) {
  switch (WidthOf(layout_)) {
    case 1:
      return layout_ == Layout::kBool ? RunAs<uint8_t>(batch, rows, targets)
                                      : RunAs<int8_t>(batch, rows, targets);
    case 2: return RunAs<int16_t>(batch, rows, targets);
    case 4: return RunAs<int32_t>(batch, rows, targets);
    default: return RunAs<int64_t>(batch, rows, targets);
  }
}

template <typename T>
void NumberExtremes::RunAs(const RowBatch& batch, const GroupRows& rows,
                           const std::vector<CollectionTarget>& targets) {
  // Fetched ahead: first the entry of a row, then, through it, where its value will be noted.
  constexpr int kFar = 16;
  constexpr int kNear = 8;
  const Column& argument = batch.columns[static_cast<size_t>(argument_)];
  const T* const values = argument.values<T>();
  for (int row = 0; row < rows.rows; ++row) {
    if (row + kFar < rows.rows)
      numbers_.Prefetch(keys_[static_cast<size_t>(rows.unit(row + kFar))]);
    if (row + kNear < rows.rows)
      numbers_.PrefetchLog(keys_[static_cast<size_t>(rows.unit(row + kNear))]);
    const uint8_t step = rows.steps[row];
    if (step == 0) continue;
    const int unit = rows.unit(row);
    char* const entry = rows.entries[unit];
    const Entry key = keys_[static_cast<size_t>(unit)];
    if (step & kStepInit) {
      numbers_.EraseAll(key);
      for (const CollectionTarget& target : targets) PutExtreme<T>(entry + target.offset, {0, 0});
    }
    if (step & kStepOpen) {
      for (const CollectionTarget& target : targets)
        Emit<T>(key, entry + target.offset, target.before, unit);
    }
    if ((step & kStepApply) && !argument.IsNull(row)) {
      const bool retracts = (step & kStepRetract) != 0;
      if (numbers_.negatives(key) == 0 && ChangesNoted(entry, targets, values[row], retracts)) {
        numbers_.Note(key, values[row], retracts);
      } else {
        ChangeExactly(key, entry, targets, values[row], retracts);
      }
    }
    numbers_.Touch(key);  // with every row of the group, so that it never outlives its values
    if (step & kStepClose) {
      for (const CollectionTarget& target : targets)
        Emit<T>(key, entry + target.offset, target.after, unit);
    }
    if (step & kStepEnd) numbers_.EraseAll(key);
  }
}

// True, with the extremes brought up to date, when they alone say what the change does: each of
// them is there, before and after it. No number is below zero, so nothing lies beyond them.
template <typename T>
bool NumberExtremes::ChangesNoted(char* entry, const std::vector<CollectionTarget>& targets,
                                  T value, bool retracts) const {
  for (const CollectionTarget& target : targets) {
    const Extreme<T> extreme = ExtremeAt<T>(entry + target.offset);
    if (extreme.count == 0) return false;
    if (!retracts) continue;
    if (value == extreme.value ? extreme.count == 1 : Beats<T>(value, extreme.value, IsMax(target)))
      return false;
  }
  for (const CollectionTarget& target : targets) {
    char* const at = entry + target.offset;
    const Extreme<T> extreme = ExtremeAt<T>(at);
    if (value == extreme.value) {
      PutExtreme<T>(at, {value, extreme.count + (retracts ? -1 : 1)});
    } else if (!retracts && Beats<T>(value, extreme.value, IsMax(target))) {
      PutExtreme<T>(at, {value, 1});
    }
  }
  return true;
}

// Flink's rules, kept to the letter so that retractions of unknown values give the same rows.
template <typename T>
void NumberExtremes::ChangeExactly(Entry key, char* entry,
                                   const std::vector<CollectionTarget>& targets, T value,
                                   bool retracts) {
  numbers_.Fold(key);
  const bool was_empty = numbers_.positives(key) == 0;
  const int64_t count = numbers_.Change(key, value, retracts);
  for (const CollectionTarget& target : targets) {
    Extreme<T> extreme = ExtremeAt<T>(entry + target.offset);
    if (!retracts && (was_empty || Beats<T>(value, extreme.value, IsMax(target)))) {
      extreme.value = value;
    }
    if (retracts && count == 0 && numbers_.positives(key) == 0) {
      extreme = {0, 0};
    } else if (retracts && count == 0 && value == extreme.value) {
      const CountedNumbers::Counted best =
          IsMax(target) ? numbers_.Highest(key) : numbers_.Lowest(key);
      extreme = {static_cast<T>(best.number), std::max<int64_t>(best.count, 0)};
    } else if (value == extreme.value) {
      extreme.count = std::max<int64_t>(count, 0);
    }
    PutExtreme<T>(entry + target.offset, extreme);
  }
}

template <typename T>
void NumberExtremes::Emit(Entry key, const char* at, ResultColumn* to, int unit) const {
  const Extreme<T> extreme = ExtremeAt<T>(at);
  if (extreme.count > 0 || numbers_.positives(key) > 0) {
    to->Put<T>(unit, extreme.value);
  } else {
    to->PutNull(unit);
  }
}

std::unique_ptr<ShownState> NumberExtremes::Shown(const Schema& input, const KeyCodec& key) {
  Schema shown;
  shown.Add(field_);
  shown.Add({"count", Type::BigInt().NotNull()});
  return ShowEntries<CountedNumbers>(
      {"values of " + field_.name, input, key, shown}, &numbers_,
      [this, shown](Entry entry, ShownRows& rows) -> Status {
        Status status;
        numbers_.Fold(entry);
        numbers_.ForEach(entry, [&](CountedNumbers::Counted counted) {
          const Result<BatchBuilder*> row = status.ok() ? rows.BeginRow() : status;
          status = row.status();
          if (!status.ok()) return;
          (*row)->AppendValue(0, shown.type(0), ValueOfNumber(counted.number, shown.type(0)));
          (*row)->AppendValue(1, shown.type(1), counted.count);
        });
        return status;
      });
}

}  // namespace rowtide

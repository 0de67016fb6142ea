// The aggregate functions and what each keeps per group: a few bytes of fixed width inside the
// group's state entry.
//
//   COUNT(v), SUM(v), AVG(v)      | n: i64 | sum: i32, some: u8 | sum: i64, n: i64 |
//
// An `AggregateKernel` runs one call over a whole batch: one indirect call per batch and call, none
// per row. What to do with each row was settled before and is the same for all calls, a byte of
// `Step` flags:
//
//   row      +I a    +I b    -U a    +U a       rows of the keys a and b, per-record output
//   steps    N A C   N A C   O A R C  O A C      N = the group begins, O = note the result before,
//            A = apply, R = take back instead of add, C = note the result after
//
// With mini-batch only the first row of a group opens and only the last one closes. Text
// accumulators (MIN of a STRING, LISTAGG) keep a `TextCell` in the entry; its characters follow the
// fixed part (operators/group_entries.h). Functions that must hold all values (retracting MIN,
// DISTINCT, …) are in operators/value_collections.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/batch_builder.h"
#include "engine/schema.h"
#include "engine/status.h"

namespace rowtide {

enum class AggregateFunction : uint8_t {
  kCount,
  kSum,
  kSum0,
  kAvg,
  kMin,
  kMax,
  kFirstValue,
  kLastValue,
  kListAgg,
  // What a local phase computes for SUM and AVG; no functions of SQL.
  kAverageSum,  // the first half of an AVG
  kExactSum,    // the bytes of an ExactSum
};

// `COUNT`, `SUM`, `$SUM0`, `AVG`, `MIN`, `MAX`, `FIRST_VALUE`, `LAST_VALUE`, `LISTAGG`; others are
// kUnsupported.
Result<AggregateFunction> AggregateFunctionByName(std::string_view name);
const char* Name(AggregateFunction function);

// One call of a group aggregate. Columns are those of the operator's input (of the local phase's,
// with two phases).
struct Aggregation {
  AggregateFunction function = AggregateFunction::kCount;
  std::vector<int> arguments;  // none = COUNT(*); LISTAGG may have the separator as second
  int filter = -1;             // a BOOLEAN column; only TRUE counts
  bool distinct = false;
  bool retracts = false;  // values must be able to leave; false also for MAX of what only grows
  Type type;              // of the result

  friend bool operator==(const Aggregation&, const Aggregation&) = default;
};

enum Step : uint8_t {
  kStepInit = 1,     // the group begins with this row
  kStepOpen = 2,     // note the result before this row
  kStepApply = 4,    // the row counts
  kStepRetract = 8,  // it is taken back
  kStepClose = 16,   // note the result after this row
  kStepEnd = 32,     // the group is gone after this row
};

// Results by row number: values in the layout of the result type, one null byte each.
class ResultColumn {
 public:
  ResultColumn() = default;
  explicit ResultColumn(Layout layout) : layout_(layout), width_(WidthOf(layout)) {}
  Layout layout() const { return layout_; }
  int width() const { return width_; }
  void Resize(int rows) {
    values_.resize(static_cast<size_t>(rows) * static_cast<size_t>(width_));
    nulls_.resize(static_cast<size_t>(rows));
    may_have_nulls_ = false;
  }
  template <typename T>
  void Put(int row, T value) {
    nulls_[static_cast<size_t>(row)] = 0;
    __builtin_memcpy(values_.data() + static_cast<size_t>(row) * sizeof(T), &value, sizeof(T));
  }
  void PutBytes(int row, const char* value) {
    nulls_[static_cast<size_t>(row)] = 0;
    __builtin_memcpy(values_.data() + static_cast<size_t>(row) * static_cast<size_t>(width_), value,
                     static_cast<size_t>(width_));
  }
  void PutNull(int row) {
    may_have_nulls_ = true;
    nulls_[static_cast<size_t>(row)] = 1;
    __builtin_memset(values_.data() + static_cast<size_t>(row) * static_cast<size_t>(width_), 0,
                     static_cast<size_t>(width_));
  }
  bool may_have_nulls() const { return may_have_nulls_; }
  bool IsNull(int row) const { return nulls_[static_cast<size_t>(row)] != 0; }
  const char* at(int row) const {
    return values_.data() + static_cast<size_t>(row) * static_cast<size_t>(width_);
  }
  template <typename T>
  T Get(int row) const {
    T value;
    __builtin_memcpy(&value, at(row), sizeof(T));
    return value;
  }

 private:
  Layout layout_ = Layout::kInt64;
  int width_ = 8;
  bool may_have_nulls_ = false;  // one was put since Resize
  std::vector<char> values_;
  std::vector<uint8_t> nulls_;
};

// A text value in an entry while a batch is worked off. `text` is the operator's scratch copy; a
// null pointer in state.
struct [[gnu::packed]] TextCell {
  std::string* text = nullptr;
  uint8_t present = 0;  // else NULL
};

// The rows that calls run over, and the groups they belong to. A unit is what gives one result: a
// row, or with mini-batch all rows of a group in the bundle.
struct GroupRows {
  int rows = 0;
  const uint8_t* steps = nullptr;  // per row
  const int32_t* units = nullptr;  // per row, ascending; null = each row is its own unit
  char* const* entries = nullptr;  // per unit: the fixed part of the group's entry
  int unit(int row) const { return units ? units[row] : row; }
};

// One call over one batch.
struct AggregatePass {
  GroupRows rows;
  int offset = 0;                    // of this call's bytes in the entry
  const Column* argument = nullptr;  // null: COUNT(*)
  const Column* second = nullptr;    // LISTAGG's separator; the count beside a partial sum
  StringBlocks* strings = nullptr;   // text results are copied here
  ResultColumn* before = nullptr;    // per unit
  ResultColumn* after = nullptr;
};
using AggregateKernel = void (*)(const AggregatePass& pass);

// How one call is kept and run. `text`: its bytes are a TextCell.
struct AccumulatorPlan {
  AggregateKernel kernel = nullptr;
  int bytes = 0;
  bool text = false;
};

// The accumulator of a call over its arguments (`argument`: type of the first one, ignored for
// COUNT). DISTINCT and FILTER are not looked at. `exact`: sums of FLOAT and DOUBLE that values can
// leave are exact and NaN is the largest value; else Flink's rounding and Flink's NaN
// (flink-rank-dedup.md 15.25, 15.27). Requires: not ScansValues(call).
Result<AccumulatorPlan> PlanAccumulator(const Aggregation& call, const Type& argument, bool exact);
// The call is a sum of FLOAT or DOUBLE that values can leave: exact in two phases.
bool SumsExactly(const Aggregation& call, const Type& argument);
// The same over the columns that a local phase puts out for the call
// (operators/local_group_aggregate.h).
Result<AccumulatorPlan> PlanMerge(const Aggregation& call, const Type& argument);

// True when the result is looked up among all values of the group: MIN, MAX, FIRST_VALUE,
// LAST_VALUE and LISTAGG whose values can leave.
bool ScansValues(const Aggregation& call);

// NaN is the largest number and -0.0 equals 0.0. Negative, zero, positive.
template <typename T>
int CompareNumbers(T a, T b) {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a == b) return 0;
  const bool a_is_nan = a != a;
  return a_is_nan == (b != b) ? 0 : (a_is_nan ? 1 : -1);
}

}  // namespace rowtide

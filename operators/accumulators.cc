#include "operators/accumulators.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "operators/exact_sum.h"

namespace rowtide {
namespace {

// --- arithmetic ---

constexpr int128 kDecimalEnd = [] {  // 10^38: the first that does not fit
  int128 end = 1;
  for (int i = 0; i < kMaxDecimalPrecision; ++i) end *= 10;
  return end;
}();

// Integers wrap, as in Flink; floats do not.
template <typename T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Unsigned>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b)));
  } else {
    return a + b;
  }
}

template <typename T>
T Minus(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(
        static_cast<Unsigned>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b)));
  } else {
    return a - b;
  }
}

// False when the sum has more than 38 digits.
bool AddDecimal(int128 a, int128 b, int128* sum) {
  return !__builtin_add_overflow(a, b, sum) && *sum<kDecimalEnd&& * sum> - kDecimalEnd;
}

// sum / n with `digits` more digits behind the point, rounded half up. False when the quotient has
// more than 38 digits.
bool DivideDecimal(int128 sum, int64_t n, int digits, int128* quotient) {
  const bool negative = (sum < 0) != (n < 0);
  int128 rest = sum < 0 ? -sum : sum;
  const int128 divisor = n < 0 ? -static_cast<int128>(n) : n;
  int128 result = rest / divisor;
  rest %= divisor;
  for (int i = 0; i < digits; ++i) {
    rest *= 10;
    if (result >= kDecimalEnd / 10) return false;
    result = result * 10 + rest / divisor;
    rest %= divisor;
  }
  if (rest * 2 >= divisor) ++result;
  *quotient = negative ? -result : result;
  return result < kDecimalEnd;
}

// NaN is the largest, -0.0 equals 0.0; text by unsigned bytes.
int Compare(WideTime a, WideTime b) {
  if (a.millis != b.millis) return a.millis < b.millis ? -1 : 1;
  return a.nanos == b.nanos ? 0 : (a.nanos < b.nanos ? -1 : 1);
}
template <typename T>
int Compare(T a, T b) {
  return CompareNumbers(a, b);
}

// --- accumulators ---
// Each has: Value, the argument's C++ type; Add and Subtract of one value that is not NULL; Emit of
// the result. Packed: they are state, and equal states have equal bytes.

struct [[gnu::packed]] PackedWideTime {
  int64_t millis = 0;
  int64_t nanos = 0;
  PackedWideTime() = default;
  PackedWideTime(WideTime time)
      : millis(time.millis), nanos(time.nanos) {}  // NOLINT: implicit by design
  operator WideTime() const { return {millis, static_cast<int32_t>(nanos)}; }
};
template <typename T>
using Kept = std::conditional_t<std::is_same_v<T, WideTime>, PackedWideTime, T>;

struct [[gnu::packed]] CountAccumulator {
  int64_t n = 0;
  void Emit(ResultColumn* to, int row) const { to->Put(row, n); }
};

// NULL until the first value. Taking back is never asked of it, but is what minus means.
template <typename T>
struct [[gnu::packed]] SumAccumulator {
  using Value = T;
  T sum = 0;
  uint8_t some = 0;
  void Add(T value) {
    sum = Plus(sum, value);
    some = 1;
  }
  void Subtract(T value) {
    sum = Minus(sum, value);
    some = 1;
  }
  void Emit(ResultColumn* to, int row) const { some ? to->Put(row, sum) : to->PutNull(row); }
};

template <typename T>
struct [[gnu::packed]] Sum0Accumulator {
  using Value = T;
  T sum = 0;
  void Add(T value) { sum = Plus(sum, value); }
  void Subtract(T value) { sum = Minus(sum, value); }
  void Emit(ResultColumn* to, int row) const { to->Put(row, sum); }
};

// NULL when no value is left.
template <typename T>
struct [[gnu::packed]] RetractingSumAccumulator {
  using Value = T;
  T sum = 0;
  int64_t n = 0;
  void Add(T value) {
    sum = Plus(sum, value);
    ++n;
  }
  void Subtract(T value) {
    sum = Minus(sum, value);
    --n;
  }
  void Merge(T partial_sum, int64_t partial_n) {
    sum = Plus(sum, partial_sum);
    n += partial_n;
  }
  void Emit(ResultColumn* to, int row) const { n != 0 ? to->Put(row, sum) : to->PutNull(row); }
};

// A sum that outgrows 38 digits is NULL, and the next value starts it anew: Flink's SUM.
struct [[gnu::packed]] DecimalTotal {
  int128 sum = 0;
  uint8_t known = 1;
  void Add(int128 value) {
    int128 next;
    known = AddDecimal(known ? sum : 0, value, &next);
    sum = known ? next : 0;
  }
};

template <typename T>
struct [[gnu::packed]] DecimalSumAccumulator {
  using Value = T;
  DecimalTotal total{0, 0};
  void Add(T value) { total.Add(value); }
  void Subtract(T value) { total.Add(-static_cast<int128>(value)); }
  void Emit(ResultColumn* to, int row) const {
    total.known ? to->Put(row, total.sum) : to->PutNull(row);
  }
};

// $SUM0 stays NULL once it was.
template <typename T>
struct [[gnu::packed]] DecimalSum0Accumulator : DecimalSumAccumulator<T> {
  DecimalSum0Accumulator() { this->total = {0, 1}; }
  void Add(T value) {
    if (this->total.known) this->total.Add(value);
  }
  void Subtract(T value) {
    if (this->total.known) this->total.Add(-static_cast<int128>(value));
  }
};

template <typename T>
struct [[gnu::packed]] RetractingDecimalSumAccumulator {
  using Value = T;
  DecimalTotal total;
  int64_t n = 0;
  void Add(T value) {
    total.Add(value);
    ++n;
  }
  void Subtract(T value) {
    total.Add(-static_cast<int128>(value));
    --n;
  }
  void Merge(T partial_sum, int64_t partial_n) {
    total.Add(partial_sum);
    n += partial_n;
  }
  void Emit(ResultColumn* to, int row) const {
    n != 0 && total.known ? to->Put(row, total.sum) : to->PutNull(row);
  }
};

// The sum is kept in `Sum` (BIGINT for integers, DOUBLE for floats), the result is of the
// argument's type `T`.
template <typename T, typename Sum>
struct [[gnu::packed]] AverageAccumulator {
  using Value = T;
  Sum sum = 0;
  int64_t n = 0;
  void Add(T value) {
    sum = Plus(sum, static_cast<Sum>(value));
    ++n;
  }
  void Subtract(T value) {
    sum = Minus(sum, static_cast<Sum>(value));
    --n;
  }
  void Emit(ResultColumn* to, int row) const {
    if (n == 0) return to->PutNull(row);
    if constexpr (std::is_integral_v<Sum>) {
      // -2^63 / -1 would trap; negating with wrap is what the division gives.
      to->Put(row, static_cast<T>(n == -1 ? Minus<Sum>(0, sum) : sum / n));
    } else {
      to->Put(row, static_cast<T>(sum / static_cast<Sum>(n)));
    }
  }
};

// What a local phase hands on for AVG.
template <typename T, typename Sum>
struct [[gnu::packed]] AverageSumAccumulator : AverageAccumulator<T, Sum> {
  void Emit(ResultColumn* to, int row) const { to->Put<Sum>(row, this->sum); }
};

template <typename T, typename Sum>
struct [[gnu::packed]] MergingAverageAccumulator : AverageAccumulator<T, Sum> {
  using Value = Sum;
  void Merge(Sum partial_sum, int64_t partial_n) {
    this->sum = Plus(this->sum, partial_sum);
    this->n += partial_n;
  }
};

// Unlike SUM's, a sum that has outgrown 38 digits stays NULL.
template <typename T>
struct [[gnu::packed]] DecimalAverageAccumulator {
  using Value = T;
  int128 sum = 0;
  int64_t n = 0;
  uint8_t overflown = 0;
  void AddToSum(int128 value) {
    if (overflown) return;
    int128 next;
    overflown = !AddDecimal(sum, value, &next);
    sum = overflown ? 0 : next;
  }
  void Add(T value) {
    AddToSum(value);
    ++n;
  }
  void Subtract(T value) {
    AddToSum(-static_cast<int128>(value));
    --n;
  }
  void Merge(T partial_sum, int64_t partial_n) {
    AddToSum(partial_sum);
    n += partial_n;
  }
  // A partial sum that has outgrown 38 digits came as NULL.
  void MergeNull(int64_t partial_n) {
    overflown = overflown || partial_n != 0;
    n += partial_n;
  }
};

template <typename T>
struct [[gnu::packed]] DecimalAverageSum : DecimalAverageAccumulator<T> {
  void Emit(ResultColumn* to, int row) const {
    this->overflown ? to->PutNull(row) : to->Put<int128>(row, this->sum);
  }
};

// The digits that AVG adds behind the point are part of the kernel: 6 - scale, at least 0.
template <typename T, int kDigits>
struct [[gnu::packed]] ScaledDecimalAverage : DecimalAverageAccumulator<T> {
  void Emit(ResultColumn* to, int row) const {
    int128 quotient;
    const bool fits =
        this->n != 0 && !this->overflown && DivideDecimal(this->sum, this->n, kDigits, &quotient);
    fits ? to->Put(row, quotient) : to->PutNull(row);
  }
};

// Sums of floats that values can leave. `kAverages`: AVG, else SUM; `kZero`: the sum of nothing is
// 0.
template <typename T, bool kAverages, bool kZero>
struct ExactAccumulator {
  using Value = T;
  ExactSum sum;
  int64_t n = 0;
  void Add(T value) {
    sum.Add(static_cast<double>(value));
    ++n;
  }
  void Subtract(T value) {
    sum.Subtract(static_cast<double>(value));
    --n;
  }
  void Emit(ResultColumn* to, int row) const {
    if (n == 0 && !kZero) return to->PutNull(row);
    const double rounded = sum.Rounded();
    to->Put(row, static_cast<T>(kAverages ? rounded / static_cast<double>(n) : rounded));
  }
};
static_assert(sizeof(ExactAccumulator<double, false, false>) == sizeof(ExactSum) + sizeof(int64_t),
              "no padding: it is state");

// MIN and MAX of what never leaves; equal values keep the incumbent. Taking back changes nothing.
// `kFlink`: a NaN neither beats nor is beaten: what came first decides (flink-rank-dedup.md 15.27).
template <typename T, bool kMax, bool kFlink = false>
struct [[gnu::packed]] ExtremeAccumulator {
  using Value = T;
  Kept<T> best{};
  uint8_t some = 0;
  void Add(T value) {
    if constexpr (kFlink) {
      if (some && !(kMax ? value > best : value < best)) return;
    } else if (some) {
      const int order = Compare(value, static_cast<T>(best));
      if (kMax ? order <= 0 : order >= 0) return;
    }
    best = value;
    some = 1;
  }
  void Subtract(T) {}
  void Emit(ResultColumn* to, int row) const { some ? to->Put<T>(row, best) : to->PutNull(row); }
};
template <typename T>
using MinAccumulator = ExtremeAccumulator<T, false>;
template <typename T>
using MaxAccumulator = ExtremeAccumulator<T, true>;

template <typename T, bool kLast>
struct [[gnu::packed]] EndAccumulator {
  using Value = T;
  Kept<T> value{};
  uint8_t some = 0;
  void Add(T next) {
    if (some && !kLast) return;
    value = next;
    some = 1;
  }
  void Subtract(T) {}
  void Emit(ResultColumn* to, int row) const { some ? to->Put<T>(row, value) : to->PutNull(row); }
};
template <typename T>
using FirstAccumulator = EndAccumulator<T, false>;
template <typename T>
using LastAccumulator = EndAccumulator<T, true>;

// --- kernels ---

// Entries are not aligned: an accumulator is copied out, changed, and copied back.
template <typename Accumulator>
Accumulator Load(const char* at) {
  Accumulator accumulator;
  std::memcpy(&accumulator, at, sizeof(Accumulator));
  return accumulator;
}

// `apply(accumulator, row, retracts)` for each row that counts, with the notes before and after it.
template <typename Accumulator, typename Apply>
void ForEachRow(const AggregatePass& pass, const Apply& apply) {
  static_assert(std::is_trivially_copyable_v<Accumulator>);
  for (int row = 0; row < pass.rows.rows; ++row) {
    const uint8_t step = pass.rows.steps[row];
    if (step == 0) continue;
    const int unit = pass.rows.unit(row);
    char* const at = pass.rows.entries[unit] + pass.offset;
    Accumulator accumulator = (step & kStepInit) ? Accumulator() : Load<Accumulator>(at);
    if (step & kStepOpen) accumulator.Emit(pass.before, unit);
    if (step & kStepApply) apply(accumulator, row, (step & kStepRetract) != 0);
    if (step & kStepClose) accumulator.Emit(pass.after, unit);
    std::memcpy(at, &accumulator, sizeof(Accumulator));
  }
}

void CountKernel(const AggregatePass& pass) {
  if (!pass.argument || !pass.argument->may_have_nulls()) {
    return ForEachRow<CountAccumulator>(
        pass, [](CountAccumulator& count, int, bool retracts) { count.n += retracts ? -1 : 1; });
  }
  ForEachRow<CountAccumulator>(pass, [&](CountAccumulator& count, int row, bool retracts) {
    if (!pass.argument->IsNull(row)) count.n += retracts ? -1 : 1;
  });
}

template <typename Accumulator>
void Kernel(const AggregatePass& pass) {
  using Value = typename Accumulator::Value;
  const Column& argument = *pass.argument;
  const Value* values = argument.values<Value>();
  ForEachRow<Accumulator>(pass, [&](Accumulator& accumulator, int row, bool retracts) {
    if (argument.IsNull(row)) return;
    if (retracts) {
      accumulator.Subtract(values[row]);
    } else {
      accumulator.Add(values[row]);
    }
  });
}

// (sum, count) pairs of a local phase.
template <typename Accumulator>
void PairKernel(const AggregatePass& pass) {
  using Value = typename Accumulator::Value;
  const Value* sums = pass.argument->values<Value>();
  const int64_t* counts = pass.second->values<int64_t>();
  ForEachRow<Accumulator>(pass, [&](Accumulator& accumulator, int row, bool) {
    if constexpr (requires { accumulator.MergeNull(0); }) {
      if (pass.argument->IsNull(row)) return accumulator.MergeNull(counts[row]);
    }
    accumulator.Merge(pass.argument->IsNull(row) ? Value{} : sums[row], counts[row]);
  });
}

// The sum as bytes, for a global phase.
template <typename T>
void ExactBytesKernel(const AggregatePass& pass) {
  const T* values = pass.argument->values<T>();
  for (int row = 0; row < pass.rows.rows; ++row) {
    const uint8_t step = pass.rows.steps[row];
    if (step == 0) continue;
    const int unit = pass.rows.unit(row);
    char* const at = pass.rows.entries[unit] + pass.offset;
    ExactSum sum = (step & kStepInit) ? ExactSum() : Load<ExactSum>(at);
    if ((step & kStepApply) && !pass.argument->IsNull(row)) {
      const double value = static_cast<double>(values[row]);
      (step & kStepRetract) ? sum.Subtract(value) : sum.Add(value);
    }
    if (step & kStepClose) {
      const std::string_view bytes{reinterpret_cast<const char*>(&sum), sizeof(sum)};
      pass.after->Put(unit, pass.strings->Copy(bytes));
    }
    std::memcpy(at, &sum, sizeof(sum));
  }
}

// Such bytes, and the count beside them (SUM0 has none).
template <typename Accumulator>
void ExactPairKernel(const AggregatePass& pass) {
  ForEachRow<Accumulator>(pass, [&](Accumulator& accumulator, int row, bool) {
    const std::string_view bytes = pass.argument->values<StringView>()[row].view();
    if (pass.argument->IsNull(row) || bytes.size() != sizeof(ExactSum)) return;
    accumulator.sum.Merge(Load<ExactSum>(bytes.data()));
    if (pass.second) accumulator.n += pass.second->values<int64_t>()[row];
  });
}

// --- text ---

void EmitText(const TextCell& cell, StringBlocks* strings, ResultColumn* to, int row) {
  cell.present ? to->Put(row, strings->Copy(*cell.text)) : to->PutNull(row);
}

// `apply(text, present, value, row)` changes the text in place.
template <typename Apply>
void TextKernel(const AggregatePass& pass, const Apply& apply) {
  for (int row = 0; row < pass.rows.rows; ++row) {
    const uint8_t step = pass.rows.steps[row];
    if (step == 0) continue;
    const int unit = pass.rows.unit(row);
    char* const at = pass.rows.entries[unit] + pass.offset;
    TextCell cell = Load<TextCell>(at);
    if (step & kStepInit) {
      cell.present = 0;
      cell.text->clear();
    }
    if (step & kStepOpen) EmitText(cell, pass.strings, pass.before, unit);
    if ((step & kStepApply) && !(step & kStepRetract) && !pass.argument->IsNull(row)) {
      apply(cell.text, cell.present != 0, pass.argument->values<StringView>()[row].view(), row);
      cell.present = 1;
    }
    if (step & kStepClose) EmitText(cell, pass.strings, pass.after, unit);
    std::memcpy(at, &cell, sizeof(cell));
  }
}

template <bool kMax>
void TextExtremeKernel(const AggregatePass& pass) {
  TextKernel(pass, [](std::string* text, bool present, std::string_view value, int) {
    const int order = present ? value.compare(*text) : (kMax ? 1 : -1);
    if (kMax ? order > 0 : order < 0) text->assign(value);
  });
}

template <bool kLast>
void TextEndKernel(const AggregatePass& pass) {
  TextKernel(pass, [](std::string* text, bool present, std::string_view value, int) {
    if (kLast || !present) text->assign(value);
  });
}

void ListAggKernel(const AggregatePass& pass) {
  TextKernel(pass, [&](std::string* text, bool present, std::string_view value, int row) {
    if (present && !pass.second) text->push_back(',');
    if (present && pass.second && !pass.second->IsNull(row)) {
      text->append(pass.second->values<StringView>()[row].view());
    }
    text->append(value);
  });
}

AccumulatorPlan TextPlan(AggregateKernel kernel) {
  return {kernel, static_cast<int>(sizeof(TextCell)), true};
}

// --- choosing ---

template <typename Accumulator>
AccumulatorPlan Plan() {
  return {&Kernel<Accumulator>, static_cast<int>(sizeof(Accumulator)), false};
}

template <typename Accumulator>
AccumulatorPlan PairPlan() {
  return {&PairKernel<Accumulator>, static_cast<int>(sizeof(Accumulator)), false};
}

template <template <typename> class Accumulator>
Result<AccumulatorPlan> PlanOfNumber(const Type& type) {
  switch (LayoutOf(type)) {
    case Layout::kInt8: return Plan<Accumulator<int8_t>>();
    case Layout::kInt16: return Plan<Accumulator<int16_t>>();
    case Layout::kInt32: return Plan<Accumulator<int32_t>>();
    case Layout::kInt64: return Plan<Accumulator<int64_t>>();
    case Layout::kFloat: return Plan<Accumulator<float>>();
    case Layout::kDouble: return Plan<Accumulator<double>>();
    case Layout::kBool:
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: break;
  }
  return Status::InvalidArgument("{} is no number", ToString(type));
}

template <template <typename> class Accumulator>
Result<AccumulatorPlan> PlanOfDecimal(const Type& type) {
  if (LayoutOf(type) == Layout::kInt128) return Plan<Accumulator<int128>>();
  return Plan<Accumulator<int64_t>>();
}

// Any type but text.
template <template <typename> class Accumulator>
Result<AccumulatorPlan> PlanOfAny(const Type& type) {
  switch (LayoutOf(type)) {
    case Layout::kBool: return Plan<Accumulator<uint8_t>>();
    case Layout::kInt128: return Plan<Accumulator<int128>>();
    case Layout::kWideTime: return Plan<Accumulator<WideTime>>();
    case Layout::kInt8:
    case Layout::kInt16:
    case Layout::kInt32:
    case Layout::kInt64:
    case Layout::kFloat:
    case Layout::kDouble: return PlanOfNumber<Accumulator>(type);
    case Layout::kBytes: break;
  }
  return Status::Internal("text accumulators are chosen before");
}

template <typename T>
AccumulatorPlan DecimalAveragePlan(int digits) {
  switch (digits) {
    case 0: return Plan<ScaledDecimalAverage<T, 0>>();
    case 1: return Plan<ScaledDecimalAverage<T, 1>>();
    case 2: return Plan<ScaledDecimalAverage<T, 2>>();
    case 3: return Plan<ScaledDecimalAverage<T, 3>>();
    case 4: return Plan<ScaledDecimalAverage<T, 4>>();
    case 5: return Plan<ScaledDecimalAverage<T, 5>>();
    default: return Plan<ScaledDecimalAverage<T, 6>>();
  }
}

AccumulatorPlan DecimalAveragePairPlan(int digits) {
  switch (digits) {
    case 0: return PairPlan<ScaledDecimalAverage<int128, 0>>();
    case 1: return PairPlan<ScaledDecimalAverage<int128, 1>>();
    case 2: return PairPlan<ScaledDecimalAverage<int128, 2>>();
    case 3: return PairPlan<ScaledDecimalAverage<int128, 3>>();
    case 4: return PairPlan<ScaledDecimalAverage<int128, 4>>();
    case 5: return PairPlan<ScaledDecimalAverage<int128, 5>>();
    default: return PairPlan<ScaledDecimalAverage<int128, 6>>();
  }
}

int AverageDigits(const Type& argument) { return argument.scale < 6 ? 6 - argument.scale : 0; }

Result<AccumulatorPlan> PlanAverage(const Type& type) {
  if (type.kind == TypeKind::kDecimal) {
    if (LayoutOf(type) == Layout::kInt128) return DecimalAveragePlan<int128>(AverageDigits(type));
    return DecimalAveragePlan<int64_t>(AverageDigits(type));
  }
  switch (LayoutOf(type)) {
    case Layout::kInt8: return Plan<AverageAccumulator<int8_t, int64_t>>();
    case Layout::kInt16: return Plan<AverageAccumulator<int16_t, int64_t>>();
    case Layout::kInt32: return Plan<AverageAccumulator<int32_t, int64_t>>();
    case Layout::kInt64: return Plan<AverageAccumulator<int64_t, int64_t>>();
    case Layout::kFloat: return Plan<AverageAccumulator<float, double>>();
    case Layout::kDouble: return Plan<AverageAccumulator<double, double>>();
    case Layout::kBool:
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: break;
  }
  return Status::InvalidArgument("AVG needs a number, not {}", ToString(type));
}

Result<AccumulatorPlan> PlanAverageSum(const Type& type) {
  if (type.kind == TypeKind::kDecimal) return PlanOfDecimal<DecimalAverageSum>(type);
  switch (LayoutOf(type)) {
    case Layout::kInt8: return Plan<AverageSumAccumulator<int8_t, int64_t>>();
    case Layout::kInt16: return Plan<AverageSumAccumulator<int16_t, int64_t>>();
    case Layout::kInt32: return Plan<AverageSumAccumulator<int32_t, int64_t>>();
    case Layout::kInt64: return Plan<AverageSumAccumulator<int64_t, int64_t>>();
    case Layout::kFloat: return Plan<AverageSumAccumulator<float, double>>();
    case Layout::kDouble: return Plan<AverageSumAccumulator<double, double>>();
    case Layout::kBool:
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: break;
  }
  return Status::InvalidArgument("AVG needs a number, not {}", ToString(type));
}

Result<AccumulatorPlan> PlanSum(const Aggregation& call, const Type& type) {
  const bool decimal = type.kind == TypeKind::kDecimal;
  if (call.function == AggregateFunction::kSum0) {
    return decimal ? PlanOfDecimal<DecimalSum0Accumulator>(type)
                   : PlanOfNumber<Sum0Accumulator>(type);
  }
  if (call.retracts) {
    return decimal ? PlanOfDecimal<RetractingDecimalSumAccumulator>(type)
                   : PlanOfNumber<RetractingSumAccumulator>(type);
  }
  return decimal ? PlanOfDecimal<DecimalSumAccumulator>(type) : PlanOfNumber<SumAccumulator>(type);
}

template <typename T>
AccumulatorPlan ExactPlan(AggregateFunction function, bool merges) {
  using Sum = ExactAccumulator<T, false, false>;
  using Sum0 = ExactAccumulator<T, false, true>;
  using Average = ExactAccumulator<T, true, false>;
  AccumulatorPlan plan{nullptr, static_cast<int>(sizeof(Sum)), false};
  switch (function) {
    case AggregateFunction::kSum0:
      plan.kernel = merges ? &ExactPairKernel<Sum0> : &Kernel<Sum0>;
      break;
    case AggregateFunction::kAvg:
      plan.kernel = merges ? &ExactPairKernel<Average> : &Kernel<Average>;
      break;
    default: plan.kernel = merges ? &ExactPairKernel<Sum> : &Kernel<Sum>; break;
  }
  return plan;
}

AccumulatorPlan PlanExact(AggregateFunction function, const Type& argument, bool merges) {
  return LayoutOf(argument) == Layout::kFloat ? ExactPlan<float>(function, merges)
                                              : ExactPlan<double>(function, merges);
}

Result<AccumulatorPlan> PlanSumPair(const Type& type) {
  if (type.kind == TypeKind::kDecimal) return PairPlan<RetractingDecimalSumAccumulator<int128>>();
  switch (LayoutOf(type)) {
    case Layout::kInt8: return PairPlan<RetractingSumAccumulator<int8_t>>();
    case Layout::kInt16: return PairPlan<RetractingSumAccumulator<int16_t>>();
    case Layout::kInt32: return PairPlan<RetractingSumAccumulator<int32_t>>();
    case Layout::kInt64: return PairPlan<RetractingSumAccumulator<int64_t>>();
    case Layout::kFloat: return PairPlan<RetractingSumAccumulator<float>>();
    case Layout::kDouble: return PairPlan<RetractingSumAccumulator<double>>();
    case Layout::kBool:
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: break;
  }
  return Status::InvalidArgument("SUM needs a number, not {}", ToString(type));
}

Result<AccumulatorPlan> PlanAveragePair(const Type& type) {
  if (type.kind == TypeKind::kDecimal) return DecimalAveragePairPlan(AverageDigits(type));
  switch (LayoutOf(type)) {
    case Layout::kInt8: return PairPlan<MergingAverageAccumulator<int8_t, int64_t>>();
    case Layout::kInt16: return PairPlan<MergingAverageAccumulator<int16_t, int64_t>>();
    case Layout::kInt32: return PairPlan<MergingAverageAccumulator<int32_t, int64_t>>();
    case Layout::kInt64: return PairPlan<MergingAverageAccumulator<int64_t, int64_t>>();
    case Layout::kFloat: return PairPlan<MergingAverageAccumulator<float, double>>();
    case Layout::kDouble: return PairPlan<MergingAverageAccumulator<double, double>>();
    case Layout::kBool:
    case Layout::kInt128:
    case Layout::kWideTime:
    case Layout::kBytes: break;
  }
  return Status::InvalidArgument("AVG needs a number, not {}", ToString(type));
}

struct NamedFunction {
  const char* name;
  AggregateFunction function;
};
constexpr NamedFunction kFunctions[] = {
    {"COUNT", AggregateFunction::kCount},
    {"SUM", AggregateFunction::kSum},
    {"$SUM0", AggregateFunction::kSum0},
    {"AVG", AggregateFunction::kAvg},
    {"MIN", AggregateFunction::kMin},
    {"MAX", AggregateFunction::kMax},
    {"FIRST_VALUE", AggregateFunction::kFirstValue},
    {"LAST_VALUE", AggregateFunction::kLastValue},
    {"LISTAGG", AggregateFunction::kListAgg},
};

}  // namespace

Result<AggregateFunction> AggregateFunctionByName(std::string_view name) {
  for (const NamedFunction& entry : kFunctions) {
    if (name == entry.name) return entry.function;
  }
  return Status::Unsupported("aggregate function {}", name);
}

const char* Name(AggregateFunction function) {
  for (const NamedFunction& entry : kFunctions) {
    if (entry.function == function) return entry.name;
  }
  return "";
}

bool ScansValues(const Aggregation& call) {
  switch (call.function) {
    case AggregateFunction::kMin:
    case AggregateFunction::kMax:
    case AggregateFunction::kFirstValue:
    case AggregateFunction::kLastValue:
    case AggregateFunction::kListAgg: return call.retracts;
    case AggregateFunction::kCount:
    case AggregateFunction::kSum:
    case AggregateFunction::kSum0:
    case AggregateFunction::kAverageSum:
    case AggregateFunction::kExactSum:
    case AggregateFunction::kAvg: return false;
  }
  return false;
}

bool SumsExactly(const Aggregation& call, const Type& argument) {
  const bool sums = call.function == AggregateFunction::kSum ||
                    call.function == AggregateFunction::kSum0 ||
                    call.function == AggregateFunction::kAvg;
  return sums && call.retracts && IsApproximate(argument);
}

AccumulatorPlan PlanFlinkExtreme(bool max, const Type& argument) {
  if (LayoutOf(argument) == Layout::kFloat) {
    return max ? Plan<ExtremeAccumulator<float, true, true>>()
               : Plan<ExtremeAccumulator<float, false, true>>();
  }
  return max ? Plan<ExtremeAccumulator<double, true, true>>()
             : Plan<ExtremeAccumulator<double, false, true>>();
}

Result<AccumulatorPlan> PlanAccumulator(const Aggregation& call, const Type& argument, bool exact) {
  const bool extreme =
      call.function == AggregateFunction::kMin || call.function == AggregateFunction::kMax;
  if (!exact && extreme && IsApproximate(argument)) {
    return PlanFlinkExtreme(call.function == AggregateFunction::kMax, argument);
  }
  if (exact && SumsExactly(call, argument)) return PlanExact(call.function, argument, false);
  const bool text = LayoutOf(argument) == Layout::kBytes;
  switch (call.function) {
    case AggregateFunction::kCount:
      return AccumulatorPlan{&CountKernel, sizeof(CountAccumulator), false};
    case AggregateFunction::kSum:
    case AggregateFunction::kSum0: return PlanSum(call, argument);
    case AggregateFunction::kAvg: return PlanAverage(argument);
    case AggregateFunction::kAverageSum: return PlanAverageSum(argument);
    case AggregateFunction::kExactSum: {
      AccumulatorPlan plan{&ExactBytesKernel<double>, static_cast<int>(sizeof(ExactSum)), false};
      if (LayoutOf(argument) == Layout::kFloat) plan.kernel = &ExactBytesKernel<float>;
      return plan;
    }
    case AggregateFunction::kMin:
      return text ? TextPlan(&TextExtremeKernel<false>) : PlanOfAny<MinAccumulator>(argument);
    case AggregateFunction::kMax:
      return text ? TextPlan(&TextExtremeKernel<true>) : PlanOfAny<MaxAccumulator>(argument);
    case AggregateFunction::kFirstValue:
      return text ? TextPlan(&TextEndKernel<false>) : PlanOfAny<FirstAccumulator>(argument);
    case AggregateFunction::kLastValue:
      return text ? TextPlan(&TextEndKernel<true>) : PlanOfAny<LastAccumulator>(argument);
    case AggregateFunction::kListAgg:
      if (!text)
        return Status::InvalidArgument("LISTAGG needs a string, not {}", ToString(argument));
      return TextPlan(&ListAggKernel);
  }
  return Status::Internal("aggregate function {}", static_cast<int>(call.function));
}

Result<AccumulatorPlan> PlanMerge(const Aggregation& call, const Type& argument) {
  if (SumsExactly(call, argument)) return PlanExact(call.function, argument, true);
  switch (call.function) {
    case AggregateFunction::kCount: return Plan<Sum0Accumulator<int64_t>>();
    case AggregateFunction::kSum:
      if (call.retracts) return PlanSumPair(argument);
      return argument.kind == TypeKind::kDecimal ? Plan<DecimalSumAccumulator<int128>>()
                                                 : PlanOfNumber<SumAccumulator>(argument);
    case AggregateFunction::kSum0:
      return argument.kind == TypeKind::kDecimal ? Plan<DecimalSum0Accumulator<int128>>()
                                                 : PlanOfNumber<Sum0Accumulator>(argument);
    case AggregateFunction::kAvg: return PlanAveragePair(argument);
    case AggregateFunction::kAverageSum:
    case AggregateFunction::kExactSum: break;
    case AggregateFunction::kMin:
    case AggregateFunction::kMax:
    case AggregateFunction::kFirstValue:
    case AggregateFunction::kLastValue:
    case AggregateFunction::kListAgg: return PlanAccumulator(call, argument, true);
  }
  return Status::Internal("aggregate function {}", static_cast<int>(call.function));
}

}  // namespace rowtide

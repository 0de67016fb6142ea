// Group aggregates against recomputation: random changes to a table, the changelog folded after
// each, compared with what a plain loop over the rows that are left gives. Per record with random
// cuts and restores, in bundles, in two phases.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "operators/changelog_normalize.h"
#include "operators/sink_materializer.h"
#include "tests/operators/two_phases.h"
#include "tests/oracle/harness.h"

namespace rowtide {
namespace {

using F = AggregateFunction;

const Schema kInput({{"k", Type::Int()},
                     {"v", Type::Int()},
                     {"s", Type::String()},
                     {"d", Type::Decimal(10, 2)},
                     {"b", Type::Boolean()},
                     {"x", Type::Double()}});

// NULL first; values of one column compare as SQL does.
struct Less {
  bool operator()(const Value& a, const Value& b) const {
    if (a.index() != b.index()) return a.index() < b.index();
    if (const int64_t* number = std::get_if<int64_t>(&a)) return *number < std::get<int64_t>(b);
    if (const double* number = std::get_if<double>(&a)) return *number < std::get<double>(b);
    if (const int128* number = std::get_if<int128>(&a)) return *number < std::get<int128>(b);
    if (const std::string* text = std::get_if<std::string>(&a))
      return *text < std::get<std::string>(b);
    return false;
  }
};

// What a call sees of a group, kept the plain way.
struct Seen {
  std::vector<Value> values;          // in order of arrival
  std::map<Value, int, Less> counts;  // DISTINCT
};

class Model {
 public:
  explicit Model(std::vector<Aggregation> calls) : calls_(std::move(calls)) {}

  void Apply(const TestRow& row) {
    const bool adds = Adds(row.kind);
    Group& group = groups_[row.values[0]];
    group.seen.resize(calls_.size());
    group.rows += adds ? 1 : -1;
    for (size_t i = 0; i < calls_.size(); ++i) ApplyCall(calls_[i], row, adds, &group.seen[i]);
    if (group.rows == 0) groups_.erase(row.values[0]);
  }

  std::map<std::string, int> Table(const Schema& output) const {
    std::map<std::string, int> table;
    for (const auto& [key, group] : groups_) {
      std::vector<Value> row{key};
      for (size_t i = 0; i < calls_.size(); ++i) row.push_back(ResultOf(calls_[i], group.seen[i]));
      ++table[ValuesText(row, output)];
    }
    return table;
  }

 private:
  struct Group {
    int64_t rows = 0;
    std::vector<Seen> seen;
  };

  static void ApplyCall(const Aggregation& call, const TestRow& row, bool adds, Seen* seen) {
    if (call.filter >= 0) {
      const Value& condition = row.values[static_cast<size_t>(call.filter)];
      if (IsNull(condition) || !std::get<bool>(condition)) return;
    }
    const Value value = call.arguments.empty() ? Value(int64_t{1})
                                               : row.values[static_cast<size_t>(call.arguments[0])];
    if (IsNull(value)) return;
    if (call.distinct) {
      int& count = seen->counts[value];
      count += adds ? 1 : -1;
      if (adds ? count != 1 : count != 0) return;
    }
    if (adds) {
      seen->values.push_back(value);
    } else {
      seen->values.erase(std::find(seen->values.begin(), seen->values.end(), value));
    }
  }

  static Value ResultOf(const Aggregation& call, const Seen& seen) {
    const std::vector<Value>& values = seen.values;
    if (call.function == F::kCount) return static_cast<int64_t>(values.size());
    if (call.function == F::kSum0 && values.empty()) return int64_t{0};
    if (values.empty()) return {};
    switch (call.function) {
      case F::kMin: return *std::min_element(values.begin(), values.end(), Less());
      case F::kMax: return *std::max_element(values.begin(), values.end(), Less());
      case F::kFirstValue: return values.front();
      case F::kLastValue: return values.back();
      case F::kListAgg: {
        std::string text = std::get<std::string>(values[0]);
        for (size_t i = 1; i < values.size(); ++i) text += "," + std::get<std::string>(values[i]);
        return text;
      }
      case F::kSum:
      case F::kSum0:
      case F::kAvg:
      case F::kAverageSum:
      case F::kExactSum:
      case F::kCount: break;
    }
    const bool average = call.function == F::kAvg;
    const int64_t n = static_cast<int64_t>(values.size());
    if (std::holds_alternative<double>(values[0])) {
      double sum = 0;
      for (const Value& value : values) sum += std::get<double>(value);
      return average ? sum / static_cast<double>(n) : sum;
    }
    if (std::holds_alternative<int128>(values[0])) {
      int128 sum = 0;
      for (const Value& value : values) sum += std::get<int128>(value);
      if (!average) return sum;
      const int128 scaled = sum * 10000 * 2;  // DECIMAL(38, 6), rounded half away from zero
      const int128 up = scaled < 0 ? -n : n;
      return (scaled + up) / (2 * n);
    }
    int64_t sum = 0;
    for (const Value& value : values) sum += std::get<int64_t>(value);
    return average ? sum / n : static_cast<int64_t>(static_cast<int32_t>(sum));
  }

  std::vector<Aggregation> calls_;
  std::map<Value, Group, Less> groups_;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int Below(int bound) { return static_cast<int>(engine_() % static_cast<unsigned>(bound)); }
  bool OneIn(int n) { return Below(n) == 0; }

 private:
  std::mt19937 engine_;
};

std::vector<Value> RandomRow(Random* random) {
  static const char* const kTexts[] = {"", "a", "b", "a text that is longer than twelve bytes",
                                       "another long text, longer"};
  std::vector<Value> row(6);
  if (!random->OneIn(12)) row[0] = int64_t{random->Below(4)};
  if (!random->OneIn(6))
    row[1] = int64_t{random->Below(7) - 3} * (random->OneIn(9) ? 700'000'000 : 1);
  if (!random->OneIn(6)) row[2] = std::string(kTexts[random->Below(5)]);
  if (!random->OneIn(6)) row[3] = static_cast<int128>(random->Below(2000) - 1000);
  if (!random->OneIn(6)) row[4] = random->OneIn(2);
  if (!random->OneIn(6)) row[5] = static_cast<double>(random->Below(64)) / 4;
  return row;
}

// Changes to a table: inserts, updates in two halves (other rows may come between them), deletes;
// at last, everything goes.
TestRows RandomChanges(Random* random, int rows, bool inserts_only) {
  TestRows changes;
  std::vector<std::vector<Value>> live;
  std::vector<TestRow> second_halves;
  for (int i = 0; i < rows; ++i) {
    if (!second_halves.empty() && !random->OneIn(3)) {
      changes.push_back(second_halves.back());
      live.push_back(second_halves.back().values);
      second_halves.pop_back();
    }
    const int choice = inserts_only || live.empty() ? 0 : random->Below(10);
    if (choice < 5) {
      live.push_back(RandomRow(random));
      changes.push_back({RowKind::kInsert, live.back()});
      continue;
    }
    const size_t at = static_cast<size_t>(random->Below(static_cast<int>(live.size())));
    changes.push_back({choice < 8 ? RowKind::kUpdateBefore : RowKind::kDelete, live[at]});
    if (choice < 8) {
      TestRow after{RowKind::kUpdateAfter, RandomRow(random)};
      if (random->OneIn(2)) after.values[0] = live[at][0];
      second_halves.push_back(after);
    }
    live.erase(live.begin() + static_cast<int64_t>(at));
  }
  for (const TestRow& half : second_halves) {
    changes.push_back(half);
    live.push_back(half.values);
  }
  if (inserts_only) return changes;
  std::shuffle(live.begin(), live.end(), std::mt19937(static_cast<unsigned>(rows)));
  for (const std::vector<Value>& row : live) changes.push_back({RowKind::kDelete, row});
  return changes;
}

std::vector<Aggregation> AllCalls(bool retracts) {
  const Type count = Type::BigInt().NotNull();
  const auto call = [&](F function, std::vector<int> arguments, Type type, int filter = -1,
                        bool distinct = false) {
    return Aggregation{function, std::move(arguments), filter, distinct, retracts, type};
  };
  return {call(F::kCount, {}, count),
          call(F::kCount, {1}, count),
          call(F::kSum, {1}, Type::Int()),
          call(F::kSum0, {1}, Type::Int()),
          call(F::kAvg, {5}, Type::Double()),
          call(F::kSum, {3}, Type::Decimal(38, 2)),
          call(F::kAvg, {3}, Type::Decimal(38, 6)),
          call(F::kMin, {1}, Type::Int()),
          call(F::kMax, {1}, Type::Int()),
          call(F::kMin, {2}, Type::String()),
          call(F::kMax, {2}, Type::String()),
          call(F::kMax, {3}, Type::Decimal(10, 2)),
          call(F::kFirstValue, {1}, Type::Int()),
          call(F::kLastValue, {2}, Type::String()),
          call(F::kListAgg, {2}, Type::String()),
          call(F::kCount, {1}, count, -1, true),
          call(F::kSum, {3}, Type::Decimal(38, 2), -1, true),
          call(F::kCount, {2}, count, 4, true),
          call(F::kListAgg, {2}, Type::String(), 4, true),
          call(F::kMin, {1}, Type::Int(), 4),
          call(F::kSum, {1}, Type::Int(), 4),
          call(F::kMax, {5}, Type::Double(), 4)};
}

GroupAggregateSpec SpecOf(std::vector<Aggregation> calls, bool counts_rows) {
  GroupAggregateSpec spec;
  spec.group = {0};
  spec.output.Add(kInput.field(0));
  for (const Aggregation& call : calls) spec.output.Add({"x", call.type});
  spec.calls = std::move(calls);
  spec.counts_rows = counts_rows;
  return spec;
}

// A few of the calls, so that entries of all shapes come up.
std::vector<Aggregation> SomeCalls(Random* random, bool retracts) {
  std::vector<Aggregation> all = AllCalls(retracts);
  std::vector<Aggregation> some;
  const int one_in = 1 + random->Below(4);
  for (const Aggregation& call : all) {
    if (random->OneIn(one_in)) some.push_back(call);
  }
  return some;
}

void Fold(Harness* harness, Folded* folded) {
  for (const TestRow& row : harness->Take()) {
    ASSERT_TRUE(folded->Apply(row.kind, ValuesText(row.values, harness->output())))
        << RowText(row, harness->output());
  }
}

TEST(AggregateOracle, EveryRowGivesTheTable) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const bool inserts_only = random.OneIn(3);
    const std::vector<Aggregation> calls = SomeCalls(&random, !inserts_only);
    const GroupAggregateSpec spec = SpecOf(calls, !inserts_only);
    Harness harness(
        [&](const OperatorContext& context) {
          return GroupAggregate::Create(spec, kInput, context);
        },
        kInput);
    if (seed % 5 == 0) harness.UseTier(seed % 2 == 0 ? 1 : 3000);
    Model model(calls);
    Folded folded;
    for (const TestRow& row : RandomChanges(&random, 150, inserts_only)) {
      if (random.OneIn(2)) harness.Restore();
      ASSERT_TRUE(harness.Process({row}).ok());
      model.Apply(row);
      Fold(&harness, &folded);
      ASSERT_EQ(folded.rows(), model.Table(harness.output())) << RowText(row, kInput);
    }
    EXPECT_TRUE(inserts_only || harness.size().entries == 0);
  }
}

TEST(AggregateOracle, CutsIntoBatchesDoNotMatter) {
  for (unsigned seed = 100; seed <= 115; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::vector<Aggregation> calls = SomeCalls(&random, true);
    GroupAggregateSpec spec = SpecOf(calls, true);
    spec.generates_update_before = random.OneIn(2);
    const auto factory = [&](const OperatorContext& context) {
      return GroupAggregate::Create(spec, kInput, context);
    };
    Harness single(factory, kInput);
    Harness cut(factory, kInput);
    if (seed % 2 == 0) cut.UseTier(seed % 4 == 0 ? 1 : 3000);
    const TestRows changes = RandomChanges(&random, 400, false);
    for (const TestRow& row : changes) ASSERT_TRUE(single.Process({row}).ok());
    for (size_t at = 0; at < changes.size();) {
      const size_t end = std::min(changes.size(), at + 1 + static_cast<size_t>(random.Below(200)));
      ASSERT_TRUE(cut.Process(TestRows(changes.begin() + static_cast<int64_t>(at),
                                       changes.begin() + static_cast<int64_t>(end)))
                      .ok());
      at = end;
      if (random.OneIn(3)) cut.Restore();
    }
    EXPECT_EQ(single.TakeText(), cut.TakeText());
    EXPECT_EQ(single.SnapshotBytes(), cut.SnapshotBytes());
    EXPECT_EQ(single.size().entries, 0);
  }
}

TEST(AggregateOracle, BundlesGiveTheTable) {
  for (unsigned seed = 200; seed <= 230; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const bool inserts_only = random.OneIn(3);
    const bool two_phases = random.OneIn(2);
    const std::vector<Aggregation> calls = SomeCalls(&random, !inserts_only);
    GroupAggregateSpec spec = SpecOf(calls, !inserts_only);
    const int64_t size = 1 + random.Below(20);
    spec.mini_batch.size = size;
    if (!calls.empty() && calls[0].arguments.empty() && calls[0].filter < 0 && !inserts_only)
      spec.count_star = 0;
    Harness harness(
        [&](const OperatorContext& context) {
          return two_phases ? CreateTwoPhases(kInput, spec, size, context)
                            : GroupAggregate::Create(spec, kInput, context);
        },
        kInput);
    if (seed % 2 == 0) harness.UseTier(seed % 4 == 0 ? 1 : 3000);
    Model model(calls);
    Folded folded;
    for (const TestRow& row : RandomChanges(&random, 150, inserts_only)) {
      if (random.OneIn(2)) harness.Restore();
      ASSERT_TRUE(harness.Process({row}).ok());
      model.Apply(row);
      if (!random.OneIn(10)) continue;
      ASSERT_TRUE(harness.Watermark(1).ok());
      Fold(&harness, &folded);
      ASSERT_EQ(folded.rows(), model.Table(harness.output())) << RowText(row, kInput);
    }
    ASSERT_TRUE(harness.AdvanceTime(Time::End()).ok());
    Fold(&harness, &folded);
    EXPECT_EQ(folded.rows(), model.Table(harness.output()));
    EXPECT_TRUE(inserts_only || harness.size().entries == 0);
  }
}

// --- one row a key ---

TEST(NormalizeOracle, TheLastRowOfEachKeyShows) {
  for (unsigned seed = 300; seed <= 315; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    ChangelogNormalizeSpec spec;
    spec.keys = {0};
    if (random.OneIn(2)) spec.mini_batch.size = 1 + random.Below(10);
    Harness harness(
        [&](const OperatorContext& context) {
          return ChangelogNormalize::Create(spec, kInput, context);
        },
        kInput);
    if (seed % 2 == 0) harness.UseTier(seed % 4 == 0 ? 1 : 3000);
    std::map<Value, std::vector<Value>, Less> last;
    Folded folded;
    for (int i = 0; i < 300; ++i) {
      if (random.OneIn(2)) harness.Restore();
      TestRow row{random.OneIn(3) ? RowKind::kDelete : RowKind::kUpdateAfter, RandomRow(&random)};
      if (row.kind == RowKind::kDelete) {
        last.erase(row.values[0]);
        for (size_t column = 1; column < row.values.size(); ++column) row.values[column] = {};
      } else {
        last[row.values[0]] = row.values;
      }
      ASSERT_TRUE(harness.Process({row}).ok());
      if (spec.mini_batch.enabled()) {
        if (!random.OneIn(8)) continue;
        ASSERT_TRUE(harness.Watermark(1).ok());
      }
      Fold(&harness, &folded);
      std::map<std::string, int> table;
      for (const auto& [key, values] : last) ++table[ValuesText(values, kInput)];
      ASSERT_EQ(folded.rows(), table);
    }
  }
}

// The sink takes upserts: what counts is the last row of each key that was not deleted.
TEST(MaterializerOracle, TheLastLivingRowOfEachKeyShows) {
  for (unsigned seed = 400; seed <= 415; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    SinkMaterializerSpec spec{{0}, {}};
    Harness harness(
        [&](const OperatorContext& context) {
          return SinkMaterializer::Create(spec, kInput, context);
        },
        kInput);
    if (seed % 2 == 0) harness.UseTier(seed % 4 == 0 ? 1 : 3000);
    std::map<Value, std::vector<std::vector<Value>>, Less> living;
    std::map<Value, std::vector<Value>, Less> shown;
    for (const TestRow& row : RandomChanges(&random, 200, false)) {
      if (random.OneIn(2)) harness.Restore();
      ASSERT_TRUE(harness.Process({row}).ok());
      std::vector<std::vector<Value>>& rows = living[row.values[0]];
      if (Adds(row.kind)) {
        rows.push_back(row.values);
      } else {
        rows.erase(std::find(rows.begin(), rows.end(), row.values));
      }
      for (const TestRow& out : harness.Take()) {
        EXPECT_EQ(out.kind == RowKind::kInsert, Adds(out.kind) && shown.count(out.values[0]) == 0);
        if (Adds(out.kind)) {
          shown[out.values[0]] = out.values;
        } else {
          shown.erase(out.values[0]);
        }
      }
      for (const auto& [key, left] : living) {
        ASSERT_EQ(left.empty(), shown.count(key) == 0);
        if (left.empty()) continue;
        ASSERT_EQ(ValuesText(shown[key], kInput), ValuesText(left.back(), kInput));
      }
    }
    EXPECT_EQ(harness.size().entries, 0);
  }
}

}  // namespace
}  // namespace rowtide

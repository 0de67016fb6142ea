// Operators on several lanes, restored into other numbers of lanes: each key has the changelog that
// a single operator gives it, whatever became of the lanes on the way.
//
//   rows -> lane of their key -> 3 operators -> snapshots -> 2 operators -> snapshots -> 1 -> ...
#include <algorithm>

#include "operators/changelog_normalize.h"
#include "operators/final_rows.h"
#include "operators/over_row_number.h"
#include "operators/sink_materializer.h"
#include "operators/watermark_compacting_materializer.h"
#include "state/key_codec.h"
#include "tests/operators/two_phases.h"
#include "tests/oracle/cases.h"

namespace rowtide {
namespace {

constexpr int kLanesMax = 3;
constexpr int kG = 0, kId = 1, kV = 2, kS = 3, kD = 4, kTs = 5;

class Lanes {
 public:
  Lanes(const OracleCase& oracle, int lanes, int64_t tier_bytes)
      : oracle_(oracle),
        tier_bytes_(tier_bytes),
        key_codec_(oracle.input, oracle.key, oracle.settings.flink_compat) {
    Make(lanes, {}, false);
  }

  Status Process(const TestRow& row) {
    KeyBatch keys;
    const RowBatch batch = BatchOf(oracle_.input, {{row.kind, row.values}});
    RT_TRY(key_codec_.Encode(batch, &keys));
    const int lane = LaneOfKeyGroup(KeyGroupOf(keys.key(0)), static_cast<int>(lanes_.size()));
    return lanes_[static_cast<size_t>(lane)]->Process({row});
  }
  void Advance(Time time) {
    for (const auto& lane : lanes_) EXPECT_TRUE(lane->AdvanceTime(time).ok());
  }
  void Rescale(int lanes) {
    std::vector<std::string> snapshots;
    MapBackend::Table below;
    for (const auto& lane : lanes_) {
      MapBackend::Table of_lane;
      snapshots.push_back(lane->Checkpoint(&of_lane));
      below.merge(of_lane);
    }
    const int64_t before = entries();
    Make(lanes, below, true);
    for (const auto& lane : lanes_) lane->RestoreFrom(snapshots);
    EXPECT_TRUE(tier_bytes_ > 0 || entries() == before);
  }
  TestRows Take() {
    TestRows rows;
    for (const auto& lane : lanes_) {
      for (TestRow& row : lane->Take()) rows.push_back(std::move(row));
    }
    return rows;
  }
  const Schema& output() const { return lanes_[0]->output(); }

 private:
  int64_t entries() const {
    int64_t entries = 0;
    for (const auto& lane : lanes_) entries += lane->size().entries;
    return entries;
  }
  void Make(int lanes, const MapBackend::Table& below, bool restored) {
    lanes_.clear();
    for (int lane = 0; lane < lanes; ++lane) {
      OperatorContext settings = oracle_.settings;
      settings.key_groups = KeyGroupsOfLane(lane, lanes);
      lanes_.push_back(std::make_unique<Harness>(oracle_.factory, oracle_.input, settings));
      if (tier_bytes_ == 0) continue;
      MapBackend::Table own = below;
      std::erase_if(own, [&](const auto& entry) {
        return !settings.key_groups.Has(static_cast<uint8_t>(entry.first[kBelowKeyHead - 1]));
      });
      lanes_.back()->UseTier(tier_bytes_, std::move(own), restored);
    }
  }

  const OracleCase& oracle_;
  const int64_t tier_bytes_;  // 0: no tier
  KeyCodec key_codec_;
  std::vector<std::unique_ptr<Harness>> lanes_;
};

// What came out: the changelog of each key, or, where bundles or the end decide when rows come, the
// rows that are left.
class PerKey {
 public:
  explicit PerKey(const OracleCase& oracle) : oracle_(oracle), table_(oracle) {}
  void Add(const TestRows& rows, const Schema& schema) {
    for (const TestRow& row : rows) {
      std::vector<Value> key;
      for (const int column : oracle_.key) key.push_back(row.values[static_cast<size_t>(column)]);
      std::string name;
      for (const int column : oracle_.key)
        AppendScriptText(row.values[static_cast<size_t>(column)], schema.type(column), &name);
      changelogs_[name] += RowText(row, schema) + "\n";
      table_.Apply(row, schema);
    }
  }
  std::string Text() const {
    if (!oracle_.compares_after_each_row) return Lines(table_.Text());
    std::string text;
    for (const auto& [key, changelog] : changelogs_) text += "key " + key + "\n" + changelog;
    return text;
  }

 private:
  const OracleCase& oracle_;
  OracleTable table_;
  std::map<std::string, std::string> changelogs_;
};

std::string RunOnLanes(const OracleCase& oracle, const std::vector<Event>& events, Random* random,
                       int64_t tier_bytes) {
  const auto number = [&] { return 1 + static_cast<int>((*random)() % kLanesMax); };
  Lanes lanes(oracle, random != nullptr ? number() : 1, tier_bytes);
  const Schema output = lanes.output();
  PerKey keys(oracle);
  for (const Event& event : events) {
    if (event.is_watermark) {
      lanes.Advance(Time::Watermark(event.watermark));
    } else {
      const Status status = lanes.Process(event.row);
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    keys.Add(lanes.Take(), output);
    if (random != nullptr && (*random)() % 8 == 0) lanes.Rescale(number());
  }
  lanes.Advance(Time::Watermark(Time::kMaxWatermark));
  lanes.Advance(Time::End());
  keys.Add(lanes.Take(), output);
  return keys.Text();
}

void RunCases(const std::vector<OracleCase>& cases, uint64_t seeds) {
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    for (const OracleCase& oracle : cases) {
      SCOPED_TRACE(oracle.name + ", seed " + std::to_string(seed));
      Random random(seed);
      const std::vector<Event> events = oracle.stream(random);
      const std::string single = RunOnLanes(oracle, events, nullptr, 0);
      ASSERT_EQ(RunOnLanes(oracle, events, &random, 0), single);
      ASSERT_EQ(RunOnLanes(oracle, events, &random, 1), single) << "with everything below";
      ASSERT_EQ(RunOnLanes(oracle, events, &random, 2000), single) << "with some of it below";
    }
  }
}

TEST(Lanes, Deduplicate) { RunCases(Deduplications(), 4); }
TEST(Lanes, Rank) { RunCases(Ranks(), 2); }

// A stream with retractions, of the cases of Rank.
OracleCase Retracting(std::string name, Harness::Factory factory) {
  for (OracleCase& rank : Ranks()) {
    if (!rank.leaves_no_state) continue;
    OracleCase oracle;
    oracle.name = std::move(name);
    oracle.input = rank.input;
    oracle.stream = rank.stream;
    oracle.factory = std::move(factory);
    oracle.key = {kG};
    return oracle;
  }
  return {};
}

// What a bundle does to a retraction of an unknown row depends on what else is in it.
OracleCase Bundled(OracleCase oracle) {
  oracle.stream = [stream = oracle.stream](Random& random) {
    std::vector<Event> events = stream(random);
    std::erase_if(events, [](const Event& event) {
      return !event.is_watermark && event.row.values[kId] == Value(std::string("nobody"));
    });
    return events;
  };
  oracle.compares_after_each_row = false;
  return oracle;
}

GroupAggregateSpec AllKinds(const Schema& input) {
  using F = AggregateFunction;
  GroupAggregateSpec spec;
  spec.group = {kG};
  spec.counts_rows = true;
  spec.calls = {{F::kCount, {}, -1, false, true, Type::BigInt().NotNull()},
                {F::kSum, {kV}, -1, false, true, Type::BigInt()},
                {F::kSum, {kD}, -1, false, true, Type::Double()},
                {F::kMin, {kV}, -1, false, true, Type::BigInt()},
                {F::kMax, {kS}, -1, false, true, Type::String()},
                {F::kMin, {kD}, -1, false, true, Type::Double()},
                {F::kCount, {kS}, -1, true, true, Type::BigInt().NotNull()},
                {F::kLastValue, {kV}, -1, false, true, Type::BigInt()},
                {F::kListAgg, {kS}, -1, false, true, Type::String()}};
  spec.output.Add(input.field(kG));
  for (const Aggregation& call : spec.calls) spec.output.Add({"x", call.type});
  return spec;
}

TEST(Lanes, GroupAggregate) {
  const Schema input = Ranks()[0].input;
  const GroupAggregateSpec spec = AllKinds(input);
  GroupAggregateSpec bundled = spec;
  bundled.mini_batch.size = 7;
  std::vector<OracleCase> cases;
  for (const GroupAggregateSpec& each : {spec, bundled}) {
    cases.push_back(Retracting("group aggregate", [each, input](const OperatorContext& context) {
      return GroupAggregate::Create(each, input, context);
    }));
    if (each.mini_batch.enabled()) cases.back() = Bundled(cases.back());
  }
  bundled.count_star = 0;
  cases.push_back(Retracting("two phases", [bundled, input](const OperatorContext& context) {
    return CreateTwoPhases(input, bundled, 7, context);
  }));
  cases.back() = Bundled(cases.back());
  RunCases(cases, 8);
}

TEST(Lanes, OneRowAKey) {
  const Schema input = Ranks()[0].input;
  std::vector<OracleCase> cases;
  for (const int64_t size : {0, 7}) {
    ChangelogNormalizeSpec spec;
    spec.keys = {kG};
    spec.mini_batch.size = size;
    cases.push_back(Retracting("normalize", [spec, input](const OperatorContext& context) {
      return ChangelogNormalize::Create(spec, input, context);
    }));
    if (size > 0) cases.back() = Bundled(cases.back());
  }
  for (const std::vector<int>& upsert_key : {std::vector<int>{}, std::vector<int>{kId}}) {
    cases.push_back(Retracting("materializer", [upsert_key, input](const OperatorContext& context) {
      return SinkMaterializer::Create({{kG}, upsert_key}, input, context);
    }));
    cases.back().upsert_key = {kG};
    cases.push_back(
        Retracting("compacting materializer", [upsert_key, input](const OperatorContext& context) {
          return WatermarkCompactingMaterializer::Create({{kG}, upsert_key, false}, input, context);
        }));
    cases.back().upsert_key = {kG};
  }
  RunCases(cases, 8);
}

TEST(Lanes, RowsOfAKey) {
  const Schema input = Ranks()[0].input;
  OverRowNumberSpec numbers;
  numbers.partition = {kG};
  numbers.order = {{kV, false, true}};
  numbers.output = input;
  numbers.output.Add({"rn", Type::BigInt().NotNull()});
  OracleCase final_rows = Retracting("final rows", [input](const OperatorContext& context) {
    return FinalRows::Create({}, input, context);
  });
  final_rows.key = {kG, kId, kV, kS, kD, kTs, kTs + 1};
  final_rows.compares_after_each_row = false;
  final_rows.settings.flink_compat = true;  // its key keeps -0.0 and 0.0 apart
  RunCases({Retracting("over",
                       [numbers, input](const OperatorContext& context) {
                         return OverRowNumber::Create(numbers, input, context);
                       }),
            final_rows},
           8);
}

// One lane's snapshot is no other operator's.
TEST(Lanes, MergeRefusesAnotherOperator) {
  const OracleCase first = Deduplications()[0];
  const OracleCase other = Deduplications().back();
  Harness harness(first.factory, first.input);
  Harness of_other(other.factory, other.input);
  const std::string bytes = of_other.SnapshotBytes();
  SnapshotReader reader(bytes);
  EXPECT_EQ(harness.op().Merge(reader).code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace rowtide

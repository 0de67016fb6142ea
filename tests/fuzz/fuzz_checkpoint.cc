// Bytes are a checkpoint that somebody else has made: a manifest, or what an operator is restored
// from. Both are read or refused; an operator that took them in can be snapshotted and shows its
// rows without reading anything that is not there.
//
// The checksum of a manifest guards against damage, not against people: it is made right first.
#include <xxhash.h>

#include <algorithm>

#include "engine/clock.h"
#include "operators/changelog_normalize.h"
#include "operators/deduplicate.h"
#include "operators/group_aggregate.h"
#include "operators/keyed_operator.h"
#include "operators/over_row_number.h"
#include "operators/rank.h"
#include "operators/sink_materializer.h"
#include "operators/watermark_assigner.h"
#include "operators/watermark_compacting_materializer.h"
#include "state/durable/manifest.h"
#include "tests/fuzz/fuzz.h"

using namespace rowtide;

namespace {

const Schema& Input() {
  static const Schema schema(
      {{"id", Type::String()},
       {"n", Type::BigInt()},
       {"ts", Type::Timestamp(3).NotNull().WithTimeAttribute(TimeAttribute::kRowtime)},
       {"x", Type::Double()}});
  return schema;
}

void ReadManifest(std::string bytes) {
  constexpr size_t kHead = 20, kTail = 8;
  if (bytes.size() > kHead + kTail) {
    const uint64_t size = bytes.size() - kHead - kTail;
    bytes.replace(12, 8, reinterpret_cast<const char*>(&size), 8);
    const uint64_t sum = XXH3_64bits(bytes.data(), bytes.size() - kTail);
    bytes.replace(bytes.size() - kTail, kTail, reinterpret_cast<const char*>(&sum), kTail);
  }
  const Result<Manifest> manifest = Manifest::FromBytes(bytes);
  if (manifest.ok() && !Manifest::FromBytes(manifest->ToBytes()).ok())
    fuzz::Fail("a manifest that was read can be written and read");
}

struct Lane {
  ManualClock clock;
  Counters counters;
  StateSize size;
  OperatorContext context() {
    OperatorContext made;
    made.clock = &clock;
    made.counters = &counters;
    made.state_size = &size;
    return made;
  }
};

Schema WithNumber() {
  Schema schema = Input();
  schema.Add({"rn", Type::BigInt().NotNull()});
  return schema;
}

Result<std::unique_ptr<Operator>> MakeDeduplicate(size_t form, const OperatorContext& context) {
  DeduplicateSpec spec;
  spec.rowtime = form % 2 == 0;
  spec.outputs_insert_only = spec.rowtime && form >= 6;
  spec.schema = Input();
  spec.keys = {0};
  spec.order_column = form % 2 == 0 ? 2 : -1;
  spec.keeps_last = form / 2 % 2 == 0;
  spec.emits_update_before = form / 4 % 2 == 0;
  return Create(spec, context);
}

Result<std::unique_ptr<Operator>> MakeRank(size_t form, const OperatorContext& context) {
  constexpr RankSpec::Strategy kStrategies[] = {RankSpec::Strategy::kAppendFast,
                                                RankSpec::Strategy::kRetract,
                                                RankSpec::Strategy::kUpdateFast};
  RankSpec spec;
  spec.input = Input();
  spec.output = Input();
  spec.partition = {0};
  spec.order = {{1, false, true}};
  spec.row_key = {1};
  spec.end = 1 + static_cast<int64_t>(form / 3 % 2) * 2;
  spec.strategy = kStrategies[form % 3];
  return Create(spec, context);
}

Result<std::unique_ptr<Operator>> MakeAggregate(const OperatorContext& context) {
  GroupAggregateSpec spec;
  spec.group = {0};
  spec.counts_rows = true;
  const auto call = [&](AggregateFunction function, int argument, bool distinct, Type type) {
    Aggregation made;
    made.function = function;
    made.arguments = {argument};
    made.distinct = distinct;
    made.retracts = true;
    made.type = type;
    spec.calls.push_back(made);
  };
  call(AggregateFunction::kSum, 1, false, Type::BigInt());
  call(AggregateFunction::kMin, 1, false, Type::BigInt());
  call(AggregateFunction::kMax, 0, false, Type::String());
  call(AggregateFunction::kMin, 3, false, Type::Double());
  call(AggregateFunction::kCount, 3, true, Type::BigInt());
  call(AggregateFunction::kListAgg, 0, false, Type::String());
  spec.output.Add(Input().field(0));
  for (const Aggregation& each : spec.calls) spec.output.Add({"c", each.type});
  return GroupAggregate::Create(std::move(spec), Input(), context);
}

constexpr size_t kAggregate = 14;

Result<std::unique_ptr<Operator>> Make(size_t form, const OperatorContext& context) {
  if (form < 8) return MakeDeduplicate(form, context);
  if (form < 14) return MakeRank(form - 8, context);
  if (form == kAggregate) return MakeAggregate(context);
  if (form == 15) {
    ChangelogNormalizeSpec spec;
    spec.keys = {0};
    spec.mini_batch.size = 10;
    return ChangelogNormalize::Create(std::move(spec), Input(), context);
  }
  if (form == 16) {
    SinkMaterializerSpec spec;
    spec.primary_key = {0};
    return SinkMaterializer::Create(std::move(spec), Input(), context);
  }
  if (form == 17) {
    WatermarkCompactingMaterializerSpec spec;
    spec.primary_key = {0};
    return WatermarkCompactingMaterializer::Create(std::move(spec), Input(), context);
  }
  OverRowNumberSpec spec;
  spec.partition = {0};
  spec.order = {{1, false, true}};
  spec.output = WithNumber();
  return OverRowNumber::Create(std::move(spec), Input(), context);
}
constexpr size_t kForms = 19;

void Show(KeyedOperator& keyed) {
  for (const std::unique_ptr<ShownState>& state : keyed.Shown()) {
    KeyBatch keys;
    for (int slices = 0; slices < 100; ++slices) {
      if (!state->NextKeys(64, &keys).ok() || keys.rows() == 0) break;
      for (int i = 0; i < keys.rows(); ++i) (void)state->key_codec().Decode(keys.key(i)).ok();
      const auto visit = [](const RowBatch&, std::span<const int32_t>) { return Status::Ok(); };
      if (!state->Rows(keys, visit).ok()) break;
    }
  }
}

// Bytes of a snapshot are lengths and numbers: mutations of a real one get furthest. So the input
// edits the snapshot of an operator that has seen a few rows.
Result<std::string> SnapshotOf(Operator& made) {
  class Nothing final : public Collector {
   public:
    Status Emit(RowBatch /*batch*/) override { return Status::Ok(); }
    Status Advance(Time /*time*/) override { return Status::Ok(); }
  } out;
  std::vector<std::pair<RowKind, std::vector<Value>>> rows;
  for (int64_t i = 0; i < 12; ++i)
    rows.push_back({RowKind::kInsert,
                    {std::string("key") + std::string(static_cast<size_t>(i % 3) * 9, 'k'), i % 4,
                     1000 * i, static_cast<double>(i) / 2}});
  RT_TRY(made.Process(0, BatchOf(Input(), rows), out));
  SnapshotWriter writer;
  RT_TRY(made.Snapshot(writer));
  return writer.Take();
}

void Restore(fuzz::Choices& choices) {
  const size_t form = choices.Byte() % kForms;
  Lane first_lane, second_lane;
  Result<std::unique_ptr<Operator>> first = Make(form, first_lane.context());
  Result<std::unique_ptr<Operator>> second = Make(form, second_lane.context());
  if (!first.ok() || !second.ok()) fuzz::Fail("the operator is made", first.status().message());
  Result<std::string> taken = SnapshotOf(**first);
  if (!taken.ok()) fuzz::Fail("rows are taken", taken.status().message());
  std::string bytes = std::move(*taken);
  while (!choices.over()) {
    const size_t at = (choices.Byte() * size_t{256} + choices.Byte()) % (bytes.size() + 1);
    switch (choices.Below(4)) {
      case 0: bytes.resize(at); break;
      case 1: bytes.insert(at, 1, static_cast<char>(choices.Byte())); break;
      case 2: bytes.erase(at, 1 + choices.Below(16)); break;
      default:
        if (at < bytes.size()) bytes[at] = static_cast<char>(choices.Byte());
    }
    if (bytes.empty()) break;
  }
  SnapshotReader reader(bytes);
  if (!(*second)->Restore(reader).ok()) return;
  SnapshotReader again(bytes);
  (void)(*second)->Merge(again).ok();
  Show(dynamic_cast<KeyedOperator&>(**second));
  // Sums of an aggregate may overflow, as they may anyway: rows are for the others.
  if (form != kAggregate) (void)SnapshotOf(**second).ok();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  if (choices.Byte() % 4 == 0) {
    ReadManifest(std::string(choices.Rest()));
  } else {
    Restore(choices);
  }
  return 0;
}

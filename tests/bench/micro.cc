// The inner loops one by one, over the same 16,384 Nexmark bids: what each costs a row.
//
//   bench_micro [--benchmark_filter=csv_in]      nanoseconds, by google-benchmark
//   tests/bench/instructions                     instructions, by callgrind, against recorded ones
//
// With ROWTIDE_BENCH_ROUNDS=n every loop runs n times over the bids and no clock decides, so two
// runs under callgrind differ by the loop alone.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "connectors/nexmark/text.h"
#include "connectors/registry.h"
#include "operators/deduplicate.h"
#include "operators/rank.h"
#include "state/hot_table.h"
#include "state/key_codec.h"
#include "state/row_codec.h"

namespace {

using namespace rowtide;

constexpr int64_t kRows = 16384;

const Schema& BidSchema() {
  static const Schema schema({{"auction", Type::BigInt()},
                              {"bidder", Type::BigInt()},
                              {"price", Type::BigInt()},
                              {"channel", Type::String()},
                              {"url", Type::String()},
                              {"dateTime", Type::Timestamp(3)},
                              {"extra", Type::String()}});
  return schema;
}

[[noreturn]] void Fail(const Status& status) {
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

void Check(const Status& status) {
  if (!status.ok()) Fail(status);
}

template <typename T>
T Take(Result<T> result) {
  if (!result.ok()) Fail(result.status());
  return std::move(*result);
}

class Kept final : public Collector {
 public:
  Status Emit(RowBatch batch) override {
    batches.push_back(std::move(batch));
    return Status::Ok();
  }
  Status Advance(Time /*time*/) override { return Status::Ok(); }
  std::vector<RowBatch> batches;
};

class Dropped final : public Collector {
 public:
  Status Emit(RowBatch /*batch*/) override { return Status::Ok(); }
  Status Advance(Time /*time*/) override { return Status::Ok(); }
};

void ReadAll(const TableOptions& options, Collector& out) {
  ScanSpec scan;
  for (int column = 0; column < BidSchema().size(); ++column) scan.columns.push_back(column);
  const auto source = Take(CreateSource({"bids", options, BidSchema()}, scan, {}));
  for (SourceState state = SourceState::kMore; state == SourceState::kMore;)
    state = Take(source->Poll(out));
}

const std::vector<RowBatch>& Bids() {
  static const std::vector<RowBatch> batches = [] {
    Kept kept;
    ReadAll({{"connector", "nexmark"}, {"nexmark.kind", "bid"}, {"events.num", "17812"}}, kept);
    return std::move(kept.batches);
  }();
  return batches;
}

// Rounds over all of the bids, as many as the clock or ROWTIDE_BENCH_ROUNDS asks for.
void Measure(benchmark::State& state, const std::function<void()>& round) {
  for (auto _ : state) round();
  state.SetItemsProcessed(state.iterations() * kRows);
}

void KeyEncode(benchmark::State& state) {
  const KeyCodec codec(BidSchema(), {1, 0});
  KeyBatch keys;
  Measure(state, [&] {
    for (const RowBatch& batch : Bids()) {
      keys.Clear();
      Check(codec.Encode(batch, &keys));
    }
  });
}

void HashProbe(benchmark::State& state) {
  const KeyCodec codec(BidSchema(), {1, 0});
  std::vector<uint64_t> hashes;
  HotTable table;
  const auto find = [&](uint64_t hash) {
    return table.Find(hash, [&](Arena::Ref ref) { return hashes[ref - 1] == hash; });
  };
  for (const RowBatch& batch : Bids()) {
    KeyBatch keys;
    Check(codec.Encode(batch, &keys));
    for (int row = 0; row < keys.rows(); ++row) {
      hashes.push_back(keys.hash(row));
      if (find(hashes.back()) == nullptr) table.Insert(hashes.back(), hashes.size());
    }
  }
  Measure(state, [&] {
    for (const uint64_t hash : hashes) benchmark::DoNotOptimize(find(hash));
  });
}

void RowEncode(benchmark::State& state) {
  const RowCodec codec(BidSchema());
  EncodedRows rows;
  Measure(state, [&] {
    for (const RowBatch& batch : Bids()) Check(codec.EncodeAll(batch, &rows));
  });
}

template <typename Spec>
void RunOperator(benchmark::State& state, const Spec& spec) {
  SystemClock clock;
  Counters counters;
  StateSize size;
  OperatorContext context;
  context.clock = &clock;
  context.counters = &counters;
  context.state_size = &size;
  Dropped out;
  Measure(state, [&] {  // a new one each round: else all keys are known from the second on
    const auto work = Take(Create(spec, context));
    for (const RowBatch& batch : Bids()) Check(work->Process(0, batch, out));
  });
}

void TopN(benchmark::State& state) {
  RankSpec spec;
  spec.input = spec.output = BidSchema();
  spec.partition = {0};
  SortKey price;
  price.column = 2;
  price.descending = true;
  price.nulls_first = false;
  spec.order = {price};
  spec.end = 10;
  spec.strategy = RankSpec::Strategy::kAppendFast;
  RunOperator(state, spec);
}

void KeepLast(benchmark::State& state) {
  DeduplicateSpec spec;
  spec.schema = BidSchema();
  spec.keys = {1, 0};
  spec.rowtime = spec.keeps_last = true;
  spec.order_column = 5;
  RunOperator(state, spec);
}

void Decode(benchmark::State& state, NexmarkFormat format, const char* name) {
  const std::string path = std::filesystem::temp_directory_path() /
                           ("rowtide-bench-" + std::to_string(::getpid()) + "." + name);
  std::ofstream file(path, std::ios::binary);
  WriteNexmark(NexmarkGenerator({}), format, {NexmarkKind::kBid, 0, kRows},
               [&](std::string_view lines) { return static_cast<bool>(file << lines); });
  file.close();
  Dropped out;
  Measure(state, [&] {
    ReadAll({{"connector", "filesystem"}, {"path", path}, {"format", name}}, out);
  });
  std::filesystem::remove(path);
}

void Encode(benchmark::State& state, const TableOptions& options) {
  ConnectorContext context;
  context.output = std::fopen("/dev/null", "wb");
  const auto sink = Take(CreateSink({"out", options, BidSchema()}, context));
  Measure(state, [&] {
    for (const RowBatch& batch : Bids()) Check(sink->Write(batch));
  });
  std::fclose(context.output);
}

void Register(const char* name, std::function<void(benchmark::State&)> loop) {
  const char* rounds = std::getenv("ROWTIDE_BENCH_ROUNDS");
  auto* registered = benchmark::RegisterBenchmark(name, std::move(loop));
  if (rounds != nullptr) registered->Iterations(std::atoll(rounds));
}

}  // namespace

int main(int arguments, char** argument) {
  Register("key_encode", KeyEncode);
  Register("hash_probe", HashProbe);
  Register("row_encode", RowEncode);
  Register("keep_last", KeepLast);
  Register("top_n", TopN);
  Register("csv_in", [](benchmark::State& state) { Decode(state, NexmarkFormat::kCsv, "csv"); });
  Register("json_in", [](benchmark::State& state) { Decode(state, NexmarkFormat::kJson, "json"); });
  Register("csv_out", [](benchmark::State& state) {
    Encode(state, {{"connector", "filesystem"}, {"path", "-"}, {"format", "csv"}});
  });
  Register("script_out", [](benchmark::State& state) {
    Encode(state, {{"connector", "checksum"}});
  });
  benchmark::Initialize(&arguments, argument);
  if (benchmark::ReportUnrecognizedArguments(arguments, argument)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

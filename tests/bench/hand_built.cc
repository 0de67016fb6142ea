// Keep-last, keep-first and Top-10 over bids as a graph built by hand: source -> operator ->
// checksum, without SQL and without the engine's tasks. What the planner and the tasks add on top
// is the difference to `rowtide run`.
//
//   bench_hand_built keep_last|keep_first|top10 BIDS.csv
#include <chrono>
#include <cstdio>
#include <string>

#include "connectors/registry.h"
#include "operators/deduplicate.h"
#include "operators/rank.h"

namespace {

using namespace rowtide;

class ToSink final : public Collector {
 public:
  explicit ToSink(Sink* sink) : sink_(sink) {}
  Status Emit(RowBatch batch) override { return sink_->Write(batch); }
  Status Advance(Time /*time*/) override { return Status::Ok(); }

 private:
  Sink* sink_;
};

// Hands batches to the operator, and after each 1,024 rows a watermark four seconds behind.
class ToOperator final : public Collector {
 public:
  ToOperator(Operator* to, Collector* out) : to_(to), out_(out) {}
  Status Emit(RowBatch batch) override {
    rows += batch.rows;
    RT_TRY(to_->Process(0, batch, *out_));
    const int64_t last = batch.columns[5].values<int64_t>()[batch.rows - 1];
    return to_->Advance(0, Time::Watermark(last - 4000), *out_);
  }
  Status Advance(Time time) override { return to_->Advance(0, time, *out_); }
  int64_t rows = 0;

 private:
  Operator* to_;
  Collector* out_;
};

Result<std::unique_ptr<Operator>> CreateJob(const std::string& job, const Schema& schema,
                                            const OperatorContext& context) {
  if (job == "top10") {
    RankSpec spec;
    spec.input = spec.output = schema;
    spec.partition = {0};
    SortKey price;
    price.column = 2;
    price.descending = true;
    price.nulls_first = false;
    spec.order = {price};
    spec.end = 10;
    spec.strategy = RankSpec::Strategy::kAppendFast;
    return Create(spec, context);
  }
  DeduplicateSpec spec;
  spec.schema = schema;
  spec.keys = {1, 0};
  spec.rowtime = true;
  spec.order_column = 5;
  spec.keeps_last = job == "keep_last";
  spec.outputs_insert_only = !spec.keeps_last;
  return Create(spec, context);
}

Status Run(const std::string& job, const std::string& path) {
  const Schema schema({{"auction", Type::BigInt()},
                       {"bidder", Type::BigInt()},
                       {"price", Type::BigInt()},
                       {"channel", Type::String()},
                       {"url", Type::String()},
                       {"dateTime", Type::Timestamp(3)},
                       {"extra", Type::String()}});
  const TableSpec table{
      "bids", {{"connector", "filesystem"}, {"path", path}, {"format", "csv"}}, schema};
  SystemClock clock;
  Counters counters;
  StateSize size;
  OperatorContext context;
  context.clock = &clock;
  context.counters = &counters;
  context.state_size = &size;
  const auto start = std::chrono::steady_clock::now();
  RT_ASSIGN(std::unique_ptr<Source> source,
            CreateSource(table, {{0, 1, 2, 3, 4, 5, 6}, {}, {}}, {}));
  RT_ASSIGN(std::unique_ptr<Sink> sink,
            CreateSink({"out", {{"connector", "checksum"}}, schema}, {}));
  RT_ASSIGN(std::unique_ptr<Operator> work, CreateJob(job, schema, context));
  ToSink to_sink(sink.get());
  ToOperator to_work(work.get(), &to_sink);
  for (SourceState state = SourceState::kMore; state == SourceState::kMore;) {
    RT_ASSIGN(state, source->Poll(to_work));
  }
  RT_TRY(to_work.Advance(Time::Watermark(Time::kMaxWatermark)));
  RT_TRY(to_work.Advance(Time::End()));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s\nrows=%lld seconds=%.4f state_entries=%lld state_mb=%lld\n",
              sink->Summary().c_str(), static_cast<long long>(to_work.rows), seconds.count(),
              static_cast<long long>(size.entries), static_cast<long long>(size.bytes >> 20));
  return Status::Ok();
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments != 3) {
    std::fprintf(stderr, "usage: bench_hand_built keep_last|keep_first|top10 BIDS.csv\n");
    return 2;
  }
  const Status status = Run(argument[1], argument[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

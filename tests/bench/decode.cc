// How fast a bids CSV becomes batches, without anything behind it.
//
//   bench_decode BIDS.csv [checksum]        with `checksum`: every row goes into the checksum sink
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "connectors/registry.h"

namespace {

using namespace rowtide;

class ToSink final : public Collector {
 public:
  explicit ToSink(Sink* sink) : sink_(sink) {}
  Status Emit(RowBatch batch) override {
    rows += batch.rows;
    return sink_->Write(batch);
  }
  Status Advance(Time /*time*/) override { return Status::Ok(); }
  int64_t rows = 0;

 private:
  Sink* sink_;
};

Status Run(const std::string& path, const std::string& connector) {
  TableSpec table{"bids",
                  {{"connector", "filesystem"}, {"path", path}, {"format", "csv"}},
                  Schema({{"auction", Type::BigInt()},
                          {"bidder", Type::BigInt()},
                          {"price", Type::BigInt()},
                          {"channel", Type::String()},
                          {"url", Type::String()},
                          {"dateTime", Type::Timestamp(3)},
                          {"extra", Type::String()}})};
  RT_ASSIGN(std::unique_ptr<Source> source,
            CreateSource(table, {{0, 1, 2, 3, 4, 5, 6}, {}, {}}, {}));
  RT_ASSIGN(std::unique_ptr<Sink> sink,
            CreateSink({"out", {{"connector", connector}}, table.schema}, {}));
  ToSink out(sink.get());
  const auto start = std::chrono::steady_clock::now();
  for (SourceState state = SourceState::kMore; state == SourceState::kMore;) {
    RT_ASSIGN(state, source->Poll(out));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%s\nrows=%lld seconds=%.4f mb_per_s=%.0f\n", sink->Summary().c_str(),
              static_cast<long long>(out.rows), seconds.count(),
              static_cast<double>(std::filesystem::file_size(path)) / 1e6 / seconds.count());
  return Status::Ok();
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments < 2) return 2;
  const Status status = Run(argument[1], arguments > 2 ? argument[2] : "blackhole");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

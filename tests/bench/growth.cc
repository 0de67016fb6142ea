// What a row costs an operator as its keys grow in number or are skewed, and what a key costs in
// memory. Rows are made in columns and go straight into the operator; only its own processor time
// counts.
//
//   bench_growth keep_first|keep_last|top10 KEYS DRAWS uniform|one|zipf|ascending
//
// First every key comes once (fill), then as many rows as asked for (draw): with keys drawn
// uniformly, always the same, or by Zipf's law with exponent 1.2; `ascending` draws uniformly and
// every price is the highest so far.
//
//   key a, key b   BIGINT         16 bytes
//   price, time    BIGINT, TIMESTAMP(3)
//   extra          STRING         100 letters; keep_first, which keeps no rows, does without
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "engine/batch_builder.h"
#include "operators/deduplicate.h"
#include "operators/rank.h"

namespace {

using namespace rowtide;
constexpr uint32_t kExtraBytes = 100;
// As BinaryRow: null bits, four fields of eight bytes, the end of the text, its bytes.
constexpr int64_t kPackedRowBytes = 1 + 4 * 8 + 4 + kExtraBytes;
constexpr int64_t kKeyBytes = 16;

uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

// Of this thread: others that want the core do not count.
int64_t CpuNanos() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
}

class Dropped final : public Collector {
 public:
  Status Emit(RowBatch batch) override {
    rows += batch.rows;
    return Status::Ok();
  }
  Status Advance(Time /*time*/) override { return Status::Ok(); }
  int64_t rows = 0;
};

class Draws {
 public:
  Draws(const std::string& distribution, uint64_t keys) : keys_(keys) {
    is_one_ = distribution == "one";
    if (distribution != "zipf") return;
    double sum = 0;
    for (uint64_t i = 0; i < keys; ++i)
      cumulated_.push_back(sum += std::pow(static_cast<double>(i + 1), -1.2));
  }
  uint64_t Next() {
    const uint64_t draw = Mix(state_ += 0x9e3779b97f4a7c15);
    if (is_one_) return 0;
    const double unit = static_cast<double>(draw >> 11) * 0x1p-53;
    if (cumulated_.empty()) return static_cast<uint64_t>(unit * static_cast<double>(keys_));
    const auto at =
        std::lower_bound(cumulated_.begin(), cumulated_.end(), unit * cumulated_.back());
    return std::min(static_cast<uint64_t>(at - cumulated_.begin()), keys_ - 1);
  }

 private:
  uint64_t keys_;
  bool is_one_;
  std::vector<double> cumulated_;
  uint64_t state_ = 42;
};

class Job {
 public:
  Job(const std::string& name, bool ascending)
      : has_rows_(name != "keep_first"), ascending_(ascending), schema_(SchemaOf(has_rows_)) {
    auto letters = std::make_shared<Block>(4096);
    for (size_t i = 0; i < letters->size(); ++i)
      letters->data()[i] = static_cast<char>('a' + Mix(i) % 26);
    letters_ = std::move(letters);
  }

  Status Create(const std::string& name) {
    OperatorContext context;
    context.clock = &clock_;
    context.counters = &counters_;
    context.state_size = &size_;
    if (name == "top10") {
      RankSpec spec;
      spec.input = spec.output = schema_;
      spec.partition = {0, 1};
      SortKey price;
      price.column = 2;
      price.descending = true;
      spec.order = {price};
      spec.end = 10;
      spec.strategy = RankSpec::Strategy::kAppendFast;
      RT_ASSIGN(operator_, rowtide::Create(spec, context));
      return Status::Ok();
    }
    DeduplicateSpec spec;
    spec.schema = schema_;
    spec.keys = {0, 1};
    spec.keeps_last = spec.rowtime = has_rows_;
    spec.order_column = has_rows_ ? 3 : -1;
    RT_ASSIGN(operator_, rowtide::Create(spec, context));
    return Status::Ok();
  }

  // Nanoseconds a row, of `rows` rows whose keys `next` names.
  template <typename Next>
  Result<double> Run(int64_t rows, Next&& next) {
    int64_t spent_nanos = 0;
    BatchBuilder builder(schema_);
    for (int64_t left = rows; left > 0;) {
      for (; !builder.full() && left > 0; --left) Append(next(), builder);
      RowBatch batch = builder.Finish();
      if (has_rows_) batch.blocks.push_back(letters_);
      const int64_t begin = CpuNanos();
      RT_TRY(operator_->Process(0, std::move(batch), dropped_));
      spent_nanos += CpuNanos() - begin;
    }
    return static_cast<double>(spent_nanos) / static_cast<double>(rows);
  }

  const StateSize& size() const { return size_; }
  int64_t packed_bytes() const { return kKeyBytes + (has_rows_ ? kPackedRowBytes : 0); }
  int64_t rows_out() const { return dropped_.rows; }

 private:
  static Schema SchemaOf(bool has_rows) {
    Schema schema({{"a", Type::BigInt()}, {"b", Type::BigInt()}});
    if (!has_rows) return schema;
    schema.Add({"price", Type::BigInt()});
    schema.Add({"time", Type::Timestamp(3)});
    schema.Add({"extra", Type::String()});
    return schema;
  }

  void Append(uint64_t key, BatchBuilder& builder) {
    ++row_;
    builder.AppendKind(RowKind::kInsert);
    builder.column(0).Append<int64_t>(static_cast<int64_t>(Mix(key)));
    builder.column(1).Append<int64_t>(static_cast<int64_t>(key));
    if (!has_rows_) return;
    const uint64_t random = Mix(row_);
    builder.column(2).Append<int64_t>(static_cast<int64_t>(ascending_ ? row_ : random >> 32));
    builder.column(3).Append<int64_t>(static_cast<int64_t>(row_ / 10));
    builder.column(4).Append<StringView>(
        StringView(letters_->data() + random % (4096 - kExtraBytes), kExtraBytes));
  }

  bool has_rows_;
  bool ascending_;
  Schema schema_;
  BlockPointer letters_;
  SystemClock clock_;
  Counters counters_;
  StateSize size_;
  std::unique_ptr<Operator> operator_;
  Dropped dropped_;
  uint64_t row_ = 0;
};

Status Measure(const std::string& name, int64_t keys, int64_t rows,
               const std::string& distribution) {
  Draws draws(distribution, static_cast<uint64_t>(keys));
  Job job(name, distribution == "ascending");
  RT_TRY(job.Create(name));
  uint64_t key = 0;
  RT_ASSIGN(const double fill, job.Run(keys, [&] { return key++; }));
  const StateSize filled = job.size();
  RT_ASSIGN(const double draw, job.Run(rows, [&] { return draws.Next(); }));
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto bytes_per_key = static_cast<double>(filled.bytes) / static_cast<double>(keys);
  std::printf(
      "fill_ns=%.1f draw_ns=%.1f rows_out=%lld state_bytes_per_key=%.1f packed_bytes_per_key=%lld "
      "peak_mb=%ld\n",
      fill, draw, static_cast<long long>(job.rows_out()), bytes_per_key,
      static_cast<long long>(job.packed_bytes()), usage.ru_maxrss / 1024);
  return Status::Ok();
}

}  // namespace

int main(int arguments, char** argument) {
  if (arguments != 5) {
    std::fprintf(stderr,
                 "usage: bench_growth keep_first|keep_last|top10 KEYS DRAWS "
                 "uniform|one|zipf|ascending\n");
    return 2;
  }
  const Status status =
      Measure(argument[1], std::atoll(argument[2]), std::atoll(argument[3]), argument[4]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}

#include "connectors/datagen.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "connectors/datagen_fields.h"
#include "engine/batch_builder.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

constexpr int64_t kRowsPerSecond = 10000;

struct GeneratedColumn {
  int column;  // in the table's schema
  std::unique_ptr<FieldGenerator> generator;
};

class DatagenSource final : public Source {
 public:
  DatagenSource(Schema schema, std::vector<GeneratedColumn> columns, const Clock* clock,
                uint64_t seed, int64_t per_second, std::optional<int64_t> rows_max)
      : schema_(std::move(schema)),
        columns_(std::move(columns)),
        clock_(clock),
        seed_(seed),
        per_second_(per_second),
        rows_max_(rows_max),
        builder_(schema_) {}

  const Schema& output_schema() const override { return schema_; }

  Result<SourceState> Poll(Collector& out) override {
    if (rows_max_ && row_ >= *rows_max_) return SourceState::kEnd;
    const int64_t now = clock_->NowMillis();
    const int64_t rows = std::min<int64_t>(DueRows(now), kBatchRows);
    if (rows <= 0) return SourceState::kWait;
    for (int64_t i = 0; i < rows; ++i) AppendRow(now);
    RowBatch batch = builder_.Finish();
    batch.first_record = row_ - rows;
    RT_TRY(out.Emit(std::move(batch)));
    return rows_max_ && row_ >= *rows_max_ ? SourceState::kEnd : SourceState::kMore;
  }

  SourceWakeup wakeup() const override {
    const auto rows = static_cast<double>(row_ - begin_row_);
    const auto due = static_cast<double>(begin_millis_.value_or(0)) +
                     std::ceil(rows / static_cast<double>(per_second_) * 1000);
    const double millis = due - static_cast<double>(clock_->NowMillis());
    return {-1, static_cast<int64_t>(std::clamp(millis, 1.0, 1e9))};
  }

  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutU64(seed_);
    writer.PutI64(row_);
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(seed_, reader.U64("seed"));
    RT_ASSIGN(row_, reader.I64("row"));
    begin_millis_.reset();
    return Status::Ok();
  }

 private:
  // How many rows may come now: one at once, and so many for each millisecond since.
  int64_t DueRows(int64_t now) {
    if (!begin_millis_) {
      begin_millis_ = now;
      begin_row_ = row_;
    }
    const double seconds = static_cast<double>(now - *begin_millis_) / 1000;
    const double due = std::min(1 + seconds * static_cast<double>(per_second_), 9e18);
    const int64_t rows = begin_row_ + static_cast<int64_t>(due) - row_;
    return rows_max_ ? std::min(rows, *rows_max_ - row_) : rows;
  }

  void AppendRow(int64_t now) {
    builder_.AppendKind(RowKind::kInsert);
    for (size_t i = 0; i < columns_.size(); ++i) {
      const auto column = static_cast<uint64_t>(columns_[i].column);
      const uint64_t random =
          MixBits(MixBits(MixBits(seed_) + column) + static_cast<uint64_t>(row_));
      const int number = static_cast<int>(i);
      builder_.AppendValue(number, schema_.type(number),
                           columns_[i].generator->Generate(row_, random, now));
    }
    ++row_;
  }

  Schema schema_;
  std::vector<GeneratedColumn> columns_;
  const Clock* clock_;
  uint64_t seed_;
  int64_t per_second_;
  std::optional<int64_t> rows_max_;
  BatchBuilder builder_;
  int64_t row_ = 0;
  std::optional<int64_t> begin_millis_;  // of the first poll
  int64_t begin_row_ = 0;                // at it
};

int64_t NumberOption(const TableSpec& table, const std::string& key, int64_t otherwise) {
  int64_t number = otherwise;
  if (const auto text = TextOption(table, key)) ParseInt64(*text, &number);
  return number;
}

uint64_t AnySeed() {
  std::random_device random;
  return static_cast<uint64_t>(random()) << 32 | random();
}

}  // namespace

bool IsDatagenBounded(const TableSpec& table) {
  return std::any_of(table.options.begin(), table.options.end(), [](const auto& option) {
    return option.first == "number-of-rows" ||
           (option.first.ends_with(".kind") && option.second == "sequence");
  });
}

Result<std::unique_ptr<Source>> CreateDatagenSource(const TableSpec& table, const ScanSpec& scan,
                                                    const ConnectorContext& context) {
  if (context.clock == nullptr) return Status::Internal("datagen needs a clock");
  std::optional<int64_t> rows_max = scan.limit;
  const auto ends_after = [&](int64_t rows) { rows_max = std::min(rows, rows_max.value_or(rows)); };
  if (table.options.contains("number-of-rows"))
    ends_after(NumberOption(table, "number-of-rows", 0));
  for (const Field& field : table.schema.fields()) {
    RT_ASSIGN(const std::unique_ptr<FieldGenerator> any, CreateFieldGenerator(table, field));
    if (any->rows()) ends_after(*any->rows());
  }
  Schema schema;
  std::vector<GeneratedColumn> columns;
  for (const int column : scan.columns) {
    schema.Add(table.schema.field(column));
    RT_ASSIGN(std::unique_ptr<FieldGenerator> generator,
              CreateFieldGenerator(table, table.schema.field(column)));
    columns.push_back({column, std::move(generator)});
  }
  const auto& seed = context.settings.datagen_seed;
  return std::unique_ptr<Source>(std::make_unique<DatagenSource>(
      std::move(schema), std::move(columns), context.clock,
      seed ? static_cast<uint64_t>(*seed) : AnySeed(),
      NumberOption(table, "rows-per-second", kRowsPerSecond), rows_max));
}

}  // namespace rowtide

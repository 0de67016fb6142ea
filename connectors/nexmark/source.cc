#include "connectors/nexmark/source.h"

#include <algorithm>
#include <limits>

#include "connectors/nexmark/fields.h"
#include "connectors/options.h"
#include "engine/batch_builder.h"
#include "engine/snapshot.h"
#include "engine/value_text.h"

namespace rowtide {
namespace {

// Names and types of a kind's columns.
struct FieldLister {
  Schema schema;
  void Number(std::string_view name, int64_t) { schema.Add({std::string(name), Type::BigInt()}); }
  void Text(std::string_view name, std::string_view) {
    schema.Add({std::string(name), Type::String()});
  }
  void Time(std::string_view name, int64_t) { schema.Add({std::string(name), Type::Timestamp(3)}); }
};

Schema FieldsOf(NexmarkKind kind) {
  FieldLister lister;
  switch (kind) {
    case NexmarkKind::kPerson: VisitFields(NexmarkPerson{}, lister); break;
    case NexmarkKind::kAuction: VisitFields(NexmarkAuction{}, lister); break;
    case NexmarkKind::kBid: VisitFields(NexmarkBid{}, lister); break;
  }
  return lister.schema;
}

// Appends the fields of one event to the columns that want them.
class RowAppender {
 public:
  RowAppender(const std::vector<std::vector<int>>& columns_of_field, BatchBuilder* builder)
      : columns_of_field_(columns_of_field), builder_(builder) {
    builder->AppendKind(RowKind::kInsert);
  }
  void Number(std::string_view, int64_t value) {
    for (const int column : NextField()) builder_->column(column).Append<int64_t>(value);
  }
  void Text(std::string_view, std::string_view value) {
    for (const int column : NextField())
      builder_->column(column).Append<StringView>(builder_->strings().Copy(value));
  }
  void Time(std::string_view, int64_t time_ms) { Number("", time_ms); }

 private:
  const std::vector<int>& NextField() { return columns_of_field_[field_++]; }

  const std::vector<std::vector<int>>& columns_of_field_;
  BatchBuilder* builder_;
  size_t field_ = 0;
};

class NexmarkSource final : public Source {
 public:
  NexmarkSource(Schema schema, NexmarkKind kind, NexmarkOptions options)
      : schema_(std::move(schema)),
        kind_(kind),
        generator_(options),
        columns_of_field_(static_cast<size_t>(FieldsOf(kind).size())),
        builder_(schema_) {
    const Schema fields = FieldsOf(kind);
    for (int column = 0; column < schema_.size(); ++column) {
      const auto field = static_cast<size_t>(fields.Find(schema_.name(column)));
      columns_of_field_[field].push_back(column);
    }
  }

  void Read(int64_t first_event, int64_t end_event, int64_t rows_max) {
    event_ = first_event;
    end_event_ = end_event;
    rows_left_ = rows_max;
  }

  const Schema& output_schema() const override { return schema_; }

  Result<SourceState> Poll(Collector& out) override {
    for (; !builder_.full() && !AtEnd(); ++event_) {
      if (generator_.KindOf(event_) != kind_) continue;
      RowAppender row(columns_of_field_, &builder_);
      VisitEvent(generator_, kind_, event_, row);
      --rows_left_;
    }
    if (!builder_.empty()) {
      const int64_t rows = builder_.rows();
      RowBatch batch = builder_.Finish();
      batch.first_record = records_;
      records_ += rows;
      RT_TRY(out.Emit(std::move(batch)));
    }
    return AtEnd() ? SourceState::kEnd : SourceState::kMore;
  }

  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutI64(event_);
    writer.PutI64(rows_left_);
    writer.PutI64(records_);
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override {
    RT_ASSIGN(event_, reader.I64("event"));
    RT_ASSIGN(rows_left_, reader.I64("rows left"));
    RT_ASSIGN(records_, reader.I64("records"));
    return Status::Ok();
  }

 private:
  bool AtEnd() const { return event_ >= end_event_ || rows_left_ <= 0; }

  Schema schema_;
  NexmarkKind kind_;
  NexmarkGenerator generator_;
  std::vector<std::vector<int>> columns_of_field_;
  BatchBuilder builder_;
  int64_t event_ = 0;
  int64_t end_event_ = 0;
  int64_t rows_left_ = 0;
  int64_t records_ = 0;
};

NexmarkKind KindOf(const TableSpec& table) {
  const std::string kind = TextOption(table, "nexmark.kind").value_or("bid");
  if (kind == "person") return NexmarkKind::kPerson;
  return kind == "auction" ? NexmarkKind::kAuction : NexmarkKind::kBid;
}

Status CheckColumns(const TableSpec& table, const Schema& fields) {
  for (const Field& column : table.schema.fields()) {
    const int field = fields.Find(column.name);
    if (field < 0) {
      const std::string nearest = Nearest(column.name, fields.names());
      return Status::InvalidArgument("column {} of table {} is none of a Nexmark {}",
                                     Quote(column.name), table.name,
                                     TextOption(table, "nexmark.kind").value_or("bid"))
          .WithHint(nearest.empty() ? fmt::format("it has {}", fmt::join(fields.names(), ", "))
                                    : fmt::format("did you mean {}?", Quote(nearest)));
    }
    Type type = column.type;
    type.nullable = fields.type(field).nullable;  // no event has NULLs
    if (type == fields.type(field)) continue;
    return Status::InvalidArgument("column {} of table {} is {}; a Nexmark event has {} there",
                                   Quote(column.name), table.name, ToString(column.type),
                                   ToString(fields.type(field)));
  }
  return Status::Ok();
}

int64_t NumberOption(const TableSpec& table, const std::string& key, int64_t otherwise) {
  int64_t number = otherwise;
  if (const auto text = TextOption(table, key)) ParseInt64(*text, &number);
  return number;
}

}  // namespace

Result<std::unique_ptr<Source>> CreateNexmarkSource(const TableSpec& table, const ScanSpec& scan,
                                                    const ConnectorContext& /*context*/) {
  const NexmarkKind kind = KindOf(table);
  RT_TRY(CheckColumns(table, FieldsOf(kind)));
  NexmarkOptions options;
  options.seed = static_cast<uint64_t>(NumberOption(table, "nexmark.seed", 42));
  options.events_per_second = NumberOption(table, "next-event.rate", options.events_per_second);
  if (options.events_per_second <= 0) {
    return Status::InvalidArgument(
        "'next-event.rate' of table {} is {}; it is 1 or more events a second", table.name,
        options.events_per_second);
  }
  const int64_t first = NumberOption(table, "nexmark.first-event", 0);
  const int64_t events = NumberOption(table, "events.num", 0);
  if (first < 0 || events < 0) {
    return Status::InvalidArgument("'{}' of table {} is below 0",
                                   first < 0 ? "nexmark.first-event" : "events.num", table.name);
  }
  constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::max();
  Schema schema;
  for (const int column : scan.columns) schema.Add(table.schema.field(column));
  auto source = std::make_unique<NexmarkSource>(std::move(schema), kind, options);
  source->Read(first, events == 0 || events > kNoEnd - first ? kNoEnd : first + events,
               scan.limit.value_or(kNoEnd));
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace rowtide

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

  // Blocks of events are dealt out among the lanes.
  void Read(int64_t first_event, int64_t end_event, int64_t rows_max, int lane, int lanes) {
    first_event_ = first_event;
    end_event_ = end_event;
    rows_left_ = rows_max;
    lane_ = lane;
    lanes_ = lanes;
    runs_ = {{first_event + lane * kBlockEvents, end_event, lanes, true}};
  }

  const Schema& output_schema() const override { return schema_; }

  Result<SourceState> Poll(Collector& out) override {
    while (!builder_.full() && !AtEnd()) {
      const int64_t event = NextEvent();
      if (generator_.KindOf(event) != kind_) continue;
      RowAppender row(columns_of_field_, &builder_);
      VisitEvent(generator_, kind_, event, row);
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

  // | rows left | records | runs: count, each: next, end, stride, is the last one |
  Status Snapshot(SnapshotWriter& writer) const override {
    writer.PutI64(rows_left_);
    writer.PutI64(records_);
    writer.PutU32(static_cast<uint32_t>(runs_.size()));
    for (const Run& run : runs_) {
      writer.PutI64(run.next);
      writer.PutI64(run.end);
      writer.PutI64(run.stride);
      writer.PutU8(run.is_last);
    }
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override {
    all_runs_.clear();
    return Merge(reader);
  }

  Status Merge(SnapshotReader& reader) override {
    RT_ASSIGN(const int64_t left, reader.I64("rows left"));
    rows_left_ = all_runs_.empty() ? left : std::max(rows_left_, left);
    RT_ASSIGN(records_, reader.I64("records"));
    RT_ASSIGN(const uint32_t count, reader.U32("number of runs"));
    for (uint32_t i = 0; i < count; ++i) {
      Run run;
      RT_ASSIGN(run.next, reader.I64("event"));
      RT_ASSIGN(run.end, reader.I64("last event"));
      RT_ASSIGN(run.stride, reader.I64("stride"));
      RT_ASSIGN(const uint8_t is_last, reader.U8("whether it is the last run"));
      run.is_last = is_last != 0;
      if (run.stride < 1 || run.next < first_event_)
        return Status::Corruption("event {} in steps of {} blocks", run.next, run.stride);
      all_runs_.push_back(run);
    }
    DealOut();
    return Status::Ok();
  }

 private:
  // Events from `next` on in every stride-th block.
  struct Run {
    int64_t next = 0;
    int64_t end = 0;
    int64_t stride = 1;
    bool is_last = false;  // to the end of all events: that is shared out anew
  };
  static constexpr int64_t kBlockEvents = 1000;

  bool AtEnd() const {
    return rows_left_ <= 0 || runs_.empty() || runs_.front().next >= end_event_;
  }

  // Requires: not at the end.
  int64_t NextEvent() {
    Run& run = runs_.front();
    const int64_t event = run.next++;
    if ((run.next - first_event_) % kBlockEvents == 0) run.next += (run.stride - 1) * kBlockEvents;
    if (run.next >= run.end && runs_.size() > 1) runs_.erase(runs_.begin());
    return event;
  }

  // Lanes were not equally far: up to the first block that none has begun they go on as they were,
  // each with one of the lanes that are; from there on blocks are dealt out anew.
  void DealOut() {
    int64_t begun = first_event_;
    for (const Run& run : all_runs_) {
      if (run.is_last) begun = std::max(begun, std::min(run.next, end_event_));
    }
    const int64_t blocks = (begun - first_event_ + kBlockEvents - 1) / kBlockEvents;
    const int64_t fresh = first_event_ + blocks * kBlockEvents;
    runs_.clear();
    int64_t number = 0;
    for (Run run : all_runs_) {
      if (run.is_last) run.end = std::min(fresh, end_event_);
      run.is_last = false;
      if (run.next < run.end && number++ % lanes_ == lane_) runs_.push_back(run);
    }
    runs_.push_back({fresh + lane_ * kBlockEvents, end_event_, lanes_, true});
  }

  Schema schema_;
  NexmarkKind kind_;
  NexmarkGenerator generator_;
  std::vector<std::vector<int>> columns_of_field_;
  BatchBuilder builder_;
  int lane_ = 0;
  int lanes_ = 1;
  int64_t first_event_ = 0;
  int64_t end_event_ = 0;
  std::vector<Run> runs_;      // never empty; the last one goes to the end
  std::vector<Run> all_runs_;  // that were restored, of all lanes
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
                                                    const ConnectorContext& context) {
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
               scan.limit.value_or(kNoEnd), context.lane, context.lanes);
  return std::unique_ptr<Source>(std::move(source));
}

}  // namespace rowtide

#include "connectors/kafka/source.h"

#include <algorithm>

#include "connectors/kafka/lag.h"
#include "connectors/kafka/letter_topic.h"
#include "connectors/kafka/metadata_columns.h"
#include "connectors/kafka/partitions.h"
#include "connectors/kafka/rows.h"

namespace rowtide {
namespace {

// While a broker is away, or a partition may fall idle, it is looked at that often.
constexpr int64_t kLookMillis = 250;
// … and until letters have room again.
constexpr int64_t kRoomMillis = 20;

class KafkaSource final : public Source {
 public:
  KafkaSource(Schema schema, std::string name, KafkaSourceSpec spec, const ScanSpec& scan,
              const ConnectorContext& context, std::unique_ptr<Rejects> rejects,
              KafkaLetterTopic* letters, std::unique_ptr<KafkaRows> rows,
              std::unique_ptr<RowWatermarks> watermarks)
      : schema_(std::move(schema)),
        spec_(std::move(spec)),
        lane_(context.lane),
        watermark_interval_(spec_.watermarks.on_event ? 0 : scan.watermark_interval_millis),
        idle_millis_(spec_.watermarks.idle_millis.value_or(scan.idle_timeout_millis)),
        rejects_(std::move(rejects)),
        letters_(letters),
        rows_(std::move(rows)),
        makes_watermarks_(std::move(watermarks)),
        outage_(name, spec_.properties.bootstrap, context),
        lag_(name, context.gauges),
        partitions_(name, spec_, idle_millis_, context, &outage_,
                    (context.counters != nullptr ? context.counters : &own_counters_)
                        ->Find(kKafkaOffsetsSkipped)) {
    if (lane_ > 0 || context.error == nullptr) return;
    for (const std::string& warning : spec_.properties.warnings)
      std::fprintf(context.error, "note: %s\n", warning.c_str());
  }
  ~KafkaSource() override { rows_->messages().Clear(); }

  const Schema& output_schema() const override { return schema_; }

  Result<SourceState> Poll(Collector& out) override {
    lag_.Show(partitions_.all(), SteadyMillis());
    if (!partitions_.has_begun()) {
      RT_ASSIGN(const bool begun, partitions_.TryToBegin([this](int millis) {
                  return letters_ != nullptr ? letters_->Open(millis) : Status::Ok();
                }));
      if (!begun) return SourceState::kWait;
    }
    if (letters_ != nullptr) {
      RT_TRY(letters_->GoOn());
      if (letters_->is_full()) return SourceState::kWait;
    }
    if (pending_row_ < pending_.rows) return Emit(out);
    if (!is_stuck_ && !messages_over()) return GoOn(out);
    if (!failure_.ok()) return failure_;
    RT_TRY(partitions_.LookForNew());
    partitions_.wakeup().Drain();
    const size_t count = partitions_.all().size();
    for (size_t tried = 0; tried < count; ++tried) {
      const size_t number = turn_;
      turn_ = (turn_ + 1) % count;
      const KafkaReadPartition& partition = partitions_.all()[number];
      if (partition.is_done || IsAhead(partition)) continue;
      RT_ASSIGN(const bool any, TakeFrom(number));
      if (!any) continue;
      if (!messages_over()) return GoOn(out);  // else the end of a partition
    }
    return Rest(out);
  }

  SourceWakeup wakeup() const override {
    const int64_t now = SteadyMillis();
    if (!partitions_.has_begun())
      return {-1, std::max<int64_t>(partitions_.next_try_millis() - now, 0)};
    int64_t millis = 60000;
    const auto until = [&](int64_t moment) {
      millis = std::min(millis, std::max<int64_t>(moment - now, 0));
    };
    if (const int64_t discovery = partitions_.next_discovery_millis(); discovery > 0)
      until(discovery);
    if (makes_watermarks_ && watermark_is_due_) until(next_watermark_millis_);
    if (makes_watermarks_ && idle_millis_ > 0) until(now + std::min(idle_millis_, kLookMillis) / 2);
    if (outage_.is_on()) until(now + kLookMillis);
    if (letters_ != nullptr && letters_->is_full()) until(now + kRoomMillis);
    if (const auto lag = lag_.next_millis()) until(*lag);
    return {partitions_.wakeup().get(), millis};
  }

  Status Snapshot(SnapshotWriter& writer) const override {
    RT_TRY(rejects_->Sync());
    partitions_.Snapshot(writer);
    return Status::Ok();
  }
  Status Restore(SnapshotReader& reader) override { return partitions_.Restore(reader); }
  Status Merge(SnapshotReader& reader) override { return partitions_.Merge(reader); }

  Status Begin() override {
    if (lane_ > 0) return Status::Ok();
    return rejects_->ForgetUnread([this](const LetterPlace& place) {
      return partitions_.WasRead({place.source, place.partition}, place.position);
    });
  }
  Status Committed(SnapshotReader& snapshot) override { return partitions_.Commit(snapshot); }

  SourceProgress progress() const override { return {bytes_read_, 0}; }

 private:
  // What LaneWatermark looks at.
  struct WatermarkView {
    PartitionWatermark watermark;
    bool is_done;
  };

  bool messages_over() const { return cursor_.record >= rows_->messages().count(); }
  KafkaReadPartition& current() { return partitions_.all()[current_]; }

  // --- messages ---

  // Whether anything was there: messages_over() says whether there are messages among it.
  Result<bool> TakeFrom(size_t number) {
    const std::optional<KafkaPartitions::Taken> taken = partitions_.Take(number);
    if (!taken) return false;
    if (!taken->failure.ok() && taken->messages.empty()) return taken->failure;
    for (const rd_kafka_message_t* message : taken->messages)
      bytes_read_ += static_cast<int64_t>(message->len + message->key_len);
    failure_ = taken->failure;  // behind the rows before it
    current_ = number;
    next_ = taken->next;
    const KafkaPosition& position = current().position;
    cursor_ = {0, position.rows};
    rows_->messages().Take(current().at, taken->messages);
    // The offset at hand may be gone, if it was compacted away.
    if (!taken->messages.empty() && rows_->messages().offset(0) != position.next) cursor_.rows = 0;
    if (taken->messages.empty()) RT_TRY(Settle());
    return true;
  }

  // --- rows ---

  Result<SourceState> GoOn(Collector& out) {
    RT_TRY(DecodeMore());
    if (pending_row_ < pending_.rows) return Emit(out);
    if (is_stuck_) return failure_;
    return SourceState::kMore;
  }

  Status DecodeMore() {
    from_ = cursor_;
    pending_row_ = 0;
    const Status status = rows_->Decode(&cursor_, &pending_);
    RT_TRY(rejects_->Flush());
    if (!status.ok()) {
      failure_ = status;
      is_stuck_ = true;
    }
    pending_watermarks_.clear();
    if (pending_.rows > 0) {
      pending_.split = static_cast<int32_t>(current_);
      pending_.file = current().name;
      if (makes_watermarks_) RT_TRY(makes_watermarks_->Of(pending_, &pending_watermarks_));
    }
    return pending_.rows == 0 ? Settle() : Status::Ok();
  }

  // The rows so far are out: where the partition is then.
  Status Settle() {
    KafkaReadPartition& partition = current();
    if (pending_row_ < pending_.rows) {
      const int32_t record = RecordAt(pending_row_);
      partition.position.next = rows_->messages().offset(record);
      partition.position.rows = record == from_.record ? from_.rows : 0;
    } else if (!messages_over()) {
      partition.position.next = rows_->messages().offset(cursor_.record);
      partition.position.rows = cursor_.rows;
    } else {
      partition.position.next = std::max(partition.position.next, next_);
      partition.position.rows = 0;
      partition.is_done = partition.position.is_over();
      rows_->messages().Clear();
      cursor_ = {};
    }
    if (letters_ == nullptr) return Status::Ok();
    return letters_->Release(partition.at, partition.position.next);
  }

  int32_t RecordAt(int row) const { return RecordOfPlace(pending_.place_of(row)->line); }

  // Rows up to where a watermark follows, and it. Cuts between messages only.
  Result<SourceState> Emit(Collector& out) {
    PartitionWatermark& watermark = current().position.watermark;
    watermark.waited_millis = 0;
    watermark.is_idle = false;
    int end = pending_row_;
    std::optional<Time> time;
    while (end < pending_.rows && !time) {
      int next = end + 1;
      while (next < pending_.rows && RecordAt(next) == RecordAt(end)) ++next;
      if (next - pending_row_ > kBatchRows && end > pending_row_) break;
      for (; end < next; ++end) {
        if (makes_watermarks_) watermark.Take(pending_watermarks_[static_cast<size_t>(end)]);
      }
      if (makes_watermarks_ && spec_.watermarks.on_event) time = NextTime();
    }
    const bool is_last = end == pending_.rows;
    RowBatch batch = is_last && pending_row_ == 0
                         ? std::exchange(pending_, {})
                         : Slice(pending_, pending_row_, end - pending_row_);
    if (is_last) pending_ = {};
    pending_row_ = is_last ? 0 : end;
    RT_TRY(Settle());
    RT_TRY(out.Emit(std::move(batch)));
    if (!time) time = TimeIfDue();
    watermark_is_due_ |= makes_watermarks_ != nullptr && !time;
    if (time) RT_TRY(out.Advance(*time));
    return SourceState::kMore;
  }

  // --- time ---

  std::optional<Time> NextTime() {
    views_.clear();
    for (const KafkaReadPartition& partition : partitions_.all())
      views_.push_back({partition.position.watermark, partition.is_done});
    return lane_watermark_.Next(views_);
  }

  std::optional<Time> TimeIfDue() {
    if (!makes_watermarks_) return std::nullopt;
    const int64_t now = SteadyMillis();
    if (now < next_watermark_millis_) return std::nullopt;
    next_watermark_millis_ = now + watermark_interval_;
    watermark_is_due_ = false;
    return NextTime();
  }

  // Ahead of the slowest by more than the drift that is allowed: not read for now.
  bool IsAhead(const KafkaReadPartition& partition) const {
    if (spec_.watermarks.alignment_group.empty() || !makes_watermarks_) return false;
    int64_t lowest = Time::kMaxWatermark;
    for (const KafkaReadPartition& one : partitions_.all()) {
      const PartitionWatermark& other = one.position.watermark;
      if (one.is_done || other.is_idle || other.newest == Time::kNoWatermark) continue;
      lowest = std::min(lowest, other.newest);
    }
    const int64_t newest = partition.position.watermark.newest;
    return lowest != Time::kMaxWatermark && newest != Time::kNoWatermark &&
           newest > lowest + spec_.watermarks.max_drift_millis;
  }

  // Nothing is there now.
  Result<SourceState> Rest(Collector& out) {
    RT_TRY(partitions_.Serve());
    if (partitions_.are_over()) {
      RT_TRY(rejects_->Sync());
      return SourceState::kEnd;
    }
    std::optional<Time> time = TimeIfDue();
    const bool has_none = partitions_.all().empty();
    if (has_none && !std::exchange(is_idle_, true)) time = Time::Idle();
    if (!has_none) is_idle_ = false;
    if (time) RT_TRY(out.Advance(*time));
    return SourceState::kWait;
  }

  const Schema schema_;
  const KafkaSourceSpec spec_;
  const int lane_;
  const int64_t watermark_interval_;
  const int64_t idle_millis_;
  std::unique_ptr<Rejects> rejects_;
  KafkaLetterTopic* const letters_;  // rejects_ has it; null: letters go into no topic
  std::unique_ptr<KafkaRows> rows_;
  std::unique_ptr<RowWatermarks> makes_watermarks_;  // null: the table has none
  Counters own_counters_;
  KafkaOutage outage_;
  KafkaLag lag_;
  KafkaPartitions partitions_;
  size_t turn_ = 0;
  int64_t bytes_read_ = 0;

  // Messages at hand, of current(): those before the cursor are decoded, and of them
  // the rows before pending_row_ are out.
  size_t current_ = 0;
  int64_t next_ = 0;  // behind them
  RecordCursor from_;
  RecordCursor cursor_;
  RowBatch pending_;
  int pending_row_ = 0;
  std::vector<int64_t> pending_watermarks_;
  Status failure_;         // behind what is pending
  bool is_stuck_ = false;  // … at the message under the cursor

  LaneWatermark lane_watermark_;
  std::vector<WatermarkView> views_;
  int64_t next_watermark_millis_ = 0;
  bool watermark_is_due_ = false;  // rows have come since the last one
  bool is_idle_ = false;           // without partitions, and has said so
};

}  // namespace

Result<std::unique_ptr<Source>> CreateKafkaSource(const TableSpec& table, const ScanSpec& scan,
                                                  const ConnectorContext& context) {
  RT_ASSIGN(KafkaSourceSpec spec, ReadKafkaSource(table));
  Schema schema;
  for (const int column : scan.columns) schema.Add(table.schema.field(column));
  for (const std::string& key : scan.metadata) {
    for (const MetadataKey& known : KafkaMetadata()) {
      if (known.key == key) schema.Add({key, known.type});
    }
  }
  RT_CHECK(schema.size() == static_cast<int>(scan.columns.size() + scan.metadata.size()));
  RT_ASSIGN(std::unique_ptr<KafkaLetterTopic> topic, KafkaLetterTopic::Create(table, context));
  KafkaLetterTopic* const letters = topic.get();
  RT_ASSIGN(std::unique_ptr<Rejects> rejects,
            Rejects::Create(table.name, context, std::move(topic)));
  RT_ASSIGN(std::unique_ptr<KafkaRows> rows, KafkaRows::Create(spec, scan, context, rejects.get()));
  if (letters != nullptr) letters->ReadsFrom(&rows->messages());
  std::unique_ptr<RowWatermarks> watermarks;
  if (scan.watermarks) {
    RT_ASSIGN(watermarks, scan.watermarks());
  }
  return std::unique_ptr<Source>(
      std::make_unique<KafkaSource>(std::move(schema), table.name, std::move(spec), scan, context,
                                    std::move(rejects), letters, std::move(rows),
                                    std::move(watermarks)));
}

}  // namespace rowtide

#include "connectors/kafka/source.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <mutex>

#include "connectors/kafka/consumer.h"
#include "connectors/kafka/discovery.h"
#include "connectors/kafka/metadata_columns.h"
#include "connectors/kafka/positions.h"
#include "connectors/kafka/rows.h"
#include "connectors/kafka/watermarks.h"
#include "engine/gauges.h"
#include "engine/waits.h"

namespace rowtide {
namespace {

// A question to a broker may hold a poll up for so long; a stop request waits behind it.
constexpr int kAnswerMillis = 1000;
// Between two tries to find the brokers.
constexpr int64_t kRetryMillis = 250;
// More than this between two looks at a queue is time in which nobody looked.
constexpr int64_t kLongestLookMillis = 250;

constexpr GaugeName kLag = {"consumer_lag_records",
                            "Records of a partition that a source has not read yet"};
constexpr int64_t kLagMillis = 500;

int64_t NowMillis() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class EventDescriptor {
 public:
  EventDescriptor() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~EventDescriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  EventDescriptor(const EventDescriptor&) = delete;
  EventDescriptor& operator=(const EventDescriptor&) = delete;
  int get() const { return descriptor_; }
  void Drain() const {
    uint64_t count;
    while (::read(descriptor_, &count, sizeof(count)) > 0) {
    }
  }

 private:
  int descriptor_;
};

class KafkaSource final : public Source {
 public:
  KafkaSource(Schema schema, std::string name, KafkaSourceSpec spec, const ScanSpec& scan,
              const ConnectorContext& context, std::unique_ptr<Rejects> rejects,
              std::unique_ptr<KafkaRows> rows, std::unique_ptr<RowWatermarks> watermarks)
      : schema_(std::move(schema)),
        name_(std::move(name)),
        spec_(std::move(spec)),
        lane_(context.lane),
        lanes_(context.lanes),
        error_(context.error),
        gauges_(context.gauges),
        waits_(context.waits),
        watermark_interval_(spec_.watermarks.on_event ? 0 : scan.watermark_interval_millis),
        idle_millis_(spec_.watermarks.idle_millis.value_or(scan.idle_timeout_millis)),
        rejects_(std::move(rejects)),
        rows_(std::move(rows)),
        makes_watermarks_(std::move(watermarks)) {
    Counters* const counters = context.counters != nullptr ? context.counters : &own_counters_;
    skipped_ = counters->Find("kafka_offsets_skipped");
    if (lane_ > 0 || error_ == nullptr) return;
    for (const std::string& warning : spec_.properties.warnings)
      std::fprintf(error_, "note: %s\n", warning.c_str());
  }
  ~KafkaSource() override { rows_->messages().Clear(); }

  const Schema& output_schema() const override { return schema_; }

  Result<SourceState> Poll(Collector& out) override {
    ShowLag(NowMillis());
    if (!has_begun_) {
      RT_ASSIGN(const bool begun, TryToBegin());
      if (!begun) return SourceState::kWait;
    }
    if (pending_row_ < pending_.rows) return Emit(out);
    if (!is_stuck_ && !messages_over()) return GoOn(out);
    if (!failure_.ok()) return failure_;
    RT_TRY(LookForPartitions());
    wakeup_.Drain();
    const size_t count = partitions_.size();
    for (size_t tried = 0; tried < count; ++tried) {
      const size_t number = turn_;
      turn_ = (turn_ + 1) % count;
      if (partitions_[number].is_done || IsAhead(partitions_[number])) continue;
      RT_ASSIGN(const bool any, TakeFrom(number));
      if (!any) continue;
      if (!messages_over()) return GoOn(out);  // else the end of a partition
    }
    return Rest(out);
  }

  SourceWakeup wakeup() const override {
    if (!has_begun_) return {-1, std::max<int64_t>(next_try_millis_ - NowMillis(), 0)};
    int64_t millis = 60000;
    const int64_t now = NowMillis();
    const auto until = [&](int64_t moment) {
      millis = std::min(millis, std::max<int64_t>(moment - now, 0));
    };
    if (next_discovery_millis_ > 0) until(next_discovery_millis_);
    if (makes_watermarks_ && watermark_is_due_) until(next_watermark_millis_);
    if (makes_watermarks_ && idle_millis_ > 0)
      until(now + std::min(idle_millis_, kRetryMillis) / 2);
    if (is_out_) until(now + kRetryMillis);
    if (shows_lag_) until(next_lag_millis_);
    return {wakeup_.get(), millis};
  }

  Status Snapshot(SnapshotWriter& writer) const override {
    RT_TRY(rejects_->Sync());
    KafkaPositions positions;
    positions.begun = has_begun_;
    if (!has_begun_) {
      positions.begun = restored_.has_value() && restored_->begun;
      if (restored_) positions.all = OwnOf(restored_->all);
    }
    for (const Partition& partition : partitions_) positions.all[partition.at] = partition.position;
    positions.Snapshot(writer);
    return Status::Ok();
  }

  Status Restore(SnapshotReader& reader) override { return restored_.emplace().Restore(reader); }
  Status Merge(SnapshotReader& reader) override { return restored_->Merge(reader); }

  Status Begin() override {
    if (lane_ > 0) return Status::Ok();
    return rejects_->ForgetUnread([this](const LetterPlace& place) {
      return restored_ && restored_->IsRead({place.source, place.partition}, place.position);
    });
  }

  // On the thread of the job, while another one may poll: librdkafka's handles allow that.
  Status Committed(SnapshotReader& reader) override {
    if (!spec_.properties.commits_offsets || !commits_.load()) return Status::Ok();
    KafkaPositions positions;
    RT_TRY(positions.Restore(reader));
    std::vector<KafkaTopicPartition> partitions;
    std::vector<int64_t> offsets;
    for (const auto& [at, position] : positions.all) {
      partitions.push_back(at);
      offsets.push_back(position.next);
    }
    const std::lock_guard lock(consumers_mutex_);
    if (!consumers_.empty()) consumers_.front()->Commit(partitions, offsets);
    return Status::Ok();
  }

  SourceProgress progress() const override { return {bytes_read_, 0}; }

 private:
  struct Partition {
    KafkaTopicPartition at;
    KafkaPosition position;
    bool is_done = false;
    bool has_answered = false;  // something was fetched, if only its end
    int64_t looked_millis = 0;
    KafkaConsumer* consumer = nullptr;
    size_t number = 0;  // of the consumer's
    BlockPointer name;  // of messages
  };
  // What LaneWatermark looks at.
  struct WatermarkView {
    PartitionWatermark watermark;
    bool is_done;
  };

  bool messages_over() const { return cursor_.record >= rows_->messages().count(); }
  bool is_bounded() const { return spec_.stop.mode != KafkaStop::Mode::kNever; }
  bool IsMine(const KafkaTopicPartition& at) const {
    return LaneOfKafkaPartition(spec_, at, lanes_) == lane_;
  }
  std::map<KafkaTopicPartition, KafkaPosition> OwnOf(
      const std::map<KafkaTopicPartition, KafkaPosition>& all) const {
    std::map<KafkaTopicPartition, KafkaPosition> own;
    for (const auto& [at, position] : all) {
      if (IsMine(at)) own[at] = position;
    }
    return own;
  }

  void Say(const std::string& text) const {
    if (error_ == nullptr) return;
    std::fprintf(error_, "kafka: table %s: %s\n", name_.c_str(), text.c_str());
    std::fflush(error_);
  }

  // --- begin ---

  // False: no broker has answered so far.
  Result<bool> TryToBegin() {
    if (NowMillis() < next_try_millis_) return false;
    const Status begun = BeginReading();
    if (begun.ok()) {
      NoteThatItGoesOn();
      return true;
    }
    if (begun.code() != StatusCode::kExternal) return begun;
    NoteTrouble(begun.message());
    next_try_millis_ = NowMillis() + kRetryMillis;
    return false;
  }

  Status BeginReading() {
    if (!asker_) {
      RT_ASSIGN(asker_, KafkaConsumer::Create(spec_.properties.settings, wakeup_.get()));
    }
    asker_->handle().Poll();
    RT_ASSIGN(const std::vector<KafkaTopicPartition> found,
              FindKafkaPartitions(asker_->handle(), spec_, kAnswerMillis));
    RT_TRY(CheckRestored(found));
    std::vector<KafkaTopicPartition> fresh;
    std::map<KafkaTopicPartition, KafkaPosition> mine;
    for (const KafkaTopicPartition& at : found) {
      if (!IsMine(at)) continue;
      if (restored_ && restored_->all.contains(at)) {
        mine[at] = restored_->all.at(at);
      } else {
        fresh.push_back(at);
      }
    }
    const bool are_new = restored_ && restored_->begun;
    if (are_new && is_bounded()) fresh.clear();  // what is read was settled at the first start
    RT_ASSIGN(const std::vector<int64_t> starts,
              are_new ? KafkaOldestOffsets(asker_->handle(), fresh, kAnswerMillis)
                      : KafkaStartOffsets(asker_->handle(), spec_, fresh, kAnswerMillis));
    RT_ASSIGN(const std::vector<int64_t> ends,
              KafkaEndOffsets(asker_->handle(), spec_, fresh, kAnswerMillis));
    for (size_t i = 0; i < fresh.size(); ++i) {
      mine[fresh[i]].next = starts[i];
      mine[fresh[i]].end = ends[i];
    }
    RT_TRY(Read(mine, std::move(asker_)));
    has_begun_ = true;
    commits_ = true;
    if (spec_.discovery_millis > 0 && !is_bounded())
      next_discovery_millis_ = NowMillis() + spec_.discovery_millis;
    return Status::Ok();
  }

  // What was being read is still there.
  Status CheckRestored(const std::vector<KafkaTopicPartition>& found) const {
    if (!restored_) return Status::Ok();
    for (const auto& [at, position] : restored_->all) {
      if (!IsMine(at) || std::binary_search(found.begin(), found.end(), at)) continue;
      return Gone(at);
    }
    return Status::Ok();
  }
  Status Gone(const KafkaTopicPartition& at) const {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                  fmt::format("table {}: {} is not there any more", name_, KafkaPartitionText(at)))
        .WithHint("create it again and begin anew with --fresh, or change 'topic'");
  }

  // Has the partitions read by a consumer of their own.
  Status Read(const std::map<KafkaTopicPartition, KafkaPosition>& positions,
              std::unique_ptr<KafkaConsumer> consumer) {
    std::vector<KafkaTopicPartition> assigned;
    std::vector<int64_t> offsets;
    for (const auto& [at, position] : positions) {
      Partition& partition = partitions_.emplace_back();
      partition.at = at;
      partition.position = position;
      partition.is_done = position.is_over();
      partition.looked_millis = NowMillis();
      const std::string name = KafkaPartitionText(at);
      const auto block = std::make_shared<Block>(name.size());
      std::memcpy(block->data(), name.data(), name.size());
      partition.name = block;
      partition.consumer = consumer.get();
      if (partition.is_done) continue;
      partition.number = assigned.size();
      assigned.push_back(at);
      offsets.push_back(position.next);
    }
    RT_TRY(consumer->Assign(assigned, offsets));
    const std::lock_guard lock(consumers_mutex_);
    consumers_.push_back(std::move(consumer));
    return Status::Ok();
  }

  // --- new partitions ---

  Status LookForPartitions() {
    if (next_discovery_millis_ == 0 || NowMillis() < next_discovery_millis_) return Status::Ok();
    next_discovery_millis_ = NowMillis() + spec_.discovery_millis;
    KafkaHandle& handle = consumers_.front()->handle();
    Result<std::vector<KafkaTopicPartition>> found =
        FindKafkaPartitions(handle, spec_, kAnswerMillis);
    if (!found.ok()) {
      if (found.status().code() != StatusCode::kExternal) return found.status();
      return Status::Ok();  // asked again at the next interval
    }
    std::vector<KafkaTopicPartition> fresh;
    for (const Partition& partition : partitions_) {
      if (!std::binary_search(found->begin(), found->end(), partition.at))
        return Gone(partition.at);
    }
    for (const KafkaTopicPartition& at : *found) {
      const bool known = std::any_of(partitions_.begin(), partitions_.end(),
                                     [&](const Partition& one) { return one.at == at; });
      if (!known && IsMine(at)) fresh.push_back(at);
    }
    if (fresh.empty()) return Status::Ok();
    Result<std::vector<int64_t>> starts = KafkaOldestOffsets(handle, fresh, kAnswerMillis);
    if (!starts.ok()) return Status::Ok();
    std::map<KafkaTopicPartition, KafkaPosition> positions;
    for (size_t i = 0; i < fresh.size(); ++i) {
      positions[fresh[i]].next = (*starts)[i];
      Say(fmt::format("{} is new", KafkaPartitionText(fresh[i])));
    }
    RT_ASSIGN(std::unique_ptr<KafkaConsumer> consumer,
              KafkaConsumer::Create(spec_.properties.settings, wakeup_.get()));
    return Read(positions, std::move(consumer));
  }

  // --- messages ---

  // Whether anything was there: messages_over() says whether there are messages among it.
  Result<bool> TakeFrom(size_t number) {
    Partition& partition = partitions_[number];
    const int64_t now = NowMillis();
    const int64_t looked = now - std::exchange(partition.looked_millis, now);
    const int count = partition.consumer->Take(partition.number, taken_);
    if (count == 0) {
      const bool counts = partition.has_answered && !is_out_;
      if (counts)
        partition.position.watermark.Waited(std::min(looked, kLongestLookMillis), idle_millis_);
      return false;
    }
    NoteThatItGoesOn();
    partition.has_answered = true;
    int kept = 0;
    Status status = Status::Ok();
    int64_t next = partition.position.next;
    for (int i = 0; i < count; ++i) {
      rd_kafka_message_t* const message = taken_[static_cast<size_t>(i)];
      const bool is_wanted =
          status.ok() && message->err == RD_KAFKA_RESP_ERR_NO_ERROR &&
          (partition.position.end == kNoEnd || message->offset < partition.position.end);
      if (status.ok() && message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (message->offset < next) {
          status = Status::Internal("{} goes back from offset {} to {}",
                                    KafkaPartitionText(partition.at), next, message->offset);
        } else {
          next = message->offset + 1;
        }
      }
      if (is_wanted && status.ok()) {
        bytes_read_ += static_cast<int64_t>(message->len + message->key_len);
        taken_[static_cast<size_t>(kept++)] = message;
        continue;
      }
      if (status.ok() && message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        next = std::max(next, message->offset);
      } else if (status.ok() && message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        status = OnError(partition, *message);
      }
      rd_kafka_message_destroy(message);
    }
    if (!status.ok() && kept == 0) return status;
    failure_ = status;  // behind the rows before it
    current_ = number;
    next_ = next;
    cursor_ = {0, partition.position.rows};
    rows_->messages().Take(partition.at, std::span(taken_).first(static_cast<size_t>(kept)));
    // The offset at hand may be gone, if it was compacted away.
    if (kept > 0 && rows_->messages().offset(0) != partition.position.next) cursor_.rows = 0;
    if (kept == 0) Settle();
    return true;
  }

  Status OnError(Partition& partition, const rd_kafka_message_t& message) {
    const std::string what = fmt::format("table {}: {}", name_, KafkaPartitionText(partition.at));
    switch (message.err) {
      case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
      case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: return OnLostOffset(partition);
      case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
      case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
      case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return Gone(partition.at);
      case RD_KAFKA_RESP_ERR__FATAL: return partition.consumer->handle().fatal_error();
      default: break;
    }
    const char* const text = rd_kafka_message_errstr(&message);
    if (KafkaMayPass(message.err)) {
      NoteTrouble(fmt::format("{}: {}", KafkaPartitionText(partition.at), text));
      return Status::Ok();
    }
    return KafkaStatus(message.err, what);
  }

  // The broker does not have the next message.
  Status OnLostOffset(Partition& partition) {
    RT_ASSIGN(const KafkaOffsetRange range,
              partition.consumer->handle().QueryOffsets(partition.at, kAnswerMillis));
    const std::optional<std::string>& reset = spec_.properties.auto_offset_reset;
    const bool may_jump = !restored_ && (reset == "earliest" || reset == "latest");
    const int64_t lost = partition.position.next;
    if (!may_jump) {
      return Status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                    fmt::format("table {}: {} has no offset {} any more; there are {} to {}", name_,
                                KafkaPartitionText(partition.at), lost, range.begin, range.end))
          .WithHint(
              "messages were deleted before they were read, or the topic was made anew; --fresh "
              "begins again where 'scan.startup.mode' says");
    }
    const int64_t next = reset == "earliest" ? range.begin : range.end;
    *skipped_ += std::max<int64_t>(next - lost, 0);
    Say(fmt::format("{} has no offset {} any more; goes on at {}", KafkaPartitionText(partition.at),
                    lost, next));
    RT_ASSIGN(std::unique_ptr<KafkaConsumer> consumer,
              KafkaConsumer::Create(spec_.properties.settings, wakeup_.get()));
    RT_TRY(consumer->Assign({partition.at}, {next}));
    partition.position.next = next;
    partition.position.rows = 0;
    partition.consumer = consumer.get();
    partition.number = 0;
    const std::lock_guard lock(consumers_mutex_);
    consumers_.push_back(std::move(consumer));
    return Status::Ok();
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
      pending_.file = partitions_[current_].name;
      if (makes_watermarks_) RT_TRY(makes_watermarks_->Of(pending_, &pending_watermarks_));
    }
    if (pending_.rows == 0) Settle();
    return Status::Ok();
  }

  // The rows so far are out: where the partition is then.
  void Settle() {
    Partition& partition = partitions_[current_];
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
  }

  int32_t RecordAt(int row) const { return RecordOfPlace(pending_.place_of(row)->line); }

  // Rows up to where a watermark follows, and it. Cuts between messages only.
  Result<SourceState> Emit(Collector& out) {
    PartitionWatermark& watermark = partitions_[current_].position.watermark;
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
    Settle();
    RT_TRY(out.Emit(std::move(batch)));
    if (!time) time = TimeIfDue();
    watermark_is_due_ |= makes_watermarks_ != nullptr && !time;
    if (time) RT_TRY(out.Advance(*time));
    return SourceState::kMore;
  }

  // --- time ---

  std::optional<Time> NextTime() {
    views_.clear();
    for (const Partition& partition : partitions_)
      views_.push_back({partition.position.watermark, partition.is_done});
    return lane_watermark_.Next(views_);
  }

  std::optional<Time> TimeIfDue() {
    if (!makes_watermarks_) return std::nullopt;
    const int64_t now = NowMillis();
    if (now < next_watermark_millis_) return std::nullopt;
    next_watermark_millis_ = now + watermark_interval_;
    watermark_is_due_ = false;
    return NextTime();
  }

  // Ahead of the slowest by more than the drift that is allowed: not read for now.
  bool IsAhead(const Partition& partition) const {
    if (spec_.watermarks.alignment_group.empty() || !makes_watermarks_) return false;
    int64_t lowest = Time::kMaxWatermark;
    for (const Partition& one : partitions_) {
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
    {
      const std::lock_guard lock(consumers_mutex_);
      for (const std::unique_ptr<KafkaConsumer>& consumer : consumers_) {
        consumer->handle().Poll();
        const std::string trouble = consumer->handle().TakeTrouble();
        if (!trouble.empty()) NoteTrouble(trouble);
        RT_TRY(consumer->handle().fatal_error());
      }
    }
    const bool is_over = std::all_of(partitions_.begin(), partitions_.end(),
                                     [](const Partition& one) { return one.is_done; });
    if (is_over && is_bounded()) return SourceState::kEnd;
    std::optional<Time> time = TimeIfDue();
    if (partitions_.empty() && !std::exchange(is_idle_, true)) time = Time::Idle();
    if (!partitions_.empty()) is_idle_ = false;
    if (time) RT_TRY(out.Advance(*time));
    return SourceState::kWait;
  }

  // --- outages ---

  void NoteTrouble(const std::string& text) {
    const bool is_new = !std::exchange(is_out_, true);
    if (waits_ != nullptr) {
      waits_->Begin(name_, fmt::format("{}: {}", spec_.properties.bootstrap, text));
    } else if (is_new) {
      Say(fmt::format("waits for {}: {}", spec_.properties.bootstrap, text));
    }
  }
  void NoteThatItGoesOn() {
    if (!std::exchange(is_out_, false)) return;
    if (waits_ != nullptr) {
      waits_->End(name_);
    } else {
      Say("goes on");
    }
  }

  // As far as librdkafka has heard of the ends of partitions, which asks nobody.
  void ShowLag(int64_t now) {
    if (gauges_ == nullptr || now < next_lag_millis_) return;
    next_lag_millis_ = now + kLagMillis;
    shows_lag_ = false;
    for (const Partition& partition : partitions_) {
      int64_t begin = 0, end = -1;
      if (partition.consumer == nullptr) continue;
      const rd_kafka_resp_err_t code = rd_kafka_get_watermark_offsets(
          partition.consumer->handle().get(), partition.at.topic.c_str(), partition.at.partition,
          &begin, &end);
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR || end < 0) continue;
      const GaugeLabels labels = {{"table", name_},
                                  {"topic", partition.at.topic},
                                  {"partition", std::to_string(partition.at.partition)}};
      const int64_t lag = std::max<int64_t>(end - partition.position.next, 0);
      shows_lag_ |= lag > 0;
      gauges_->Find(kLag, labels)->Set(static_cast<double>(lag));
    }
  }

  Schema schema_;
  const std::string name_;
  const KafkaSourceSpec spec_;
  const int lane_;
  const int lanes_;
  std::FILE* const error_;
  Gauges* const gauges_;  // null: nobody looks, as with the next
  Waits* const waits_;
  const int64_t watermark_interval_;
  const int64_t idle_millis_;
  std::unique_ptr<Rejects> rejects_;
  std::unique_ptr<KafkaRows> rows_;
  std::unique_ptr<RowWatermarks> makes_watermarks_;  // null: the table has none
  Counters own_counters_;
  int64_t* skipped_;

  EventDescriptor wakeup_;
  std::optional<KafkaPositions> restored_;  // of all lanes
  bool has_begun_ = false;
  std::atomic<bool> commits_ = false;
  int64_t next_try_millis_ = 0;
  int64_t next_lag_millis_ = 0;
  bool shows_lag_ = false;                // above 0, of some partition
  int64_t next_discovery_millis_ = 0;     // 0: never
  std::unique_ptr<KafkaConsumer> asker_;  // until it reads
  std::mutex consumers_mutex_;
  std::vector<std::unique_ptr<KafkaConsumer>> consumers_;  // list under the mutex
  std::vector<Partition> partitions_;
  size_t turn_ = 0;
  std::array<rd_kafka_message_t*, kBatchRows> taken_{};
  int64_t bytes_read_ = 0;

  // Messages at hand, of partitions_[current_]: those before the cursor are decoded, and of them
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
  bool is_out_ = false;            // no broker answers, and that was said
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
  RT_ASSIGN(std::unique_ptr<Rejects> rejects, Rejects::Create(table.name, context));
  RT_ASSIGN(std::unique_ptr<KafkaRows> rows, KafkaRows::Create(spec, scan, context, rejects.get()));
  std::unique_ptr<RowWatermarks> watermarks;
  if (scan.watermarks) {
    RT_ASSIGN(watermarks, scan.watermarks());
  }
  return std::unique_ptr<Source>(
      std::make_unique<KafkaSource>(std::move(schema), table.name, std::move(spec), scan, context,
                                    std::move(rejects), std::move(rows), std::move(watermarks)));
}

}  // namespace rowtide

#include "connectors/kafka/partitions.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "connectors/kafka/discovery.h"

namespace rowtide {
namespace {

// A question to a broker may hold a poll up for so long; a stop request waits behind it.
constexpr int kAnswerMillis = 1000;
// Between two tries to find the brokers.
constexpr int64_t kRetryMillis = 250;
// More than this between two looks at a queue is time in which nobody looked.
constexpr int64_t kLongestLookMillis = 250;

BlockPointer NameBlock(const std::string& name) {
  const auto block = std::make_shared<Block>(name.size());
  std::memcpy(block->data(), name.data(), name.size());
  return block;
}

}  // namespace

KafkaPartitions::KafkaPartitions(std::string table, const KafkaSourceSpec& spec,
                                 int64_t idle_millis, const ConnectorContext& context,
                                 KafkaOutage* outage, int64_t* skipped)
    : table_(std::move(table)),
      spec_(spec),
      idle_millis_(idle_millis),
      lane_(context.lane),
      lanes_(context.lanes),
      outage_(outage),
      skipped_(skipped) {}

bool KafkaPartitions::IsMine(const KafkaTopicPartition& at) const {
  return LaneOfKafkaPartition(spec_, at, lanes_) == lane_;
}

bool KafkaPartitions::are_over() const {
  return is_bounded() && std::all_of(all_.begin(), all_.end(),
                                     [](const KafkaReadPartition& one) { return one.is_done; });
}

// --- begin ---

Result<bool> KafkaPartitions::TryToBegin(const std::function<Status(int millis)>& first) {
  if (SteadyMillis() < next_try_millis_) return false;
  const Status begun = Begin(first);
  if (begun.ok()) {
    outage_->NoteEnd();
    return true;
  }
  if (begun.code() != StatusCode::kExternal) return begun;
  // One that goes on from a checkpoint has been let in before, and waits.
  if (asker_ && !restored_) RT_TRY(asker_->handle().refusal());
  outage_->Note(asker_ ? asker_->handle().ReasonOf(begun) : begun.message());
  next_try_millis_ = SteadyMillis() + kRetryMillis;
  return false;
}

Status KafkaPartitions::Begin(const std::function<Status(int millis)>& first) {
  if (!asker_) {
    RT_ASSIGN(asker_, KafkaConsumer::Create(spec_.properties.settings, wakeup_.get()));
  }
  KafkaHandle& handle = asker_->handle();
  handle.Poll();
  RT_ASSIGN(const std::vector<KafkaTopicPartition> found,
            FindKafkaPartitions(handle, spec_, kAnswerMillis));
  RT_TRY(first(kAnswerMillis));
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
            are_new ? KafkaOldestOffsets(handle, fresh, kAnswerMillis)
                    : KafkaStartOffsets(handle, spec_, fresh, kAnswerMillis));
  RT_ASSIGN(const std::vector<int64_t> ends, KafkaEndOffsets(handle, spec_, fresh, kAnswerMillis));
  for (size_t i = 0; i < fresh.size(); ++i) {
    mine[fresh[i]].next = starts[i];
    mine[fresh[i]].end = ends[i];
  }
  RT_TRY(Read(mine, std::move(asker_)));
  has_begun_ = true;
  commits_ = true;
  if (spec_.discovery_millis > 0 && !is_bounded())
    next_discovery_millis_ = SteadyMillis() + spec_.discovery_millis;
  return Status::Ok();
}

// What was being read is still there.
Status KafkaPartitions::CheckRestored(const std::vector<KafkaTopicPartition>& found) const {
  if (!restored_) return Status::Ok();
  for (const auto& [at, position] : restored_->all) {
    if (!IsMine(at) || std::binary_search(found.begin(), found.end(), at)) continue;
    return Gone(at);
  }
  return Status::Ok();
}

Status KafkaPartitions::Gone(const KafkaTopicPartition& at) const {
  return Status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                fmt::format("table {}: {} is not there any more", table_, KafkaPartitionText(at)))
      .WithHint("create it again and begin anew with --fresh, or change 'topic'");
}

// Has the partitions read by a consumer of their own.
Status KafkaPartitions::Read(const std::map<KafkaTopicPartition, KafkaPosition>& positions,
                             std::unique_ptr<KafkaConsumer> consumer) {
  std::vector<KafkaTopicPartition> assigned;
  std::vector<int64_t> offsets;
  for (const auto& [at, position] : positions) {
    KafkaReadPartition& partition = all_.emplace_back();
    partition.at = at;
    partition.position = position;
    partition.is_done = position.is_over();
    partition.looked_millis = SteadyMillis();
    partition.name = NameBlock(KafkaPartitionText(at));
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

Result<std::vector<KafkaTopicPartition>> KafkaPartitions::NewOf(
    const std::vector<KafkaTopicPartition>& found) const {
  for (const KafkaReadPartition& partition : all_) {
    if (!std::binary_search(found.begin(), found.end(), partition.at)) return Gone(partition.at);
  }
  std::vector<KafkaTopicPartition> fresh;
  for (const KafkaTopicPartition& at : found) {
    const bool known = std::any_of(all_.begin(), all_.end(), [&](const KafkaReadPartition& one) {
      return one.at == at;
    });
    if (!known && IsMine(at)) fresh.push_back(at);
  }
  return fresh;
}

// What cannot be asked now is asked again at the next interval.
Status KafkaPartitions::LookForNew() {
  if (next_discovery_millis_ == 0 || SteadyMillis() < next_discovery_millis_) return Status::Ok();
  next_discovery_millis_ = SteadyMillis() + spec_.discovery_millis;
  KafkaHandle& handle = consumers_.front()->handle();
  const Result<std::vector<KafkaTopicPartition>> found =
      FindKafkaPartitions(handle, spec_, kAnswerMillis);
  if (!found.ok())
    return found.status().code() == StatusCode::kExternal ? Status::Ok() : found.status();
  RT_ASSIGN(const std::vector<KafkaTopicPartition> fresh, NewOf(*found));
  if (fresh.empty()) return Status::Ok();
  const Result<std::vector<int64_t>> starts = KafkaOldestOffsets(handle, fresh, kAnswerMillis);
  if (!starts.ok()) return Status::Ok();
  std::map<KafkaTopicPartition, KafkaPosition> positions;
  for (size_t i = 0; i < fresh.size(); ++i) {
    positions[fresh[i]].next = (*starts)[i];
    outage_->Say(fmt::format("{} is new", KafkaPartitionText(fresh[i])));
  }
  RT_ASSIGN(std::unique_ptr<KafkaConsumer> consumer,
            KafkaConsumer::Create(spec_.properties.settings, wakeup_.get()));
  return Read(positions, std::move(consumer));
}

// --- messages ---

std::optional<KafkaPartitions::Taken> KafkaPartitions::Take(size_t number) {
  KafkaReadPartition& partition = all_[number];
  const int64_t now = SteadyMillis();
  const int64_t looked = now - std::exchange(partition.looked_millis, now);
  const int count = partition.consumer->Take(partition.number, taken_);
  if (count == 0) {
    const bool counts = partition.has_answered && !outage_->is_on();
    if (counts)
      partition.position.watermark.Waited(std::min(looked, kLongestLookMillis), idle_millis_);
    return std::nullopt;
  }
  outage_->NoteEnd();
  partition.has_answered = true;
  size_t kept = 0;
  Status status = Status::Ok();
  int64_t next = partition.position.next;
  for (int i = 0; i < count; ++i) {
    rd_kafka_message_t* const message = taken_[static_cast<size_t>(i)];
    const bool is_message = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    const bool is_wanted =
        status.ok() && is_message &&
        (partition.position.end == kNoEnd || message->offset < partition.position.end);
    if (status.ok() && is_message) {
      if (message->offset < next) {
        status = Status::Internal("{} goes back from offset {} to {}",
                                  KafkaPartitionText(partition.at), next, message->offset);
      } else {
        next = message->offset + 1;
      }
    }
    if (is_wanted && status.ok()) {
      taken_[kept++] = message;
      continue;
    }
    if (status.ok() && message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      next = std::max(next, message->offset);
    } else if (status.ok() && !is_message) {
      status = OnError(partition, *message);
    }
    rd_kafka_message_destroy(message);
  }
  return Taken{std::span(taken_).first(kept), next, std::move(status)};
}

Status KafkaPartitions::OnError(KafkaReadPartition& partition, const rd_kafka_message_t& message) {
  const std::string what = fmt::format("table {}: {}", table_, KafkaPartitionText(partition.at));
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: return OnLostOffset(partition);
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return Gone(partition.at);
    case RD_KAFKA_RESP_ERR__FATAL: return partition.consumer->handle().fatal_error();
    default: break;
  }
  if (KafkaMayPass(message.err)) {
    outage_->Note(fmt::format("{}: {}", KafkaPartitionText(partition.at),
                              rd_kafka_message_errstr(&message)));
    return Status::Ok();
  }
  return KafkaStatus(message.err, what);
}

// The broker does not have the next message.
Status KafkaPartitions::OnLostOffset(KafkaReadPartition& partition) {
  RT_ASSIGN(const KafkaOffsetRange range,
            partition.consumer->handle().QueryOffsets(partition.at, kAnswerMillis));
  const std::optional<std::string>& reset = spec_.properties.auto_offset_reset;
  const bool may_jump = !restored_ && (reset == "earliest" || reset == "latest");
  const int64_t lost = partition.position.next;
  if (!may_jump) {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                  fmt::format("table {}: {} has no offset {} any more; there are {} to {}", table_,
                              KafkaPartitionText(partition.at), lost, range.begin, range.end))
        .WithHint(
            "messages were deleted before they were read, or the topic was made anew; --fresh "
            "begins again where 'scan.startup.mode' says");
  }
  const int64_t next = reset == "earliest" ? range.begin : range.end;
  *skipped_ += std::max<int64_t>(next - lost, 0);
  outage_->Say(fmt::format("{} has no offset {} any more; goes on at {}",
                           KafkaPartitionText(partition.at), lost, next));
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

Status KafkaPartitions::Serve() {
  const std::lock_guard lock(consumers_mutex_);
  for (const std::unique_ptr<KafkaConsumer>& consumer : consumers_) {
    consumer->handle().Poll();
    const std::string trouble = consumer->handle().TakeTrouble();
    if (!trouble.empty()) outage_->Note(trouble);
    RT_TRY(consumer->handle().fatal_error());
  }
  return Status::Ok();
}

// --- positions ---

void KafkaPartitions::Snapshot(SnapshotWriter& writer) const {
  KafkaPositions positions;
  positions.begun = has_begun_;
  if (!has_begun_) {
    positions.begun = restored_.has_value() && restored_->begun;
    if (restored_) {
      for (const auto& [at, position] : restored_->all) {
        if (IsMine(at)) positions.all[at] = position;
      }
    }
  }
  for (const KafkaReadPartition& one : all_) positions.all[one.at] = one.position;
  positions.Snapshot(writer);
}

// On the thread of the job, while another one may poll: librdkafka's handles allow that.
Status KafkaPartitions::Commit(SnapshotReader& snapshot) {
  if (!spec_.properties.commits_offsets || !commits_.load()) return Status::Ok();
  KafkaPositions positions;
  RT_TRY(positions.Restore(snapshot));
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

}  // namespace rowtide

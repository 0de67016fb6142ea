#include "connectors/kafka/requeue.h"

#include <poll.h>

#include <algorithm>
#include <array>

#include "connectors/kafka/consumer.h"
#include "connectors/kafka/letter_lines.h"
#include "connectors/kafka/sink_topics.h"
#include "connectors/kafka/wakeup.h"
#include "connectors/kafka/way_back.h"

namespace rowtide {
namespace {

constexpr int kAnswerMillis = 30'000;
constexpr int kLookMillis = 200;
constexpr int64_t kNothingMillisMax = 60'000;
constexpr size_t kMessagesMax = 256;

std::string NameOf(const KafkaRequeueSpec& spec) {
  if (spec.topics.pattern) return "rowtide.requeue." + *spec.topics.pattern;
  return fmt::format("rowtide.requeue.{}", fmt::join(spec.topics.names, "+"));
}

Result<std::unique_ptr<KafkaWayBack>> OpenWayBack(const KafkaRequeueSpec& spec,
                                                  const std::string& letters) {
  if (spec.only_counts) return std::unique_ptr<KafkaWayBack>();
  return KafkaWayBack::Open(spec.producer, NameOf(spec) + "." + letters);
}

void NoteUnusable(std::string what, KafkaRequeued* done) {
  if (done->unusable++ == 0) done->first_unusable = std::move(what);
}

// --- letters of a topic ---

class TopicReader {
 public:
  TopicReader(const KafkaRequeueSpec& spec, std::string letters)
      : spec_(spec), letters_(std::move(letters)) {}

  Result<KafkaRequeued> Run() {
    KafkaSettings settings = spec_.consumer;
    settings["group.id"] = NameOf(spec_);
    settings["isolation.level"] = "read_committed";  // a letter of an aborted epoch comes again
    RT_ASSIGN(consumer_, KafkaConsumer::Create(settings, wakeup_.get()));
    RT_ASSIGN(const int32_t count, TopicExists(spec_.table, letters_, consumer_->handle()));
    // Whoever did the same is fenced from here on, and what it had read is known.
    RT_ASSIGN(way_, OpenWayBack(spec_, letters_));
    RT_TRY(Assign(count));
    int64_t news_millis = SteadyMillis();
    while (!is_over()) {
      wakeup_.Drain();
      RT_ASSIGN(const bool any, TakeAll());
      if (any) {
        news_millis = SteadyMillis();
        if (way_ && way_->is_full()) RT_TRY(Commit());
        continue;
      }
      if (SteadyMillis() - news_millis > kNothingMillisMax) return Silence();
      consumer_->handle().Poll();
      pollfd readable{wakeup_.get(), POLLIN, 0};
      ::poll(&readable, 1, kLookMillis);
    }
    if (way_) RT_TRY(Commit());
    return std::move(done_);
  }

 private:
  // What was reached by an earlier run, as far as it is still there.
  Status Assign(int32_t count) {
    std::vector<KafkaTopicPartition> all;
    for (int32_t partition = 0; partition < count; ++partition)
      all.push_back({letters_, partition});
    RT_ASSIGN(const std::vector<int64_t> reached,
              consumer_->handle().CommittedOffsets(all, kAnswerMillis));
    for (size_t i = 0; i < all.size(); ++i) {
      RT_ASSIGN(const KafkaOffsetRange range,
                consumer_->handle().QueryOffsets(all[i], kAnswerMillis));
      const bool is_there = reached[i] >= range.begin && reached[i] <= range.end;
      const int64_t begin = is_there ? reached[i] : range.begin;
      if (begin >= range.end) continue;
      reached_.partitions.push_back(all[i]);
      reached_.offsets.push_back(begin);
      ends_.push_back(range.end);
    }
    reached_.group = NameOf(spec_);
    return consumer_->Assign(reached_.partitions, reached_.offsets);
  }

  bool is_over() const {
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (reached_.offsets[i] < ends_[i]) return false;
    }
    return true;
  }

  Result<bool> TakeAll() {
    bool any = false;
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (reached_.offsets[i] >= ends_[i]) continue;
      std::array<rd_kafka_message_t*, kMessagesMax> taken;
      const int count = consumer_->Take(i, taken);
      any |= count > 0;
      Status status = Status::Ok();
      for (int at = 0; at < count; ++at) {
        const KafkaMessagePointer message(taken[static_cast<size_t>(at)]);
        if (status.ok()) status = TakeOne(i, *message);
      }
      RT_TRY(status);
    }
    return any;
  }

  Status TakeOne(size_t partition, const rd_kafka_message_t& message) {
    int64_t& reached = reached_.offsets[partition];
    const KafkaTopicPartition& at = reached_.partitions[partition];
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      reached = std::max(reached, message.offset);
      return Status::Ok();
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return KafkaMayPass(message.err) ? Status::Ok()
                                       : KafkaStatus(message.err, KafkaPartitionText(at));
    }
    if (message.offset >= ends_[partition]) {
      reached = std::max(reached, ends_[partition]);
      return Status::Ok();
    }
    const std::optional<KafkaLetter> letter = ParseLetter(message);
    if (!letter) {
      NoteUnusable(fmt::format("{}, offset {}: it has not the headers of a letter (rowtide.error, "
                               "rowtide.topic, rowtide.partition, rowtide.offset)",
                               KafkaPartitionText(at), message.offset),
                   &done_);
    } else if (!spec_.topics.Has(letter->at.topic)) {
      ++done_.others;
    } else {
      if (way_) RT_TRY(way_->Put(*letter));
      ++done_.records[letter->at.topic];
    }
    reached = message.offset + 1;
    return Status::Ok();
  }

  Status Commit() { return way_->Commit(&reached_); }

  Status Silence() {
    const std::string trouble = consumer_->handle().TakeTrouble();
    return Status::External("topic {}: nothing has come for {} s{}{}", Quote(letters_),
                            kNothingMillisMax / 1000, trouble.empty() ? "" : ": ", trouble);
  }

  const KafkaRequeueSpec& spec_;
  const std::string letters_;
  KafkaWakeup wakeup_;
  std::unique_ptr<KafkaConsumer> consumer_;
  std::unique_ptr<KafkaWayBack> way_;  // null: letters are only counted
  KafkaWayBack::Reached reached_;      // of partitions that have something
  std::vector<int64_t> ends_;          // … as of the start
  KafkaRequeued done_;
};

}  // namespace

Result<KafkaRequeued> RequeueTopic(const KafkaRequeueSpec& spec, const std::string& letters) {
  return TopicReader(spec, letters).Run();
}

Result<KafkaRequeued> RequeueFile(const KafkaRequeueSpec& spec, const std::string& path) {
  KafkaRequeued done;
  RT_ASSIGN(LetterLines lines, LetterLines::Open(path));
  std::unique_ptr<KafkaWayBack> way;
  const auto commit = [&]() -> Status {
    if (way == nullptr) return Status::Ok();
    RT_TRY(way->Commit(nullptr));
    return lines.MarkBack();
  };
  while (true) {
    RT_ASSIGN(std::optional<LetterLines::Line> line, lines.Next());
    if (!line) break;
    if (!line->letter) {
      NoteUnusable(fmt::format("{}, line {}: {}", path, line->number, line->fault), &done);
    } else if (!spec.topics.Has(line->letter->at.topic)) {
      ++done.others;
    } else if (!lines.IsNew(*line->letter)) {
      ++done.earlier;
    } else {
      if (way == nullptr) {
        RT_ASSIGN(way, OpenWayBack(spec, path));
      }
      if (way) RT_TRY(way->Put(*line->letter));
      ++done.records[line->letter->at.topic];
      if (way && way->is_full()) RT_TRY(commit());
    }
  }
  RT_TRY(commit());
  return done;
}

}  // namespace rowtide

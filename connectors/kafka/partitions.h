// The partitions of a table that one lane reads, and their messages.
//
//   TryToBegin   restored positions, or those that the options ask for, once a broker answers
//   LookForNew   at each 'scan.topic-partition-discovery.interval'
//   Take         what is there of one partition
//   Snapshot     the offset of the next message of each, and how many of its rows are out
//
// It fails on what does not pass: a topic that is gone, an offset that the broker no longer has
// (nothing is skipped, unless 'properties.auto.offset.reset' allows it and nothing was restored).
// What may pass is told as an outage, and waited for. One thread; Commit from any.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "connectors/kafka/consumer.h"
#include "connectors/kafka/options.h"
#include "connectors/kafka/outage.h"
#include "connectors/kafka/positions.h"
#include "connectors/kafka/wakeup.h"
#include "engine/row_batch.h"

namespace rowtide {

struct KafkaReadPartition {
  KafkaTopicPartition at;
  KafkaPosition position;
  bool is_done = false;
  bool has_answered = false;  // something was fetched, if only its end
  int64_t looked_millis = 0;
  KafkaConsumer* consumer = nullptr;
  size_t number = 0;  // of the consumer's
  BlockPointer name;  // of messages
};

class KafkaPartitions {
 public:
  // What is borrowed outlives it. `idle_millis`: without a row for so long a partition is idle; 0:
  // never.
  KafkaPartitions(std::string table, const KafkaSourceSpec& spec, int64_t idle_millis,
                  const ConnectorContext& context, KafkaOutage* outage, int64_t* skipped);

  // --- begin ---
  bool has_begun() const { return has_begun_; }
  // False: no broker has answered so far. `first`: what else they are asked, and has to be there.
  Result<bool> TryToBegin(const std::function<Status(int millis)>& first);
  int64_t next_try_millis() const { return next_try_millis_; }
  Status LookForNew();
  int64_t next_discovery_millis() const { return next_discovery_millis_; }  // 0: never

  // --- messages ---
  std::vector<KafkaReadPartition>& all() { return all_; }
  const std::vector<KafkaReadPartition>& all() const { return all_; }
  bool are_over() const;  // of a bounded source: all are
  const KafkaWakeup& wakeup() const { return wakeup_; }
  struct Taken {
    std::span<rd_kafka_message_t* const> messages;  // the caller's; without errors
    int64_t next = 0;                               // behind them and what was no message
    Status failure;                                 // what comes behind them
  };
  // None: nothing is there now.
  std::optional<Taken> Take(size_t number);
  // When nothing was there: what brokers have to say.
  Status Serve();

  // --- positions ---
  void Snapshot(SnapshotWriter& writer) const;
  Status Restore(SnapshotReader& reader) { return restored_.emplace().Restore(reader); }
  Status Merge(SnapshotReader& reader) { return restored_->Merge(reader); }
  // Whether the message had been read when the snapshot was taken that was restored.
  bool WasRead(const KafkaTopicPartition& at, int64_t offset) const {
    return restored_ && restored_->IsRead(at, offset);
  }
  // Tells the group, for those who watch.
  Status Commit(SnapshotReader& snapshot);

 private:
  bool is_bounded() const { return spec_.stop.mode != KafkaStop::Mode::kNever; }
  bool IsMine(const KafkaTopicPartition& at) const;
  Status Begin(const std::function<Status(int millis)>& first);
  Status CheckRestored(const std::vector<KafkaTopicPartition>& found) const;
  Status Gone(const KafkaTopicPartition& at) const;
  Status Read(const std::map<KafkaTopicPartition, KafkaPosition>& positions,
              std::unique_ptr<KafkaConsumer> consumer);
  // Of those that were found: what is mine and new.
  Result<std::vector<KafkaTopicPartition>> NewOf(
      const std::vector<KafkaTopicPartition>& found) const;
  Status OnError(KafkaReadPartition& partition, const rd_kafka_message_t& message);
  Status OnLostOffset(KafkaReadPartition& partition);

  const std::string table_;
  const KafkaSourceSpec& spec_;
  const int64_t idle_millis_;
  const int lane_;
  const int lanes_;
  KafkaOutage* const outage_;
  int64_t* const skipped_;

  KafkaWakeup wakeup_;
  std::optional<KafkaPositions> restored_;  // of all lanes
  bool has_begun_ = false;
  std::atomic<bool> commits_ = false;
  int64_t next_try_millis_ = 0;
  int64_t next_discovery_millis_ = 0;
  std::unique_ptr<KafkaConsumer> asker_;  // until it reads
  std::mutex consumers_mutex_;
  std::vector<std::unique_ptr<KafkaConsumer>> consumers_;  // list under the mutex
  std::vector<KafkaReadPartition> all_;
  std::array<rd_kafka_message_t*, kBatchRows> taken_{};
};

}  // namespace rowtide

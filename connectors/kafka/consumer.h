// A consumer of partitions that it was given, each with a queue of its own.
//
//   broker -> librdkafka's threads -> queue of orders/0  <- Take   (a batch of one partition)
//                                     queue of orders/1  <- Take
//                                     descriptor becomes readable when an empty queue fills
//
// It belongs to no group (nothing rebalances), never pauses or seeks: whoever wants to read from
// elsewhere makes another one. A queue that nobody reads fills up to librdkafka's limits, and then
// nothing more is fetched for it. One thread; Commit from any.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "connectors/kafka/handle.h"

namespace rowtide {

class KafkaConsumer {
 public:
  // `wakeup`: an eventfd that is written to.
  static Result<std::unique_ptr<KafkaConsumer>> Create(const KafkaSettings& settings, int wakeup);
  ~KafkaConsumer();

  KafkaHandle& handle() { return *handle_; }
  // Once. `offsets` are absolute.
  Status Assign(const std::vector<KafkaTopicPartition>& partitions,
                const std::vector<int64_t>& offsets);
  // What is there now of the partition with that number in the list, up to as many as fit; they are
  // the caller's. Errors and the end of a partition are among them.
  int Take(size_t partition, std::span<rd_kafka_message_t*> messages);
  // Tells the group, without waiting for an answer.
  void Commit(const std::vector<KafkaTopicPartition>& partitions,
              const std::vector<int64_t>& offsets);

 private:
  KafkaConsumer(std::unique_ptr<KafkaHandle> handle, int wakeup)
      : handle_(std::move(handle)), wakeup_(wakeup) {}

  std::unique_ptr<KafkaHandle> handle_;
  const int wakeup_;
  std::vector<KafkaQueuePointer> queues_;
};

}  // namespace rowtide

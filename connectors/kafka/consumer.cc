#include "connectors/kafka/consumer.h"

namespace rowtide {
namespace {

// What librdkafka writes into an eventfd.
constexpr uint64_t kOne = 1;

}  // namespace

Result<std::unique_ptr<KafkaConsumer>> KafkaConsumer::Create(const KafkaSettings& settings,
                                                             int wakeup) {
  RT_ASSIGN(std::unique_ptr<KafkaHandle> handle,
            KafkaHandle::Create(KafkaKind::kConsumer, settings));
  const KafkaQueuePointer main(rd_kafka_queue_get_main(handle->get()));
  rd_kafka_queue_io_event_enable(main.get(), wakeup, &kOne, sizeof(kOne));
  return std::unique_ptr<KafkaConsumer>(new KafkaConsumer(std::move(handle), wakeup));
}

// Queues go before their handle.
KafkaConsumer::~KafkaConsumer() {
  for (const KafkaQueuePointer& queue : queues_)
    rd_kafka_queue_io_event_enable(queue.get(), -1, nullptr, 0);
  queues_.clear();
  const KafkaQueuePointer main(rd_kafka_queue_get_main(handle_->get()));
  rd_kafka_queue_io_event_enable(main.get(), -1, nullptr, 0);
}

Status KafkaConsumer::Assign(const std::vector<KafkaTopicPartition>& partitions,
                             const std::vector<int64_t>& offsets) {
  RT_CHECK(queues_.empty());
  // Before they are fetched: what comes first would else go to the consumer's common queue.
  for (const KafkaTopicPartition& at : partitions) {
    KafkaQueuePointer queue(
        rd_kafka_queue_get_partition(handle_->get(), at.topic.c_str(), at.partition));
    if (!queue) return Status::Internal("no queue for {}", KafkaPartitionText(at));
    rd_kafka_queue_forward(queue.get(), nullptr);
    rd_kafka_queue_io_event_enable(queue.get(), wakeup_, &kOne, sizeof(kOne));
    queues_.push_back(std::move(queue));
  }
  const KafkaPartitionsPointer list = KafkaPartitionList(partitions, offsets);
  return KafkaStatus(rd_kafka_assign(handle_->get(), list.get()), "assigning partitions");
}

int KafkaConsumer::Take(size_t partition, std::span<rd_kafka_message_t*> messages) {
  const ssize_t count =
      rd_kafka_consume_batch_queue(queues_[partition].get(), 0, messages.data(), messages.size());
  return count < 0 ? 0 : static_cast<int>(count);
}

void KafkaConsumer::Commit(const std::vector<KafkaTopicPartition>& partitions,
                           const std::vector<int64_t>& offsets) {
  if (partitions.empty()) return;
  const KafkaPartitionsPointer list = KafkaPartitionList(partitions, offsets);
  (void)rd_kafka_commit(handle_->get(), list.get(), 1);
}

}  // namespace rowtide

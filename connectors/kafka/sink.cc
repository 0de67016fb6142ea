#include "connectors/kafka/sink.h"

#include <chrono>

#include "connectors/formats/update_pairs.h"
#include "connectors/kafka/options.h"
#include "connectors/kafka/outbox.h"
#include "connectors/kafka/sink_topics.h"
#include "connectors/kafka/transactions.h"
#include "engine/gauges.h"

namespace rowtide {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// What may wait for a transaction, or for the end of a buffer, in each lane.
constexpr size_t kHeldBytesMax = 32 << 20;
// librdkafka gives a record up after message.timeout.ms, which is shorter.
constexpr milliseconds kDeliveryMax{900'000};

class KafkaSink final : public Sink {
 public:
  KafkaSink(const KafkaSinkSpec& spec, std::unique_ptr<KafkaOutbox> outbox,
            std::shared_ptr<KafkaProducer> producer, const ConnectorContext& context,
            int32_t partitions)
      : guarantee_(spec.guarantee),
        partitioning_(spec.partitioning),
        buffer_rows_(static_cast<size_t>(spec.buffer_rows)),
        buffer_time_(spec.buffer_millis),
        producer_(std::move(producer)),
        outbox_(std::move(outbox)),
        transactions_(producer_ == nullptr ? context.kafka_transactions : nullptr),
        partitions_(partitions),
        next_partition_(partitions > 0 ? context.lane % partitions : 0),
        meter_(context.bytes_written) {}

  Status Write(const RowBatch& batch) override {
    if (batch.rows == 0) return Status::Ok();
    if (outbox_->empty()) first_held_ = steady_clock::now();
    const size_t held = outbox_->held_bytes();
    RT_TRY(outbox_->Add(batch, PartitionOfBatch()));
    if (meter_ != nullptr) meter_->Add(outbox_->held_bytes() - held);
    return SendIfDue(false);
  }

  Status Flush() override {
    RT_TRY(Judge(producer().Poll()));
    return SendIfDue(true);
  }

  bool is_full() const override { return !is_open() && outbox_->held_bytes() > kHeldBytesMax; }

  // A checkpoint before this one that is not decided was given up: its transaction goes on.
  Result<std::string> Prepare(int64_t epoch) override {
    RT_TRY(Send(true));
    if (guarantee_ == KafkaGuarantee::kAtLeastOnce) RT_TRY(producer_->AwaitAll(kDeliveryMax));
    prepared_ = epoch;
    return std::string();
  }

  Status Commit(int64_t /*epoch*/) override { return SendIfDue(false); }

  Status Finish() override {
    RT_TRY(Send(true));
    return transactions_ != nullptr ? Status::Ok() : producer_->AwaitAll(kDeliveryMax);
  }

 private:
  KafkaProducer& producer() {
    return transactions_ != nullptr ? transactions_->producer() : *producer_;
  }
  // The transaction that rows of now belong to is begun.
  bool is_open() const {
    return transactions_ == nullptr || prepared_ <= transactions_->decided_epoch();
  }

  // With a key librdkafka chooses, as Java does; without one it stays with a partition for a while.
  int32_t PartitionOfBatch() {
    switch (partitioning_) {
      case KafkaPartitioning::kDefault: return RD_KAFKA_PARTITION_UA;
      case KafkaPartitioning::kFixed: return next_partition_;
      case KafkaPartitioning::kRoundRobin: {
        const int32_t partition = next_partition_;
        next_partition_ = (next_partition_ + 1) % partitions_;
        return partition;
      }
    }
    return RD_KAFKA_PARTITION_UA;
  }

  // `all`: nobody waits for the other half of an update any more.
  Status SendIfDue(bool all) {
    if (transactions_ != nullptr) RT_TRY(transactions_->failure());
    if (outbox_->empty() || !is_open()) return Status::Ok();
    const bool waits = buffer_rows_ > 0 && outbox_->records() < buffer_rows_ &&
                       outbox_->held_bytes() < kHeldBytesMax &&
                       steady_clock::now() - first_held_ < buffer_time_;
    return waits ? Status::Ok() : Send(all);
  }

  Status Send(bool all) {
    if (transactions_ == nullptr) return outbox_->SendTo(producer_.get(), all);
    RT_TRY(transactions_->failure());
    if (outbox_->empty()) return Status::Ok();
    transactions_->NoteRows();
    return Judge(outbox_->SendTo(&transactions_->producer(), all));
  }

  Status Judge(Status status) {
    if (status.ok() || transactions_ == nullptr) return status;
    return transactions_->Doubt(std::move(status));
  }

  const KafkaGuarantee guarantee_;
  const KafkaPartitioning partitioning_;
  const size_t buffer_rows_;  // 0: nothing is held back
  const milliseconds buffer_time_;
  std::shared_ptr<KafkaProducer> producer_;  // null: the one of the transactions
  std::unique_ptr<KafkaOutbox> outbox_;      // its topics are the producer's
  KafkaTransactions* transactions_;          // null: not exactly-once
  const int32_t partitions_;
  int32_t next_partition_;
  ByteMeter* const meter_;             // null: nobody looks
  std::atomic<int64_t> prepared_ = 0;  // the newest epoch that was
  steady_clock::time_point first_held_;
};

Status NeedsCheckpoints(const TableSpec& table) {
  return Status::InvalidArgument(
             "table {} has 'sink.delivery-guarantee' = 'exactly-once', which needs checkpoints, "
             "and "
             "this job takes none",
             table.name)
      .WithErrorCode("RT6010")
      .WithHint("rowtide run --state DIR, or SET 'execution.checkpointing.dir'");
}

}  // namespace

std::vector<std::string> KafkaSinkMetadata() { return {"topic", "timestamp"}; }

Result<std::shared_ptr<KafkaProducer>> KafkaProducers::Of(const KafkaSettings& settings) {
  std::weak_ptr<KafkaProducer>& known = producers_[settings];
  if (std::shared_ptr<KafkaProducer> there = known.lock()) return there;
  RT_ASSIGN(std::unique_ptr<KafkaProducer> made, KafkaProducer::Create(settings));
  std::shared_ptr<KafkaProducer> shared = std::move(made);
  known = shared;
  return shared;
}

Result<std::unique_ptr<Sink>> CreateKafkaSink(const TableSpec& table,
                                              const ConnectorContext& context) {
  RT_ASSIGN(const KafkaSinkSpec spec, ReadKafkaSink(table));
  const bool is_exact = spec.guarantee == KafkaGuarantee::kExactlyOnce;
  if (is_exact && context.kafka_transactions == nullptr) return NeedsCheckpoints(table);
  std::shared_ptr<KafkaProducer> producer;
  if (!is_exact) {
    KafkaProducers alone;
    KafkaProducers* const shared =
        context.kafka_producers != nullptr ? context.kafka_producers.get() : &alone;
    RT_ASSIGN(producer, shared->Of(spec.properties.settings));
  }
  KafkaProducer& used = is_exact ? context.kafka_transactions->producer() : *producer;
  int32_t partitions = 0;
  for (const std::string& topic : spec.topics.names) {
    RT_ASSIGN(partitions, TopicExists(table.name, topic, used.handle()));
  }
  if (context.lane == 0) {
    for (const std::string& warning : spec.properties.warnings)
      std::fprintf(context.error, "note: %s\n", warning.c_str());
    for (const std::string& warning : spec.warnings)
      std::fprintf(context.error, "note: %s\n", warning.c_str());
  }
  RT_ASSIGN(std::unique_ptr<KafkaOutbox> outbox,
            KafkaOutbox::Create(table, spec, spec.buffer_rows > 0,
                                JoinsUpdates(spec.parts.value.table, context)));
  return std::unique_ptr<Sink>(std::make_unique<KafkaSink>(
      spec, std::move(outbox), std::move(producer), context, partitions));
}

}  // namespace rowtide

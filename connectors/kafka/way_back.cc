#include "connectors/kafka/way_back.h"

#include "connectors/kafka/transaction_calls.h"
#include "engine/schema.h"

namespace rowtide {

using std::chrono::milliseconds;

namespace {

constexpr int kRecordsMax = 1000;
constexpr int kAnswerMillis = 30'000;
constexpr int kAbortMillis = 10'000;
constexpr milliseconds kLongest{80'000};  // above the time-out of a transaction, 60 s

}  // namespace

Result<std::unique_ptr<KafkaWayBack>> KafkaWayBack::Open(KafkaSettings settings, std::string name) {
  std::unique_ptr<KafkaWayBack> made(new KafkaWayBack(std::move(name)));
  settings["transactional.id"] = made->name_;
  // A record is given up before its transaction is.
  settings["transaction.timeout.ms"] = "60000";
  settings["message.timeout.ms"] = "50000";
  RT_ASSIGN(made->producer_, KafkaProducer::Create(std::move(settings)));
  RT_TRY(made->Retry("init_transactions", [&made](int millis) {
    return rd_kafka_init_transactions(made->producer_->handle().get(), millis);
  }));
  return made;
}

// An open one would hold back those who read the topic until it times out.
KafkaWayBack::~KafkaWayBack() {
  if (!is_begun_) return;
  producer_->Purge();
  const KafkaErrorPointer ended(
      rd_kafka_abort_transaction(producer_->handle().get(), kAbortMillis));
}

Status KafkaWayBack::Retry(const char* what, const std::function<rd_kafka_error_t*(int)>& call) {
  return RetryKafka(producer_->handle(), fmt::format("{} of {}", what, Quote(name_)), kLongest,
                    call, [](const std::string&) {});
}

Status KafkaWayBack::Begin() {
  if (is_begun_) return Status::Ok();
  RT_TRY(KafkaStatus(rd_kafka_begin_transaction(producer_->handle().get()), "begin_transaction"));
  is_begun_ = true;
  return Status::Ok();
}

Status KafkaWayBack::Put(const KafkaLetter& letter) {
  const auto [partitions, is_new] = partitions_.try_emplace(letter.at.topic, 0);
  if (is_new) {
    RT_ASSIGN(const std::vector<int> counts,
              producer_->handle().PartitionCounts({letter.at.topic}, kAnswerMillis));
    partitions->second = counts.front();
  }
  if (partitions->second == 0) {
    return Status(StatusCode::kInvalidArgument, ErrorKind::kRun,
                  fmt::format("{}, offset {}: a letter of that record is there, but the topic is "
                              "not any more",
                              KafkaPartitionText(letter.at), letter.offset))
        .WithErrorCode("RT2017");
  }
  RT_TRY(Begin());
  const bool is_there = letter.at.partition < partitions->second;
  const int32_t partition = is_there ? letter.at.partition : RD_KAFKA_PARTITION_UA;
  RT_TRY(SendLetter(producer_.get(), {letter.at.topic, partition}, letter, nullptr));
  ++records_;
  return Status::Ok();
}

bool KafkaWayBack::is_full() const { return records_ >= kRecordsMax; }

Status KafkaWayBack::Commit(const Reached* reached) {
  if (!is_begun_ && (reached == nullptr || reached->partitions.empty())) return Status::Ok();
  RT_TRY(Begin());
  if (reached != nullptr) {
    const KafkaPartitionsPointer list = KafkaPartitionList(reached->partitions, reached->offsets);
    RT_TRY(Retry("send_offsets_to_transaction", [&](int millis) {
      return SendOffsets(producer_->handle(), reached->group, list.get(), millis);
    }));
  }
  RT_TRY(producer_->AwaitAll(kLongest));
  RT_TRY(Retry("commit_transaction", [&](int millis) {
    return rd_kafka_commit_transaction(producer_->handle().get(), millis);
  }));
  is_begun_ = false;
  records_ = 0;
  return Status::Ok();
}

}  // namespace rowtide

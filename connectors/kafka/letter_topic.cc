#include "connectors/kafka/letter_topic.h"

#include <chrono>
#include <limits>

#include "connectors/kafka/properties.h"
#include "connectors/kafka/sink.h"
#include "connectors/kafka/sink_topics.h"
#include "connectors/kafka/transactions.h"

namespace rowtide {
namespace {

// A header is part of a message, whose size has a limit.
constexpr size_t kErrorBytesMax = 1000;
// What may wait for a transaction.
constexpr size_t kWaitingBytesMax = 32 << 20;
// librdkafka gives a record up after message.timeout.ms, which is shorter.
constexpr std::chrono::milliseconds kDeliveryMax{900'000};
// A job that ends without a checkpoint waits so long for what it has handed over.
constexpr std::chrono::milliseconds kLastDeliveryMax{10'000};

Status NamesNoTopic(const TableSettings& settings) {
  return Status::InvalidArgument("'rowtide.dead-letter.{}' = {} names no topic", settings.key,
                                 Quote(settings.dead_letter))
      .WithHint("topic:NAME, or a file");
}

}  // namespace

Result<std::unique_ptr<KafkaLetterTopic>> KafkaLetterTopic::Create(
    const TableSpec& table, const ConnectorContext& context) {
  const TableSettings& settings = context.settings;
  const std::optional<std::string> topic = LetterTopicOf(settings.dead_letter);
  if (settings.bad_data != BadData::kDeadLetter || !topic)
    return std::unique_ptr<KafkaLetterTopic>();
  if (topic->empty()) return NamesNoTopic(settings);
  RT_ASSIGN(const KafkaProperties properties, TranslateKafkaProperties(table, KafkaRole::kSink));
  std::unique_ptr<KafkaLetterTopic> made(new KafkaLetterTopic(table.name, *topic));
  KafkaTransactions* const transactions = context.kafka_transactions;
  if (transactions != nullptr && AreSameBrokers(transactions->bootstrap(), properties.bootstrap)) {
    made->transactions_ = transactions;
    return made;
  }
  if (transactions != nullptr && context.lane == 0 && context.error != nullptr) {
    std::fprintf(context.error,
                 "note: dead letters of table %s go to another cluster (%s) than rows that are "
                 "written exactly once: they are there at least once\n",
                 table.name.c_str(), properties.bootstrap.c_str());
  }
  KafkaProducers alone;
  KafkaProducers* const shared =
      context.kafka_producers != nullptr ? context.kafka_producers.get() : &alone;
  RT_ASSIGN(made->producer_, shared->Of(properties.settings));
  return made;
}

// A job that is stopped without a checkpoint has taken its records off the topic all the same.
KafkaLetterTopic::~KafkaLetterTopic() {
  if (transactions_ != nullptr || producer_ == nullptr) return;
  if (Send().ok() && is_on_its_way_) (void)producer_->AwaitAll(kLastDeliveryMax).ok();
}

KafkaProducer& KafkaLetterTopic::producer() {
  return transactions_ != nullptr ? transactions_->producer() : *producer_;
}

Status KafkaLetterTopic::Open(int millis) {
  return TopicExists(table_, topic_, producer().handle(), millis).status();
}

// --- letters come in ---

Status KafkaLetterTopic::Append(const DeadLetter& letter) {
  const rd_kafka_message_t& message = messages_->message(RecordOfPlace(letter.place.line));
  const KafkaTopicPartition& at = messages_->partition();
  const auto [held, is_new] = held_.try_emplace({at, message.offset});
  if (!is_new) return Status::Ok();
  held->second.letter = LetterOf(at.topic, message);
  held->second.error = Excerpt(
      fmt::format("{} {}: {}", letter.code, letter.reason, letter.message), kErrorBytesMax);
  return Status::Ok();
}

Status KafkaLetterTopic::Release(const KafkaTopicPartition& at, int64_t next) {
  auto one = held_.lower_bound({at, std::numeric_limits<int64_t>::min()});
  while (one != held_.end() && one->first.first == at && one->first.second < next) {
    waiting_bytes_ += one->second.letter.bytes();
    released_.push_back(std::move(one->second));
    one = held_.erase(one);
  }
  return GoOn();
}

// --- letters go out ---

bool KafkaLetterTopic::is_open() const {
  return transactions_ == nullptr || !is_behind_barrier_ ||
         transactions_->decided_epoch() > decided_before_;
}

bool KafkaLetterTopic::is_full() const { return waiting_bytes_ > kWaitingBytesMax && !is_open(); }

Status KafkaLetterTopic::GoOn() {
  if (released_.empty() && !is_on_its_way_) return Status::Ok();
  return is_open() ? SendAll() : Status::Ok();
}

Status KafkaLetterTopic::SendAll() {
  if (transactions_ == nullptr) {
    RT_TRY(producer_->Poll());
    return Send();
  }
  RT_TRY(transactions_->failure());
  if (released_.empty()) return Status::Ok();
  transactions_->NoteRows();
  Status sent = Send();
  return sent.ok() ? sent : transactions_->Doubt(std::move(sent));
}

Status KafkaLetterTopic::Send() {
  for (; !released_.empty(); released_.pop_front()) {
    const Held& one = released_.front();
    is_on_its_way_ = true;
    RT_TRY(SendLetter(&producer(), {topic_, RD_KAFKA_PARTITION_UA}, one.letter, &one.error));
  }
  waiting_bytes_ = 0;
  return Status::Ok();
}

// A checkpoint before this one that is not decided was given up: its transaction goes on.
Status KafkaLetterTopic::Sync() {
  if (released_.empty() && !is_on_its_way_ && transactions_ == nullptr) return Status::Ok();
  RT_TRY(SendAll());
  if (transactions_ == nullptr) RT_TRY(producer_->AwaitAll(kDeliveryMax));
  is_on_its_way_ = false;
  is_behind_barrier_ = true;
  if (transactions_ != nullptr) decided_before_ = transactions_->decided_epoch();
  return Status::Ok();
}

}  // namespace rowtide

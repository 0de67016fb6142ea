#include "connectors/kafka/transactions.h"

#include <xxhash.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "connectors/kafka/admin.h"
#include "connectors/kafka/sink_topics.h"
#include "connectors/kafka/transaction_calls.h"
#include "engine/schema.h"

namespace rowtide {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

constexpr int64_t kTimeoutMillis = 60'000;
constexpr int64_t kStagingMillis = 30'000;
constexpr milliseconds kAfterTimeout{20'000};
constexpr milliseconds kStartMax{60'000};
constexpr milliseconds kStartPause{300};
constexpr int kAnswerMillis = 15'000;
constexpr size_t kNameLetters = 200;  // of a topic's 249

// Counts the time that the machine slept.
int64_t BootMillis() {
  timespec now;
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// As topics may be called.
std::string PipelineOf(const std::string& prefix, const std::string& job) {
  const std::string full = prefix + "." + job;
  std::string name;
  for (const char c : full) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    name.push_back(is_plain ? c : '_');
  }
  if (name == full && name.size() <= kNameLetters) return name;
  return fmt::format("{}-{:016x}", name.substr(0, kNameLetters),
                     XXH3_64bits(full.data(), full.size()));
}

int64_t NumberOf(const std::string& text) {
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

KafkaSettings WithTransactions(KafkaSettings settings, const std::string& pipeline,
                               int64_t timeout_millis) {
  settings["transactional.id"] = pipeline;
  settings["transaction.timeout.ms"] = std::to_string(timeout_millis);
  const auto messages = settings.find("message.timeout.ms");
  if (messages == settings.end() || NumberOf(messages->second) > timeout_millis)
    settings["message.timeout.ms"] = std::to_string(timeout_millis);
  return settings;
}

}  // namespace

KafkaTransactions::KafkaTransactions(KafkaTransactionsSpec spec, Say say)
    : spec_(std::move(spec)),
      say_(std::move(say)),
      pipeline_(PipelineOf(spec_.prefix, spec_.job)),
      markers_(spec_.settings, pipeline_) {}

Result<std::unique_ptr<KafkaTransactions>> KafkaTransactions::Create(KafkaTransactionsSpec spec,
                                                                     Say say) {
  std::unique_ptr<KafkaTransactions> made(new KafkaTransactions(std::move(spec), std::move(say)));
  const KafkaTransactionsSpec& of = made->spec_;
  const auto given = of.settings.find("transaction.timeout.ms");
  made->timeout_millis_ = given != of.settings.end()
                              ? NumberOf(given->second)
                              : std::max(kTimeoutMillis, 2 * of.interval_millis + kStagingMillis);
  if (made->timeout_millis_ > of.interval_millis) return made;
  return Status::InvalidArgument(
             "'properties.transaction.timeout.ms' is {} ms, and a checkpoint comes every {} ms: "
             "every transaction would be given up before it could be committed",
             made->timeout_millis_, of.interval_millis)
      .WithErrorCode("RT6015");
}

std::string KafkaTransactions::Place() const {
  return fmt::format("transactional id {} on {}", Quote(pipeline_), spec_.bootstrap);
}

// --- start ---

// A broker that restarts is waited for: what was asked is asked again from the beginning.
Result<std::optional<Decision>> KafkaTransactions::Begin(const std::string& run_id) {
  const auto until = steady_clock::now() + kStartMax;
  run_id_ = run_id;
  for (bool has_said = false;;) {
    Result<std::optional<Decision>> begun = TryToBegin();
    if (begun.ok() || begun.status().code() != StatusCode::kExternal ||
        steady_clock::now() > until) {
      return begun;
    }
    if (!std::exchange(has_said, true))
      say_(fmt::format("waiting for {}: {}", Place(), begun.status().message()));
    std::this_thread::sleep_for(kStartPause);
  }
}

Result<std::optional<Decision>> KafkaTransactions::TryToBegin() {
  producer_ = nullptr;
  open_since_millis_ = 0;
  {
    const std::lock_guard lock(mutex_);
    failure_ = Status::Ok();
    is_in_doubt_ = false;
  }
  RT_ASSIGN(producer_,
            KafkaProducer::Create(WithTransactions(spec_.settings, pipeline_, timeout_millis_)));
  if (Status there = producer_->handle().AwaitBroker(kAnswerMillis); !there.ok())
    return std::move(there).WithContext(spec_.bootstrap);
  for (const auto& [table, topic] : spec_.topics)
    RT_TRY(TopicExists(table, topic, producer_->handle()).status());
  RT_TRY(CheckTimeout(producer_->handle()));
  RT_TRY(Initialize());
  const milliseconds longest = milliseconds(timeout_millis_) + kAfterTimeout;
  RT_ASSIGN(const int replicas, markers_.Open(producer_->handle(), longest));
  if (replicas == 1 && !std::exchange(has_warned_, true)) {
    say_(fmt::format(
        "topic {} has one replica: a broker that is killed within a commit can lose what it has "
        "confirmed (Kafka 4.3.1 does); the job then stops (RT6014). More replicas are to prevent "
        "it",
        Quote(markers_.name())));
  }
  RT_ASSIGN(const std::optional<Decision> newest, markers_.ReadNewest(longest));
  decided_epoch_ = newest ? newest->epoch : 0;
  RT_TRY(BeginTransaction());
  return newest;
}

Status KafkaTransactions::CheckTimeout(const KafkaHandle& handle) const {
  const Result<KafkaConfig> config = BrokerConfig(handle, kAnswerMillis);
  if (!config.ok()) {
    // Who may not ask is told by init_transactions whether it is too long.
    return config.status().code() == StatusCode::kExternal
               ? Status(config.status()).WithContext(spec_.bootstrap)
               : Status::Ok();
  }
  const auto longest = config->find("transaction.max.timeout.ms");
  if (longest == config->end() || NumberOf(longest->second) >= timeout_millis_) return Status::Ok();
  return Status::InvalidArgument(
             "checkpoints every {} ms need transactions of up to {} ms, and {} allows {} ms "
             "(transaction.max.timeout.ms)",
             spec_.interval_millis, timeout_millis_, spec_.bootstrap, longest->second)
      .WithErrorCode("RT6015")
      .WithHint(
          "raise it on the brokers, or take checkpoints more often ('execution.checkpointing."
          "interval'), or set 'properties.transaction.timeout.ms' of the table");
}

Status KafkaTransactions::Initialize() {
  return Retry("init_transactions", milliseconds(timeout_millis_) + kAfterTimeout, [&](int millis) {
    return rd_kafka_init_transactions(producer_->handle().get(), millis);
  });
}

Status KafkaTransactions::Retry(const char* what, milliseconds longest,
                                const std::function<rd_kafka_error_t*(int)>& call) {
  return RetryKafka(producer_->handle(), fmt::format("{} ({})", what, Place()), longest, call,
                    [this](const std::string& reason) {
                      say_(fmt::format("waiting for {}: {}", Place(), reason));
                    });
}

Status KafkaTransactions::BeginTransaction() {
  open_since_millis_ = 0;
  return KafkaStatus(rd_kafka_begin_transaction(producer_->handle().get()), "begin_transaction");
}

// --- an epoch ---

void KafkaTransactions::NoteRows() {
  int64_t none = 0;
  if (open_since_millis_.load(std::memory_order_relaxed) == 0)
    open_since_millis_.compare_exchange_strong(none, BootMillis());
}

Status KafkaTransactions::Decide(const Decision& decision) {
  RT_TRY(failure());
  if (Status status = Commit(decision); !status.ok()) return Doubt(std::move(status));
  // It is decided now. What fails from here on is told by the next row.
  if (Status status = BeginTransaction(); !status.ok()) (void)Doubt(std::move(status)).ok();
  decided_epoch_.store(decision.epoch, std::memory_order_release);
  return Status::Ok();
}

Status KafkaTransactions::Commit(const Decision& decision) {
  const milliseconds longest(timeout_millis_);
  NoteRows();
  RT_TRY(ProduceMarker(decision));
  RT_TRY(SendWitness(decision));
  RT_TRY(producer_->AwaitAll(longest));
  RT_TRY(Retry("commit_transaction", longest, [&](int millis) {
    return rd_kafka_commit_transaction(producer_->handle().get(), millis);
  }));
  return markers_.AwaitNext(longest);
}

Status KafkaTransactions::ProduceMarker(const Decision& decision) {
  const std::string marker = markers_.MarkerOf(decision, spec_.engine);
  KafkaRecord record;
  record.topic = markers_.name();
  record.partition = 0;
  record.key = pipeline_.data();
  record.key_bytes = pipeline_.size();
  record.value = marker.data();
  record.value_bytes = marker.size();
  return producer_->Produce(record);
}

// The group of the pipeline's own name is a second witness: its offset in the marker topic is the
// epoch.
Status KafkaTransactions::SendWitness(const Decision& decision) {
  const std::string run = fmt::format("{} {}", decision.epoch, decision.run_id);
  const KafkaPartitionsPointer list = KafkaPartitionList({{markers_.name(), 0}}, {decision.epoch});
  list->elems[0].metadata = ::strdup(run.c_str());  // the list frees it
  list->elems[0].metadata_size = run.size();
  return Retry("send_offsets_to_transaction", milliseconds(timeout_millis_), [&](int millis) {
    return SendOffsets(producer_->handle(), pipeline_, list.get(), millis);
  });
}

// --- doubt ---

Status KafkaTransactions::failure() const {
  if (!is_in_doubt_) return Status::Ok();
  const std::lock_guard lock(mutex_);
  return failure_;
}

bool KafkaTransactions::IsFenced() const {
  const rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(producer_->handle().get(), nullptr, 0);
  return fatal == RD_KAFKA_RESP_ERR__FENCED || fatal == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
         fatal == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH;
}

Status KafkaTransactions::Doubt(Status cause) {
  if (Status known = failure(); !known.ok()) return known;
  const int64_t since = open_since_millis_;
  const int64_t open_millis = since == 0 ? 0 : BootMillis() - since;
  if (IsFenced() && open_millis * 10 < timeout_millis_ * 8) {
    const std::optional<Decision> newest = markers_.PeekNewest();
    const bool is_known = newest && newest->run_id != run_id_;
    cause = Status::External("another instance of this job runs{}: it has taken over {}",
                             is_known ? fmt::format(" (run {})", newest->run_id) : "", Place())
                .WithErrorCode("RT6011")
                .WithHint("this one has written nothing that can be seen since then, and ends");
  }
  const std::lock_guard lock(mutex_);
  if (!is_in_doubt_) failure_ = std::move(cause);
  is_in_doubt_ = true;
  return failure_;
}

}  // namespace rowtide

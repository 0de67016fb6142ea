// Exactly once: the transaction of a job's Kafka sinks, whose commit is the decision of the
// checkpoint.
//
//   Begin    new producer, init_transactions (it fences older instances and ends what they had
//            open) -> newest marker -> begin_transaction
//   rows     sinks produce into it
//   Decide   marker 7, witness, flush -> commit -> the marker can be read -> begin_transaction
//                                          ^ the decision: rows and checkpoint 7, or neither
//
// Every outcome but these is doubt: nothing goes out any more, the job has to end, and the next
// Begin finds out from the marker whether the epoch was decided. Never abort: that could take back
// what a commit has decided.
//
// A producer that was fenced before its transaction could have timed out has been replaced by
// another instance: it does not come back (two that do would fence each other for ever).
//
// Sinks call from their lanes; Begin and Decide come from where engine/decision_log.h says.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "connectors/kafka/marker_topic.h"
#include "connectors/kafka/producer.h"
#include "engine/decision_log.h"

namespace rowtide {

struct KafkaTransactionsSpec {
  KafkaSettings settings;       // of the sinks' producer
  std::string bootstrap;        // for messages
  std::string prefix;           // 'sink.transactional-id-prefix'
  std::string job;              // what the job is called in every run
  int64_t interval_millis = 0;  // between checkpoints
  std::string engine;           // version, for the marker
  // Table and topic of the sinks: nothing is begun, and no topic of markers made, before they are
  // there.
  std::vector<std::pair<std::string, std::string>> topics;
};

class KafkaTransactions final : public DecisionLog {
 public:
  using Say = std::function<void(const std::string&)>;
  static Result<std::unique_ptr<KafkaTransactions>> Create(KafkaTransactionsSpec spec, Say say);

  Result<std::optional<Decision>> Begin(const std::string& run_id) override;
  Status Decide(const Decision& decision) override;
  std::string Place() const override;

  // --- for sinks, between Begin and the end of the job ---
  KafkaProducer& producer() { return *producer_; }
  const std::string& bootstrap() const { return spec_.bootstrap; }
  // The newest epoch whose transaction is through: rows behind its barrier may go out.
  int64_t decided_epoch() const { return decided_epoch_.load(std::memory_order_acquire); }
  // Rows go into the open transaction from now on.
  void NoteRows();
  // What failed, judged: whether another instance has taken over. It is the failure from here on,
  // unless there is one.
  Status Doubt(Status cause);
  Status failure() const;

 private:
  KafkaTransactions(KafkaTransactionsSpec spec, Say say);
  Result<std::optional<Decision>> TryToBegin();
  Status CheckTimeout(const KafkaHandle& handle) const;
  Status Initialize();
  Status BeginTransaction();
  Status Commit(const Decision& decision);
  Status ProduceMarker(const Decision& decision);
  Status SendWitness(const Decision& decision);
  // Again while the error says so, until the deadline.
  Status Retry(const char* what, std::chrono::milliseconds longest,
               const std::function<rd_kafka_error_t*(int)>& call);
  bool IsFenced() const;

  const KafkaTransactionsSpec spec_;
  const Say say_;
  const std::string pipeline_;
  int64_t timeout_millis_ = 0;
  std::unique_ptr<KafkaProducer> producer_;
  KafkaMarkerTopic markers_;
  bool has_warned_ = false;
  std::string run_id_;
  std::atomic<int64_t> decided_epoch_ = 0;
  std::atomic<int64_t> open_since_millis_ = 0;  // 0: the transaction has no records
  std::atomic<bool> is_in_doubt_ = false;
  mutable std::mutex mutex_;
  Status failure_ = Status::Ok();  // under the mutex
};

}  // namespace rowtide

// Rejected records of one source, on their way into a topic of the cluster that it reads from
// ('rowtide.dead-letter.t' = 'topic:NAME'); connectors/kafka/letter.h draws what lies there.
//
//   Append    a copy of the record, and what is wrong with it
//   Release   what stands before an offset is behind the source: letters of it may go
//   Sync      those have arrived: a checkpoint that passes their records may be written
//
// A job that writes exactly once on that cluster has its letters in the transaction of the epoch
// that passes their records (connectors/kafka/transactions.h): each is there once. Letters behind a
// barrier wait until the transaction before them is decided. In other jobs they are at least once:
// of records that are read again after a crash there is a second letter.
//
// A record whose key and value are both bad has one letter. One thread.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "connectors/dead_letters.h"
#include "connectors/kafka/letter.h"
#include "connectors/kafka/messages.h"
#include "connectors/registry.h"

namespace rowtide {

class KafkaLetterTopic final : public DeadLetters {
 public:
  // Of a Kafka table; null: its letters go elsewhere, or nowhere.
  static Result<std::unique_ptr<KafkaLetterTopic>> Create(const TableSpec& table,
                                                          const ConnectorContext& context);
  ~KafkaLetterTopic() override;
  KafkaLetterTopic(const KafkaLetterTopic&) = delete;
  KafkaLetterTopic& operator=(const KafkaLetterTopic&) = delete;

  // Borrowed: where records are found.
  void ReadsFrom(const KafkaMessages* messages) { messages_ = messages; }
  // The topic is there. Asks a broker; kExternal may pass.
  Status Open(int millis);
  Status Release(const KafkaTopicPartition& at, int64_t next);
  // What waited for a transaction may go now; what was not delivered is told.
  Status GoOn();
  // So much waits that the source should rest.
  bool is_full() const;

  Status Append(const DeadLetter& letter) override;
  Status Flush() override { return Status::Ok(); }
  Status Sync() override;
  // What is in a topic stays there.
  Status ForgetUnread(const IsRead& /*is_read*/) override { return Status::Ok(); }

 private:
  struct Held {
    KafkaLetter letter;
    std::string error;
  };
  KafkaLetterTopic(std::string table, std::string topic)
      : table_(std::move(table)), topic_(std::move(topic)) {}
  KafkaProducer& producer();
  bool is_open() const;
  Status Send();
  Status SendAll();

  const std::string table_;
  const std::string topic_;
  std::shared_ptr<KafkaProducer> producer_;     // null: the one of the transactions
  KafkaTransactions* transactions_ = nullptr;   // null: letters are at least once
  const KafkaMessages* messages_ = nullptr;
  std::map<std::pair<KafkaTopicPartition, int64_t>, Held> held_;  // by place, until released
  std::deque<Held> released_;
  size_t waiting_bytes_ = 0;  // of those
  bool is_behind_barrier_ = false;
  int64_t decided_before_ = 0;  // the newest epoch that was decided at the barrier
  bool is_on_its_way_ = false;  // something has been handed over since it was all delivered
};

}  // namespace rowtide

// The connectors `kafka` and `upsert-kafka` as sinks.
//
//   none            records go out; nobody asks what became of them before the job ends
//   at-least-once   a checkpoint waits until every record has arrived
//   exactly-once    records are in a transaction that the checkpoint's decision commits
//                   (connectors/kafka/transactions.h)
//
//   rows   a b | c d | e              transaction   begun  a b . . . . committed  begun c d e
//              barrier 7, decided              held:  c d
//
// Rows behind a barrier wait in the outbox until the transaction before them is decided; when it
// holds much, the sink asks its lane to rest (is_full). Rows of one key come from one lane and go
// out in order; partitions are those that Java's client would choose.
#pragma once

#include <map>
#include <memory>

#include "connectors/kafka/producer.h"
#include "connectors/registry.h"

namespace rowtide {

class KafkaTransactions;

// The producers of a job, one for each cluster with its settings: all sinks share them.
class KafkaProducers {
 public:
  Result<std::shared_ptr<KafkaProducer>> Of(const KafkaSettings& settings);

 private:
  std::map<KafkaSettings, std::weak_ptr<KafkaProducer>> producers_;
};

// The METADATA columns that can be written.
std::vector<std::string> KafkaSinkMetadata();

// Requires: the options have been checked.
Result<std::unique_ptr<Sink>> CreateKafkaSink(const TableSpec& table,
                                              const ConnectorContext& context);

}  // namespace rowtide

// A producer that puts records back where they came from, in transactions of up to 1,000 of them.
//
//   Put      begins a transaction if none is open
//   Commit   ends it; with the offsets of a group that say how far letters have been read
//
// Another one with the same name is fenced. What is not committed is given up. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/letter.h"
#include "connectors/kafka/producer.h"

namespace rowtide {

class KafkaWayBack {
 public:
  // `name`: of the transactions.
  static Result<std::unique_ptr<KafkaWayBack>> Open(KafkaSettings settings, std::string name);
  ~KafkaWayBack();
  KafkaWayBack(const KafkaWayBack&) = delete;
  KafkaWayBack& operator=(const KafkaWayBack&) = delete;

  Status Put(const KafkaLetter& letter);
  bool is_full() const;
  struct Reached {
    std::string group;
    std::vector<KafkaTopicPartition> partitions;
    std::vector<int64_t> offsets;
  };
  // `reached`: null: nobody remembers it in the cluster.
  Status Commit(const Reached* reached);

 private:
  explicit KafkaWayBack(std::string name) : name_(std::move(name)) {}
  Status Begin();
  Status Retry(const char* what, const std::function<rd_kafka_error_t*(int)>& call);

  const std::string name_;
  std::unique_ptr<KafkaProducer> producer_;
  std::map<std::string, int> partitions_;  // how many each topic has
  int records_ = 0;                        // in the transaction
  bool is_begun_ = false;
};

}  // namespace rowtide

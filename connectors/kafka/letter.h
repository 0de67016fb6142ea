// A record that was rejected, as it lies in a topic of dead letters, and as it was:
//
//   letters   key k  value {"id":"x"}  headers a=1  rowtide.error=RT4001 cast: column 'id': …
//                                      rowtide.topic=orders rowtide.partition=0 rowtide.offset=42
//   orders    key k  value {"id":"x"}  headers a=1
//
// The last four headers are the letter's, whatever the record's own are called: a letter about a
// letter has eight. No key, and no value, are other than empty ones.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/handle.h"
#include "connectors/kafka/producer.h"

namespace rowtide {

struct KafkaHeader {
  std::string name;
  std::optional<std::string> value;
};

struct KafkaLetter {
  KafkaTopicPartition at;  // where the record stood
  int64_t offset = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  std::vector<KafkaHeader> headers;  // the record's own

  size_t bytes() const;  // that it takes, about
};

// A copy of the record.
KafkaLetter LetterOf(const std::string& topic, const rd_kafka_message_t& message);
// Of a message that lies in a topic of letters; none: it is no letter.
std::optional<KafkaLetter> ParseLetter(const rd_kafka_message_t& message);

// `error`: as a letter, with what was wrong; null: as the record it was.
Status SendLetter(KafkaProducer* producer, const KafkaTopicPartition& to, const KafkaLetter& letter,
                  const std::string* error);

}  // namespace rowtide

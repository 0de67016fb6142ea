// Records on their way to Kafka: encoded, but not handed over yet.
//
//   rows     +I 7 'a'   +U 7 'b'   -D 7         keys    7      7      7
//                                               values  'a'    'b'    tombstone
//
// Rows are encoded once, when they are written; what may not go out yet (its transaction is not
// begun) or is to be reduced to the last record of each key stays here, in order. One thread; only
// held_bytes may be asked by others.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "connectors/formats/record_encoder.h"
#include "connectors/formats/update_pairs.h"
#include "connectors/kafka/options.h"
#include "connectors/kafka/producer.h"

namespace rowtide {

class KafkaOutbox {
 public:
  // `keeps_last`: of each key only the newest record goes out. `joins`: a -U and the +U behind it
  // go out as one (connectors/formats/update_pairs.h).
  static Result<std::unique_ptr<KafkaOutbox>> Create(const TableSpec& table,
                                                     const KafkaSinkSpec& spec, bool keeps_last,
                                                     bool joins);

  // Requires: the columns of the table. `partition` of all rows, or RD_KAFKA_PARTITION_UA.
  Status Add(const RowBatch& batch, int32_t partition);
  // Hands everything over, in order; but for a -U at the end, whose +U may follow, unless `all`.
  Status SendTo(KafkaProducer* producer, bool all);

  bool empty() const { return entries_.empty(); }
  // Records that would go out.
  size_t records() const { return entries_.size() - replaced_; }
  size_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    int64_t value = -1;  // its number among the values; -1: a tombstone
    int64_t timestamp = 0;
    int32_t partition = RD_KAFKA_PARTITION_UA;
    int32_t topic = 0;
    bool is_replaced = false;  // a later record stands for it
    bool is_before = false;    // a -U whose +U may follow
  };

  KafkaOutbox(const TableSpec& table, const KafkaSinkSpec& spec, bool keeps_last, bool joins);
  static RowBatch Project(const RowBatch& batch, const std::vector<int>& columns);
  Status AddValues(const RowBatch& batch, std::vector<Entry>* entries);
  Status AddMetadata(const RowBatch& batch, std::vector<Entry>* entries);
  Result<int32_t> TopicNumber(std::string_view name);
  void Replace(size_t first);
  void Join(const RowBatch& batch, size_t first);
  void Clear();
  Status OpenTopics(KafkaProducer* producer);
  Status SendRun(KafkaProducer* producer, size_t first, size_t last);
  Status SendAlone(KafkaProducer* producer, size_t record);
  void Fill(size_t record, rd_kafka_message_t* message) const;

  const std::string table_name_;
  const KafkaSinkSpec spec_;
  const bool keeps_last_;
  const bool joins_;
  const RowKey row_key_;
  std::vector<Value> before_key_;  // of the last -U
  Schema schema_;
  int topic_column_ = -1;
  int timestamp_column_ = -1;
  std::unique_ptr<RecordEncoder> key_encoder_;  // null: records have no keys
  std::unique_ptr<RecordEncoder> value_encoder_;

  // Of what is held: an entry a record, its key at the same number.
  EncodedRecords keys_;
  EncodedRecords values_;
  std::vector<Entry> entries_;
  size_t replaced_ = 0;
  std::unordered_map<std::string, size_t> newest_;  // of each key, with keeps_last
  std::atomic<size_t> held_bytes_ = 0;

  std::vector<std::string> topic_names_;
  std::unordered_map<std::string, int32_t> topic_numbers_;
  std::vector<KafkaTopicPointer> topics_;  // by number, as far as they have been opened
  KafkaProducer* topics_of_ = nullptr;
  std::vector<rd_kafka_message_t> messages_;
};

}  // namespace rowtide

// A batch of messages of one partition, laid out for decoders (connectors/formats/format.h).
//
//   librdkafka   message 17, 18, 20        (offsets may have gaps: compaction, transactions)
//   block        value\nvalue\nvalue\n … key\nkey\nkey\n
//   values()     0: offset 17   1: offset 18   2: offset 20
//
// One copy of the bytes and no allocation a message: blocks are used again when no batch points
// into them. The messages themselves live as long as they are here, for dead letters and metadata.
// Not thread-safe.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "connectors/kafka/handle.h"
#include "connectors/rejects.h"

namespace rowtide {

class KafkaMessages final : public MessagePlaces {
 public:
  // `with_keys`: keys() is asked for. `passes_over_null`: a message without a value is none of the
  // value's format.
  KafkaMessages(bool with_keys, bool passes_over_null)
      : with_keys_(with_keys), passes_over_null_(passes_over_null) {}
  ~KafkaMessages() override { Clear(); }
  KafkaMessages(const KafkaMessages&) = delete;
  KafkaMessages& operator=(const KafkaMessages&) = delete;

  // Takes them over. Requires: without errors, up to kBatchRows, with growing offsets.
  void Take(const KafkaTopicPartition& at, std::span<rd_kafka_message_t* const> messages);
  void Clear();

  int32_t count() const { return static_cast<int32_t>(messages_.size()); }
  Records values() const { return {block_, values_}; }
  Records keys() const { return {block_, keys_}; }
  const rd_kafka_message_t& message(int32_t number) const {
    return *messages_[static_cast<size_t>(number)];
  }
  int64_t offset(int32_t number) const { return message(number).offset; }
  bool is_tombstone(int32_t number) const { return message(number).payload == nullptr; }
  bool has_tombstones() const { return tombstones_ > 0; }
  const KafkaTopicPartition& partition() const { return at_; }

  std::string Text(int32_t record) const override;
  void AppendFields(int32_t record, std::string* letter) const override;
  std::optional<std::string_view> Value(int32_t record) const override;

 private:
  std::shared_ptr<Block> BlockOf(size_t bytes);

  const bool with_keys_;
  const bool passes_over_null_;
  KafkaTopicPartition at_;
  std::vector<rd_kafka_message_t*> messages_;
  std::vector<RecordBytes> values_;
  std::vector<RecordBytes> keys_;
  int32_t tombstones_ = 0;
  std::shared_ptr<Block> block_;
  std::array<std::shared_ptr<Block>, 16> blocks_;
  size_t next_kept_ = 0;
};

}  // namespace rowtide

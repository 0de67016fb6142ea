// Messages as rows: keys and values through their formats, put together column by column, with the
// metadata of each message.
//
//   message   key {"id":1}  value {"id":1,"n":"a"}     kafka          +I 1, a
//             key {"id":1}  no value                   kafka          nothing (raw: a row of NULL)
//                                                      upsert-kafka   -D 1, NULL
//
// A column that key and value both have is the value's; of a tombstone, the key's. A row whose
// message has no key, though the table has a key format, is counted as `null_key` and left out, as
// Flink leaves it out. In upsert-kafka every other row is +U. One thread.
#pragma once

#include <memory>
#include <vector>

#include "connectors/kafka/messages.h"
#include "connectors/kafka/options.h"

namespace rowtide {

class KafkaRows {
 public:
  // `rejects` outlives it.
  static Result<std::unique_ptr<KafkaRows>> Create(const KafkaSourceSpec& spec,
                                                   const ScanSpec& scan,
                                                   const ConnectorContext& context,
                                                   Rejects* rejects);

  KafkaMessages& messages() { return messages_; }
  const KafkaMessages& messages() const { return messages_; }

  // The rows of the messages from `at` on, as many as fit, and moves `at`. After an error, `out`
  // has the rows before it. Its places are those of messages (PlaceOfRecord). May hold more than
  // kBatchRows rows where tombstones stand between messages of several rows.
  Status Decode(RecordCursor* at, RowBatch* out);

 private:
  // Where a column of the scan is found; -1: not there.
  struct From {
    int key = -1;
    int value = -1;
    Layout layout = Layout::kInt64;
  };
  // A row of the output: of which rows it is made. -1: of none.
  struct Pick {
    int32_t message;
    int32_t value;
    int32_t key;
  };

  KafkaRows(bool upsert, bool with_keys, ScanSpec scan, Rejects* rejects)
      : upsert_(upsert), scan_(std::move(scan)), rejects_(rejects), messages_(with_keys, upsert) {}
  void DecodeKeys();
  void PickRows(const RowBatch& values, int32_t from, int32_t to);
  bool Add(int32_t message, int32_t value);
  RowBatch PutTogether(RowBatch values) const;
  Column Gather(const From& from, const RowBatch& values) const;

  const bool upsert_;
  const ScanSpec scan_;
  Rejects* rejects_;
  KafkaMessages messages_;
  std::vector<From> columns_;
  std::unique_ptr<RecordDecoder> value_decoder_;
  std::unique_ptr<RecordDecoder> key_decoder_;  // null: keys are not read

  // Of the messages at hand.
  RowBatch keys_;
  std::vector<int32_t> key_rows_;  // of each message, -1: none
  Status key_status_;              // not ok: that of …
  int32_t bad_key_ = 0;            // … the key of this message
  std::vector<Pick> picks_;
};

}  // namespace rowtide

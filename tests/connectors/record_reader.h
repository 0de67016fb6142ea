// Feeds messages to a RecordDecoder as a topic does, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "connectors/formats/formats.h"
#include "engine/value_text.h"

namespace rowtide {

struct ReadMessages {
  std::string rows;
  Status status;
};

// Messages in one block, as KafkaMessages lays them out.
class MessageBlock {
 public:
  explicit MessageBlock(const std::vector<std::string>& messages) {
    size_t bytes = 0;
    for (const std::string& one : messages) bytes += one.size() + 1;
    auto block = std::make_shared<Block>(bytes + kRecordPadding);
    std::memset(block->data(), '\n', block->size());
    uint32_t at = 0;
    for (const std::string& one : messages) {
      std::memcpy(block->data() + at, one.data(), one.size());
      bytes_.push_back({at, static_cast<uint32_t>(one.size()), static_cast<int64_t>(bytes_.size()),
                        RecordBytes::Kind::kBytes});
      at += static_cast<uint32_t>(one.size()) + 1;
    }
    block_ = std::move(block);
  }
  void MakeNull(size_t message) { bytes_[message].kind = RecordBytes::Kind::kNull; }
  Records records() const { return {block_, bytes_}; }

 private:
  BlockPointer block_;
  std::vector<RecordBytes> bytes_;
};

class TestPlaces final : public MessagePlaces {
 public:
  explicit TestPlaces(const Records& records) : records_(records) {}
  std::string Text(int32_t record) const override { return fmt::format("message {}", record); }
  void AppendFields(int32_t record, std::string* letter) const override {
    fmt::format_to(std::back_inserter(*letter), "\"offset\":{},", record);
  }
  std::optional<std::string_view> Value(int32_t record) const override {
    const RecordBytes& one = records_.bytes[static_cast<size_t>(record)];
    if (one.kind == RecordBytes::Kind::kNull) return std::nullopt;
    return std::string_view(records_.block->data() + one.begin, one.bytes);
  }

 private:
  Records records_;
};

// Reads all messages through the decoder that `make` gives for the context and the rejects.
template <typename Make>
ReadMessages ReadRecords(const Make& make, const Schema& schema, const ConnectorContext& context,
                         const Records& records) {
  Result<std::unique_ptr<Rejects>> rejects = Rejects::Create("t", context);
  EXPECT_TRUE(rejects.ok());
  const TestPlaces places(records);
  (*rejects)->ReadsFrom(&places);
  Result<std::unique_ptr<RecordDecoder>> decoder = make(context, rejects->get());
  if (!decoder.ok()) return {"", decoder.status()};
  ReadMessages read;
  RecordCursor at;
  const auto count = static_cast<int32_t>(records.bytes.size());
  while (read.status.ok() && at.record < count) {
    read.status = (*decoder)->Decode(records, &at);
    const RowBatch batch = (*decoder)->Finish();
    for (int row = 0; row < batch.rows; ++row) {
      AppendScriptRow(batch, row, schema, &read.rows);
      read.rows += "\n";
    }
  }
  return read;
}

// The columns of the table, all of them.
inline ReadMessages ReadRecords(const TableSpec& table, const ConnectorContext& context,
                                const Records& records) {
  std::vector<int> columns;
  for (int i = 0; i < table.schema.size(); ++i) columns.push_back(i);
  const auto make = [&](const ConnectorContext& given, Rejects* rejects) {
    return CreateRecordDecoder(table, columns, given, rejects);
  };
  return ReadRecords(make, table.schema, context, records);
}

inline std::vector<std::string> WriteRecords(RecordEncoder& encoder, const RowBatch& batch) {
  EncodedRecords out;
  const Status status = encoder.Encode(batch, &out);
  EXPECT_TRUE(status.ok()) << status.ToString();
  std::vector<std::string> messages;
  for (size_t i = 0; i < out.records.size(); ++i) messages.emplace_back(out.at(i));
  return messages;
}

}  // namespace rowtide

#include "connectors/kafka/metadata_columns.h"

namespace rowtide {
namespace {

// As Java's TimestampType names them.
std::string_view TypeName(rd_kafka_timestamp_type_t type) {
  switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME: return "CreateTime";
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME: return "LogAppendTime";
    case RD_KAFKA_TIMESTAMP_NOT_AVAILABLE: break;
  }
  return "NoTimestampType";
}

}  // namespace

std::vector<MetadataKey> KafkaMetadata() {
  return {{"topic", Type::String().NotNull()},
          {"partition", Type::Int().NotNull()},
          {"leader-epoch", Type::Int()},
          {"offset", Type::BigInt().NotNull()},
          {"timestamp", Type::TimestampLtz(3).NotNull()},
          {"timestamp-type", Type::String().NotNull()}};
}

Column KafkaMetadataColumn(const std::string& key, const KafkaMessages& messages,
                           std::span<const int32_t> numbers, StringBlocks* strings) {
  Layout layout = Layout::kInt64;
  for (const MetadataKey& known : KafkaMetadata()) {
    if (known.key == key) layout = LayoutOf(known.type);
  }
  ColumnBuilder column(layout);
  column.Reserve(static_cast<int>(numbers.size()));
  if (key == "topic") {
    const StringView topic = strings->Copy(messages.partition().topic);
    for (size_t i = 0; i < numbers.size(); ++i) column.Append(topic);
  } else if (key == "partition") {
    for (size_t i = 0; i < numbers.size(); ++i) column.Append(messages.partition().partition);
  } else if (key == "leader-epoch") {
    for (const int32_t number : numbers) {
#if RD_KAFKA_VERSION >= 0x020100ff
      const int32_t epoch = rd_kafka_message_leader_epoch(&messages.message(number));
      if (epoch >= 0) {
        column.Append(epoch);
        continue;
      }
#else
      (void)number;
#endif
      column.AppendNull();
    }
  } else if (key == "offset") {
    for (const int32_t number : numbers) column.Append(messages.offset(number));
  } else {
    for (const int32_t number : numbers) {
      rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
      const int64_t millis = rd_kafka_message_timestamp(&messages.message(number), &type);
      if (key == "timestamp") {
        column.Append(millis);
      } else {
        column.Append(strings->Copy(TypeName(type)));
      }
    }
  }
  return column.Finish();
}

}  // namespace rowtide

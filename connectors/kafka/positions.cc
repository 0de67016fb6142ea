#include "connectors/kafka/positions.h"

namespace rowtide {

void KafkaPositions::Snapshot(SnapshotWriter& writer) const {
  writer.PutU8(begun);
  writer.PutU64(all.size());
  for (const auto& [at, position] : all) {
    writer.PutBytes(at.topic);
    writer.PutU32(static_cast<uint32_t>(at.partition));
    writer.PutI64(position.next);
    writer.PutU32(static_cast<uint32_t>(position.rows));
    writer.PutI64(position.end);
    writer.PutI64(position.watermark.newest);
    writer.PutI64(position.watermark.waited_millis);
    writer.PutU8(position.watermark.is_idle);
  }
}

Status KafkaPositions::Restore(SnapshotReader& reader) {
  all.clear();
  begun = true;
  return Merge(reader);
}

Status KafkaPositions::Merge(SnapshotReader& reader) {
  RT_ASSIGN(const uint8_t has_begun, reader.U8("begun"));
  begun &= has_begun != 0;
  RT_ASSIGN(const uint64_t count, reader.U64("partitions"));
  for (uint64_t i = 0; i < count; ++i) {
    KafkaTopicPartition at;
    KafkaPosition position;
    RT_ASSIGN(at.topic, reader.Bytes("topic"));
    RT_ASSIGN(const uint32_t partition, reader.U32("partition"));
    at.partition = static_cast<int32_t>(partition);
    RT_ASSIGN(position.next, reader.I64("next offset"));
    RT_ASSIGN(const uint32_t rows, reader.U32("rows"));
    position.rows = static_cast<int32_t>(rows);
    RT_ASSIGN(position.end, reader.I64("end offset"));
    RT_ASSIGN(position.watermark.newest, reader.I64("watermark"));
    RT_ASSIGN(position.watermark.waited_millis, reader.I64("waited"));
    RT_ASSIGN(const uint8_t is_idle, reader.U8("idle"));
    position.watermark.is_idle = is_idle != 0;
    if (position.next < 0 || position.rows < 0 || at.partition < 0)
      return Status::Corruption("no position in a topic: {} at {}", KafkaPartitionText(at),
                                position.next);
    all[at] = position;
  }
  return Status::Ok();
}

bool KafkaPositions::IsRead(const KafkaTopicPartition& at, int64_t offset) const {
  const auto found = all.find(at);
  return found != all.end() && offset < found->second.next;
}

}  // namespace rowtide

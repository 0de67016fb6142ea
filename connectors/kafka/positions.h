// How far a source is in each partition: part of its snapshot, and what it is restored from, on any
// number of lanes.
//
//   | begun: u8 | count: u64 | topic | partition: u32 | next: i64 | rows: u32 | end: i64 |
//                              watermark: i64 | waited: i64 | is idle: u8 | … |
//
// `begun`: the lane knew its partitions. A partition that no lane's snapshot has is new if all of
// them had begun, and then starts at its oldest message; else it starts where 'scan.startup.mode'
// says. The snapshots of all lanes together say all; each lane takes in all and keeps its share.
#pragma once

#include <map>
#include <vector>

#include "connectors/kafka/handle.h"
#include "connectors/kafka/watermarks.h"
#include "engine/snapshot.h"

namespace rowtide {

inline constexpr int64_t kNoEnd = -1;

struct KafkaPosition {
  int64_t next = 0;      // offset of the next message
  int32_t rows = 0;      // of it that have been handed out
  int64_t end = kNoEnd;  // of a bounded source: what is before it is read
  PartitionWatermark watermark;

  bool is_over() const { return end != kNoEnd && next >= end; }
};

class KafkaPositions {
 public:
  std::map<KafkaTopicPartition, KafkaPosition> all;
  bool begun = false;

  void Snapshot(SnapshotWriter& writer) const;
  Status Restore(SnapshotReader& reader);
  Status Merge(SnapshotReader& reader);
  // Whether a message had been read.
  bool IsRead(const KafkaTopicPartition& at, int64_t offset) const;
};

}  // namespace rowtide

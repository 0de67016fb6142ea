// The connectors `kafka` and `upsert-kafka` as sources: each lane reads its share of the
// partitions, at most one batch of up to 1,024 messages of one partition a poll, in turns.
//
//   Begin    restored positions, or those that the options ask for, once a broker answers
//   Poll     consumer -> messages -> rows -> a batch, and a watermark when it is time
//   Snapshot the offset of the next message of each partition, and how many of its rows are out
//
// While no broker can be reached the source waits, says so once, and goes on by itself. It fails on
// what does not pass: a topic that is gone, an offset that the broker no longer has (nothing is
// skipped, unless 'properties.auto.offset.reset' allows it and nothing was restored), a message
// that does not decode under `fail`. After a checkpoint has been decided its offsets are committed
// to the group, for those who watch; the checkpoint is the truth.
#pragma once

#include "connectors/registry.h"

namespace rowtide {

// The counter of offsets that were gone before they were read, and passed over.
inline constexpr const char* kKafkaOffsetsSkipped = "kafka_offsets_skipped";

// Requires: the options have been checked.
Result<std::unique_ptr<Source>> CreateKafkaSource(const TableSpec& table, const ScanSpec& scan,
                                                  const ConnectorContext& context);

}  // namespace rowtide

// The METADATA columns of a topic's messages: topic, partition, offset, timestamp, timestamp-type,
// leader-epoch. A row has those of its message.
//
// `headers` and `header-list` are a MAP and an ARRAY, types that Rowtide's columns do not have yet.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "connectors/kafka/messages.h"
#include "connectors/registry.h"
#include "engine/batch_builder.h"

namespace rowtide {

std::vector<MetadataKey> KafkaMetadata();
// Of a key that KafkaMetadata lists. `numbers`: of each row's message.
Column KafkaMetadataColumn(const std::string& key, const KafkaMessages& messages,
                           std::span<const int32_t> numbers, StringBlocks* strings);

}  // namespace rowtide

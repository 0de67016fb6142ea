// protobuf, a message a record: a type out of a descriptor set, read and written.
//
//   'protobuf.descriptor-file' = 'orders.desc', 'protobuf.message-class-name' = 'shop.Order'
#pragma once

#include <memory>
#include <span>

#include "connectors/formats/record_encoder.h"
#include "connectors/options.h"
#include "connectors/rejects.h"

namespace rowtide {

std::span<const OptionSpec> ProtoOptionSpecs();
// The descriptor set has the message, and the message has the columns.
Status CheckProtoTable(const TableSpec& table);

// `columns`: positions in the table's schema. `rejects` outlives the decoder.
Result<std::unique_ptr<RecordDecoder>> CreateProtoDecoder(const TableSpec& table,
                                                          const std::vector<int>& columns,
                                                          const ConnectorContext& context,
                                                          Rejects* rejects);
Result<std::unique_ptr<RecordEncoder>> CreateProtoEncoder(const TableSpec& table);

}  // namespace rowtide

// Avro, a record a message.
//
//   binary   the record alone: its schema is that of the table's columns
//   json     the same in Avro's JSON encoding   {"id":7,"name":{"string":"Ann"}}
//
// Bytes behind a record do not count, as in Flink.
#pragma once

#include <memory>

#include "connectors/formats/avro_rows.h"
#include "connectors/formats/record_encoder.h"

namespace rowtide {

// `rejects` outlives the decoder. Requires: CheckAvroTable was content.
Result<std::unique_ptr<RecordDecoder>> CreateAvroRecordDecoder(const TableSpec& table,
                                                               AvroRowsSpec spec,
                                                               InputLimits limits,
                                                               Rejects* rejects);
Result<std::unique_ptr<RecordEncoder>> CreateAvroRecordEncoder(const TableSpec& table);

}  // namespace rowtide

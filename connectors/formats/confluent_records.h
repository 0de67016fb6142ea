// Avro messages whose schema a registry has.
//
//   | 0 | number of the schema: 4 bytes, big-endian | the record |
//
// A schema is fetched once, before the first message of a batch that has its number; a registry
// that does not answer fails the job, which may then be started again. What is written is
// registered under the subject before the first message.
#pragma once

#include <memory>

#include "connectors/formats/avro_rows.h"
#include "connectors/formats/record_encoder.h"
#include "connectors/formats/schema_registry.h"

namespace rowtide {

// Columns get the names and defaults that 'avro-confluent.schema' has for them. `rejects` outlives
// the decoder. Requires: CheckConfluentTable was content.
Result<std::unique_ptr<RecordDecoder>> CreateConfluentDecoder(
    const TableSpec& table, AvroRowsSpec spec, std::unique_ptr<SchemaRegistry> registry,
    InputLimits limits, Rejects* rejects);
Result<std::unique_ptr<RecordEncoder>> CreateConfluentEncoder(
    const TableSpec& table, std::unique_ptr<SchemaRegistry> registry);

}  // namespace rowtide

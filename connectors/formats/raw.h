// The raw format: a table of one column, a line a value.
//
//   STRING   the line in the character set of 'raw.charset'
//   BYTES    the line as it is
//   BOOLEAN  one byte; numbers: as many bytes as the type has, in the order of 'raw.endianness'
//
// A return before the line's end is no part of the value. NULL cannot be written as a line. In a
// topic a message is a value, whatever is in it; one without a value is NULL.
#pragma once

#include <memory>
#include <span>

#include "connectors/formats/charset.h"
#include "connectors/formats/record_encoder.h"
#include "connectors/options.h"
#include "connectors/rejects.h"

namespace rowtide {

std::span<const OptionSpec> RawOptionSpecs();
// One column, of a type that the format has. Requires: the options have been checked.
Status CheckRawTable(const TableSpec& table);

// Requires: CheckRawTable was content. `wanted`: how often the column is asked for.
Result<std::unique_ptr<Decoder>> CreateRawDecoder(const TableSpec& table, size_t wanted,
                                                  const ConnectorContext& context,
                                                  Rejects* rejects);
Result<std::unique_ptr<RecordDecoder>> CreateRawRecordDecoder(const TableSpec& table, size_t wanted,
                                                              const ConnectorContext& context,
                                                              Rejects* rejects);
Result<std::unique_ptr<Encoder>> CreateRawEncoder(const TableSpec& table);
Result<std::unique_ptr<RecordEncoder>> CreateRawRecordEncoder(const TableSpec& table);

}  // namespace rowtide

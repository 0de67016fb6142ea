// The options of the avro format, as Flink names them, read once.
#pragma once

#include <span>
#include <string>

#include "connectors/options.h"

namespace rowtide {

struct AvroOptions {
  std::string codec = "snappy";   // of files that are written
  bool legacy_timestamps = true;  // TIMESTAMP is timestamp-millis; no TIMESTAMP_LTZ
  bool is_json = false;           // of messages: Avro's JSON encoding
};

std::span<const OptionSpec> AvroOptionSpecs();
// Requires: the options have been checked.
Result<AvroOptions> ReadAvroOptions(const TableSpec& table);
// The table's columns have types in Avro, and the options go together.
Status CheckAvroTable(const TableSpec& table);

}  // namespace rowtide

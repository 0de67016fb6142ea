// The options of the json formats, as Flink names them, read once: behind `json.` or the name of a
// format of changes (`canal-json.`).
#pragma once

#include <span>
#include <string>

#include "connectors/options.h"

namespace rowtide {

// Of which format of changes a line is a message.
enum class JsonEnvelope : uint8_t { kNone, kDebezium, kCanal, kMaxwell, kOgg };

struct JsonOptions {
  bool fail_on_missing_field = false;
  bool ignore_parse_errors = false;
  bool iso_timestamps = false;  // 2026-01-02T03:04:05 instead of a blank
  // Numbers in a STRING column keep their digits (1.50); without the parser they do not (1.5).
  bool keeps_numbers = true;
  bool plain_decimals = false;  // 0.0000000001 and trailing zeros, instead of 1E-10
  bool omits_nulls = false;
  bool schema_include = false;   // debezium: the message stands in "payload", beside its schema
  std::string database_include;  // canal: a pattern for the whole name; "" = all
  std::string table_include;
};

std::span<const OptionSpec> JsonOptionSpecs(JsonEnvelope envelope);
// Requires: the options have been checked against the specs of the table's format.
Result<JsonOptions> ReadJsonOptions(const TableSpec& table);

}  // namespace rowtide

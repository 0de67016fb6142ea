// The options of the avro-confluent format, as Flink names them, read once.
#pragma once

#include <span>
#include <string>

#include "connectors/options.h"

namespace rowtide {

struct ConfluentOptions {
  std::string url;      // `http://host:8081`, of several the first one that answers
  std::string subject;  // under which the schema of what is written is registered; "" = none
  std::string schema;   // of the table, where it is not derived from the columns
  std::string user;     // with a password behind a colon: a secret
  std::string token;    // a secret
  std::string ca_file;  // certificates of who may be the registry, PEM
};

std::span<const OptionSpec> ConfluentOptionSpecs();
// Requires: the options have been checked.
Result<ConfluentOptions> ReadConfluentOptions(const TableSpec& table);
// The columns have types in Avro, the options go together, and a given schema is that of the
// columns.
Status CheckConfluentTable(const TableSpec& table);

}  // namespace rowtide

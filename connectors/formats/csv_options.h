// The options of the csv format, as Flink names them, read once.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "connectors/options.h"

namespace rowtide {

struct CsvOptions {
  std::string delimiter = ",";  // one character of UTF-8
  char quote = '"';             // '\0' = none
  char escape = '\0';           // '\0' = none
  std::string array_delimiter = ";";
  std::optional<std::string> null_literal;
  bool allow_comments = false;
  bool ignore_parse_errors = false;
  bool trim_spaces = false;
  bool ignore_trailing_unmappable = false;
  bool allow_trailing_comma = true;
  bool fail_on_missing_columns = false;
  bool empty_string_as_null = false;
};

std::span<const OptionSpec> CsvOptionSpecs();
// Requires: the options have been checked against CsvOptionSpecs.
Result<CsvOptions> ReadCsvOptions(const TableSpec& table);

}  // namespace rowtide

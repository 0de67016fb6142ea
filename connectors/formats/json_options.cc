#include "connectors/formats/json_options.h"

namespace rowtide {
namespace {

// The keys of maps are checked like the rest; no type that runs has maps.
constexpr OptionSpec kSpecs[] = {
    {"fail-on-missing-field", OptionKind::kBool},
    {"ignore-parse-errors", OptionKind::kBool},
    {"timestamp-format.standard", OptionKind::kText, false, "SQL|ISO-8601"},
    {"map-null-key.mode", OptionKind::kText, false, "FAIL|DROP|LITERAL"},
    {"map-null-key.literal"},
    {"encode.decimal-as-plain-number", OptionKind::kBool},
    {"encode.ignore-null-fields", OptionKind::kBool},
    {"decode.json-parser.enabled", OptionKind::kBool},
};

constexpr OptionSpec kDebeziumSpecs[] = {
    {"schema-include", OptionKind::kBool},
    {"ignore-parse-errors", OptionKind::kBool},
    {"timestamp-format.standard", OptionKind::kText, false, "SQL|ISO-8601"},
    {"map-null-key.mode", OptionKind::kText, false, "FAIL|DROP|LITERAL"},
    {"map-null-key.literal"},
    {"encode.decimal-as-plain-number", OptionKind::kBool},
    {"encode.ignore-null-fields", OptionKind::kBool},
};

}  // namespace

std::span<const OptionSpec> JsonOptionSpecs() { return kSpecs; }
std::span<const OptionSpec> DebeziumOptionSpecs() { return kDebeziumSpecs; }

Result<JsonOptions> ReadJsonOptions(const TableSpec& table) {
  const std::string head = table.options.at("format") + ".";
  JsonOptions options;
  options.fail_on_missing_field = BoolOption(table, head + "fail-on-missing-field", false);
  options.ignore_parse_errors = BoolOption(table, head + "ignore-parse-errors", false);
  options.iso_timestamps =
      TextOption(table, head + "timestamp-format.standard").value_or("SQL") == "ISO-8601";
  options.keeps_numbers = BoolOption(table, head + "decode.json-parser.enabled", true);
  options.plain_decimals = BoolOption(table, head + "encode.decimal-as-plain-number", false);
  options.omits_nulls = BoolOption(table, head + "encode.ignore-null-fields", false);
  if (options.fail_on_missing_field && options.ignore_parse_errors) {
    return Status::InvalidArgument(
        "table {} sets both 'json.fail-on-missing-field' and 'json.ignore-parse-errors'",
        table.name);
  }
  return options;
}

}  // namespace rowtide

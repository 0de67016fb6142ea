#include "connectors/formats/json_options.h"

#include <array>

namespace rowtide {
namespace {

// What every json format has. The keys of maps are checked like the rest; no type that runs has
// maps.
constexpr OptionSpec kShared[] = {
    {"ignore-parse-errors", OptionKind::kBool},
    {"timestamp-format.standard", OptionKind::kText, false, "SQL|ISO-8601"},
    {"map-null-key.mode", OptionKind::kText, false, "FAIL|DROP|LITERAL"},
    {"map-null-key.literal"},
    {"encode.decimal-as-plain-number", OptionKind::kBool},
    {"encode.ignore-null-fields", OptionKind::kBool},
};

template <size_t kOwn>
constexpr auto WithShared(const OptionSpec (&own)[kOwn]) {
  std::array<OptionSpec, kOwn + std::size(kShared)> all;
  size_t count = 0;
  for (const OptionSpec& spec : own) all[count++] = spec;
  for (const OptionSpec& spec : kShared) all[count++] = spec;
  return all;
}

constexpr auto kJson = WithShared({
    {"fail-on-missing-field", OptionKind::kBool},
    {"decode.json-parser.enabled", OptionKind::kBool},
});
constexpr auto kDebezium = WithShared({{"schema-include", OptionKind::kBool}});
constexpr auto kCanal = WithShared({{"database.include"}, {"table.include"}});

}  // namespace

std::span<const OptionSpec> JsonOptionSpecs(JsonEnvelope envelope) {
  switch (envelope) {
    case JsonEnvelope::kNone: return kJson;
    case JsonEnvelope::kDebezium: return kDebezium;
    case JsonEnvelope::kCanal: return kCanal;
    case JsonEnvelope::kMaxwell:
    case JsonEnvelope::kOgg: break;
  }
  return kShared;
}

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
  options.schema_include = BoolOption(table, head + "schema-include", false);
  options.database_include = TextOption(table, head + "database.include").value_or("");
  options.table_include = TextOption(table, head + "table.include").value_or("");
  if (options.fail_on_missing_field && options.ignore_parse_errors) {
    return Status::InvalidArgument(
        "table {} sets both 'json.fail-on-missing-field' and 'json.ignore-parse-errors'",
        table.name);
  }
  return options;
}

}  // namespace rowtide

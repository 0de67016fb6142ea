#include "connectors/formats/avro_options.h"

#include "connectors/formats/avro_codec.h"
#include "connectors/formats/avro_schema.h"

namespace rowtide {
namespace {

constexpr OptionSpec kSpecs[] = {
    {"codec"},
    {"encoding", OptionKind::kText, false, "binary|json"},
    {"timestamp_mapping.legacy", OptionKind::kBool},
};

}  // namespace

std::span<const OptionSpec> AvroOptionSpecs() { return kSpecs; }

Result<AvroOptions> ReadAvroOptions(const TableSpec& table) {
  AvroOptions options;
  options.codec = TextOption(table, "avro.codec").value_or("snappy");
  options.legacy_timestamps = BoolOption(table, "avro.timestamp_mapping.legacy", true);
  options.is_json = TextOption(table, "avro.encoding").value_or("binary") == "json";
  return options;
}

Status CheckAvroTable(const TableSpec& table) {
  RT_ASSIGN(const AvroOptions options, ReadAvroOptions(table));
  const Status codec = CreateAvroCodec(options.codec).status();
  if (!codec.ok())
    return Status(StatusCode::kInvalidArgument, ErrorKind::kRun, "'avro.codec': " + codec.message())
        .WithHint(codec.hint());
  return CheckAvroColumns(table.schema, options.legacy_timestamps);
}

}  // namespace rowtide

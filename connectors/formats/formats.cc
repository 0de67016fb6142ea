#include "connectors/formats/formats.h"

#include <algorithm>

#include "connectors/formats/avro_encoder.h"
#include "connectors/formats/avro_files.h"
#include "connectors/formats/avro_records.h"
#include "connectors/formats/confluent_records.h"
#include "connectors/formats/csv.h"
#include "connectors/formats/csv_encoder.h"
#include "connectors/formats/json.h"
#include "connectors/formats/json_encoder.h"
#include "connectors/formats/protobuf_records.h"
#include "connectors/formats/raw.h"

namespace rowtide {
namespace {

using Columns = std::vector<int>;

// Of a format for topics alone, `decoder` and `encoder` are null.
struct Format {
  std::string_view name;
  const char* text;
  std::span<const OptionSpec> (*options)();
  Status (*check)(const TableSpec&);
  Result<std::unique_ptr<Decoder>> (*decoder)(const TableSpec&, const Columns&,
                                              const ConnectorContext&, Rejects*);
  Result<std::unique_ptr<RecordDecoder>> (*record_decoder)(const TableSpec&, const Columns&,
                                                           const ConnectorContext&, Rejects*);
  Result<std::unique_ptr<Encoder>> (*encoder)(const TableSpec&);
  Result<std::unique_ptr<RecordEncoder>> (*record_encoder)(const TableSpec&);
  bool has_changes = false;  // not inserts alone
  bool is_text = true;
};

// Intervals and NULLs have no text in csv and json.
Status CheckTypes(const TableSpec& table, std::string_view format) {
  for (const Field& field : table.schema.fields()) {
    if (field.type.kind == TypeKind::kNull || field.type.kind == TypeKind::kSymbol ||
        IsInterval(field.type)) {
      return Status::Plan("{} cannot hold column {} of type {}", format, Quote(field.name),
                          ToString(field.type));
    }
  }
  return Status::Ok();
}

Status CheckCsv(const TableSpec& table) {
  RT_TRY(CheckTypes(table, "csv"));
  return ReadCsvOptions(table).status();
}

// As a Decoder or a RecordDecoder.
template <typename Port>
Result<std::unique_ptr<Port>> CsvDecoderOf(const TableSpec& table, const Columns& columns,
                                           const ConnectorContext& context, Rejects* rejects) {
  CsvDecoderSpec spec{table.schema, columns, {}, context.limits, context.flink_compat};
  RT_ASSIGN(spec.options, ReadCsvOptions(table));
  RT_ASSIGN(std::unique_ptr<CsvDecoder> decoder, CsvDecoder::Create(std::move(spec), rejects));
  return std::unique_ptr<Port>(std::move(decoder));
}

Result<std::unique_ptr<Encoder>> CsvEncoderOf(const TableSpec& table) {
  RT_ASSIGN(CsvOptions options, ReadCsvOptions(table));
  RT_ASSIGN(std::unique_ptr<CsvEncoder> encoder,
            CsvEncoder::Create(table.schema, std::move(options)));
  return std::unique_ptr<Encoder>(std::move(encoder));
}

template <JsonEnvelope kEnvelope>
std::span<const OptionSpec> JsonOptionsOf() {
  return JsonOptionSpecs(kEnvelope);
}

Status CheckJson(const TableSpec& table) {
  RT_TRY(CheckTypes(table, table.options.at("format")));
  return ReadJsonOptions(table).status();
}

template <JsonEnvelope kEnvelope, typename Port>
Result<std::unique_ptr<Port>> JsonDecoderOf(const TableSpec& table, const Columns& columns,
                                            const ConnectorContext& context, Rejects* rejects) {
  JsonDecoderSpec spec{.schema = table.schema,
                       .columns = columns,
                       .limits = context.limits,
                       .trusts_not_null = context.flink_compat,
                       .stops_early = context.flink_compat,
                       .envelope = kEnvelope};
  RT_ASSIGN(spec.options, ReadJsonOptions(table));
  if constexpr (std::is_same_v<Port, Decoder>) {
    return CreateJsonDecoder(std::move(spec), rejects);
  } else {
    return CreateJsonRecordDecoder(std::move(spec), rejects);
  }
}

template <JsonEnvelope kEnvelope>
Result<std::unique_ptr<Encoder>> JsonEncoderOf(const TableSpec& table) {
  RT_ASSIGN(const JsonOptions options, ReadJsonOptions(table));
  if (options.schema_include)
    return Status::InvalidArgument(
        "table {}: 'debezium-json.schema-include' is for messages of Kafka Connect that are read",
        table.name);
  return CreateJsonEncoder(table.schema, options, kEnvelope);
}

template <Result<std::unique_ptr<Encoder>> (*kEncoder)(const TableSpec&)>
Result<std::unique_ptr<RecordEncoder>> LineRecordsOf(const TableSpec& table) {
  RT_ASSIGN(std::unique_ptr<Encoder> encoder, kEncoder(table));
  return RecordsOfLines(std::move(encoder));
}

template <JsonEnvelope kEnvelope>
constexpr Format JsonFormat(std::string_view name, const char* text) {
  return {name,
          text,
          JsonOptionsOf<kEnvelope>,
          CheckJson,
          JsonDecoderOf<kEnvelope, Decoder>,
          JsonDecoderOf<kEnvelope, RecordDecoder>,
          JsonEncoderOf<kEnvelope>,
          LineRecordsOf<JsonEncoderOf<kEnvelope>>,
          kEnvelope != JsonEnvelope::kNone};
}

Result<std::unique_ptr<Decoder>> RawDecoderOf(const TableSpec& table, const Columns& columns,
                                              const ConnectorContext& context, Rejects* rejects) {
  return CreateRawDecoder(table, columns.size(), context, rejects);
}

Result<std::unique_ptr<RecordDecoder>> RawRecordDecoderOf(const TableSpec& table,
                                                          const Columns& columns,
                                                          const ConnectorContext& context,
                                                          Rejects* rejects) {
  return CreateRawRecordDecoder(table, columns.size(), context, rejects);
}

AvroRowsSpec AvroRowsOf(const TableSpec& table, const Columns& columns,
                        const ConnectorContext& context) {
  AvroRowsSpec spec{.depth_max = context.limits.json_depth, .flink_compat = context.flink_compat};
  for (const int column : columns) spec.columns.push_back({table.schema.field(column), {}, {}});
  return spec;
}

Result<std::unique_ptr<Decoder>> AvroDecoderOf(const TableSpec& table, const Columns& columns,
                                               const ConnectorContext& context, Rejects* rejects) {
  return CreateAvroFileDecoder(AvroRowsOf(table, columns, context), context.limits, rejects);
}

Result<std::unique_ptr<RecordDecoder>> AvroRecordDecoderOf(const TableSpec& table,
                                                           const Columns& columns,
                                                           const ConnectorContext& context,
                                                           Rejects* rejects) {
  return CreateAvroRecordDecoder(table, AvroRowsOf(table, columns, context), context.limits,
                                 rejects);
}

Result<std::unique_ptr<RecordDecoder>> ConfluentDecoderOf(const TableSpec& table,
                                                          const Columns& columns,
                                                          const ConnectorContext& context,
                                                          Rejects* rejects) {
  RT_ASSIGN(const ConfluentOptions options, ReadConfluentOptions(table));
  RT_ASSIGN(std::unique_ptr<SchemaRegistry> registry, OpenSchemaRegistry(options));
  return CreateConfluentDecoder(table, AvroRowsOf(table, columns, context), std::move(registry),
                                context.limits, rejects);
}

Result<std::unique_ptr<RecordEncoder>> ConfluentEncoderOf(const TableSpec& table) {
  RT_ASSIGN(const ConfluentOptions options, ReadConfluentOptions(table));
  RT_ASSIGN(std::unique_ptr<SchemaRegistry> registry, OpenSchemaRegistry(options));
  return CreateConfluentEncoder(table, std::move(registry));
}

constexpr Format kFormats[] = {
    {"csv", "fields parted by commas, one record a line", CsvOptionSpecs, CheckCsv,
     CsvDecoderOf<Decoder>, CsvDecoderOf<RecordDecoder>, CsvEncoderOf, LineRecordsOf<CsvEncoderOf>},
    JsonFormat<JsonEnvelope::kNone>("json", "one JSON object a line, or an array of them"),
    {"raw", "the line as it is, in one column", RawOptionSpecs, CheckRawTable, RawDecoderOf,
     RawRecordDecoderOf, CreateRawEncoder, CreateRawRecordEncoder, false, false},
    {"avro", "Avro: container files, and messages", AvroOptionSpecs, CheckAvroTable, AvroDecoderOf,
     AvroRecordDecoderOf, CreateAvroFileEncoder, CreateAvroRecordEncoder, false, false},
    {"avro-confluent", "Avro messages whose schema a registry has", ConfluentOptionSpecs,
     CheckConfluentTable, nullptr, ConfluentDecoderOf, nullptr, ConfluentEncoderOf, false, false},
    {"protobuf", "protobuf messages, of a type in a descriptor set", ProtoOptionSpecs,
     CheckProtoTable, nullptr, CreateProtoDecoder, nullptr, CreateProtoEncoder, false, false},
    JsonFormat<JsonEnvelope::kDebezium>("debezium-json", "changes as Debezium sends them"),
    JsonFormat<JsonEnvelope::kCanal>("canal-json", "changes as Canal sends them"),
    JsonFormat<JsonEnvelope::kMaxwell>("maxwell-json", "changes as Maxwell sends them"),
    JsonFormat<JsonEnvelope::kOgg>("ogg-json", "changes as Oracle GoldenGate sends them"),
};

// Formats of Flink that Rowtide does not have; their tables can be declared.
constexpr std::string_view kOthers[] = {"parquet", "orc", "avro-confluent",
                                        "debezium-avro-confluent", "protobuf"};

// Requires: the format has been checked.
const Format& FormatOf(const TableSpec& table) {
  const auto* found =
      std::find_if(std::begin(kFormats), std::end(kFormats),
                   [&](const Format& format) { return format.name == table.options.at("format"); });
  RT_CHECK(found != std::end(kFormats));
  return *found;
}

}  // namespace

Result<std::span<const OptionSpec>> FormatOptionSpecs(const TableSpec& table) {
  const std::string name = TextOption(table, "format").value_or("");
  std::vector<std::string> names;
  for (const Format& format : kFormats) {
    if (format.name == name) return format.options();
    names.emplace_back(format.name);
  }
  if (name.empty()) return std::span<const OptionSpec>();
  const std::string known = fmt::format("supported are: {}", fmt::join(names, ", "));
  if (std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers))
    return Status::Unsupported("format {}", Quote(name)).WithHint(known);
  const std::string nearest = Nearest(name, names);
  return Status::InvalidArgument("table {} names the format {}, which is unknown", table.name,
                                 Quote(name))
      .WithErrorCode("RT2012")
      .WithHint(nearest.empty() ? known : "did you mean " + Quote(nearest) + "?");
}

Status CheckFormat(const TableSpec& table) {
  const Format& format = FormatOf(table);
  const bool is_file = TextOption(table, "connector").value_or("") == "filesystem";
  if (is_file && format.decoder == nullptr)
    return Status::Unsupported("format {} on files", Quote(format.name))
        .WithHint("nothing says where its records end in a file; it is for topics");
  return format.check(table);
}

Result<std::unique_ptr<Decoder>> CreateDecoder(const TableSpec& table,
                                               const std::vector<int>& columns,
                                               const ConnectorContext& context, Rejects* rejects) {
  return FormatOf(table).decoder(table, columns, context, rejects);
}

Result<std::unique_ptr<RecordDecoder>> CreateRecordDecoder(const TableSpec& table,
                                                           const std::vector<int>& columns,
                                                           const ConnectorContext& context,
                                                           Rejects* rejects) {
  return FormatOf(table).record_decoder(table, columns, context, rejects);
}

Result<std::unique_ptr<Encoder>> CreateEncoder(const TableSpec& table) {
  return FormatOf(table).encoder(table);
}

Result<std::unique_ptr<RecordEncoder>> CreateRecordEncoder(const TableSpec& table) {
  return FormatOf(table).record_encoder(table);
}

ChangelogMode FormatMode(const TableSpec& table) {
  const std::string name = TextOption(table, "format").value_or("");
  const auto* found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                   [&](const Format& format) { return format.name == name; });
  const bool has_changes = found != std::end(kFormats) && found->has_changes;
  return has_changes ? ChangelogMode::All() : ChangelogMode::InsertOnly();
}

std::vector<FormatText> FormatTexts() {
  std::vector<FormatText> texts;
  for (const Format& format : kFormats)
    texts.push_back({format.name, format.text, format.options()});
  return texts;
}

bool ReadsText(const TableSpec& table) { return FormatOf(table).is_text; }

}  // namespace rowtide

// Lines of json and of the formats of changes, under any options: see decode.h. Rows are read by
// shape where one fits, and by the parser alone.
#include "connectors/formats/json.h"
#include "tests/fuzz/decode.h"

using namespace rowtide;

namespace {

constexpr std::pair<JsonEnvelope, const char*> kFormats[] = {
    {JsonEnvelope::kNone, "json"},
    {JsonEnvelope::kDebezium, "debezium-json"},
    {JsonEnvelope::kCanal, "canal-json"},
    {JsonEnvelope::kMaxwell, "maxwell-json"},
    {JsonEnvelope::kOgg, "ogg-json"},
    {JsonEnvelope::kNone, "json"},
    {JsonEnvelope::kDebezium, "debezium-json"},
    {JsonEnvelope::kCanal, "canal-json"},
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const uint8_t options = choices.Byte();
  const auto& [envelope, format] = kFormats[options >> 5];
  const std::string head = std::string(format) + ".";
  TableSpec table{"t",
                  {{"connector", "filesystem"}, {"path", "-"}, {"format", format}},
                  Schema({{"s", Type::String()},
                          {"i", Type::Int()},
                          {"l", Type::BigInt()},
                          {"e", Type::Decimal(30, 5)},
                          {"d", Type::Double()},
                          {"t", Type::Timestamp(3)},
                          {"z", Type::TimestampLtz(3)},
                          {"b", Type::Boolean()}})};
  if (options & 1) table.options[head + "ignore-parse-errors"] = "true";
  if (options >> 5 == 6) table.options[head + "schema-include"] = "true";
  if (options >> 5 == 7) table.options[head + "table.include"] = "t.*";
  if ((options & 2) && !(options & 1) && envelope == JsonEnvelope::kNone)
    table.options["json.fail-on-missing-field"] = "true";
  if (options & 4) table.options[head + "timestamp-format.standard"] = "ISO-8601";
  if (!CheckFormat(table).ok()) return 0;
  JsonDecoderSpec spec;
  for (int i = 0; i < table.schema.size(); ++i) {
    if (!(options & 8) || i % 2 == 0) spec.columns.push_back(i);
  }
  Schema read;
  for (const int column : spec.columns) read.Add(table.schema.field(column));
  spec.schema = table.schema;
  spec.options = *ReadJsonOptions(table);
  spec.envelope = envelope;
  spec.trusts_not_null = spec.stops_early = options & 16;
  std::vector<fuzz::MakeDecoder> ways;
  for (const bool guesses : {true, false}) {
    ways.push_back([=](const ConnectorContext&, Rejects* rejects) mutable {
      spec.guesses = guesses;
      return CreateJsonDecoder(spec, rejects);
    });
  }
  fuzz::CheckDecoding(read, ways, choices);
  return 0;
}

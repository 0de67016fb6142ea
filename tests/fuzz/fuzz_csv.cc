// A csv file under any options: see decode.h.
#include "tests/fuzz/decode.h"

using namespace rowtide;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const uint8_t options = choices.Byte();
  const uint8_t more = choices.Byte();
  TableSpec table{"t",
                  {{"connector", "filesystem"}, {"path", "-"}, {"format", "csv"}},
                  Schema({{"s", Type::String()},
                          {"i", Type::Int()},
                          {"l", Type::BigInt()},
                          {"e", Type::Decimal(12, 3)},
                          {"d", Type::Double()},
                          {"t", Type::Timestamp(3)},
                          {"b", Type::Boolean()},
                          {"z", Type::String()}})};
  const auto set = [&](bool is_set, const char* name, const char* value) {
    if (is_set) table.options[std::string("csv.") + name] = value;
  };
  set(options & 1, "ignore-parse-errors", "true");
  set(options & 2, "allow-comments", "true");
  set(options & 4, "trim-spaces", "true");
  set(options & 8, "escape-character", "\\");
  set(options & 16, "null-literal", "n/a");
  set(options & 32, "disable-quote-character", "true");
  set((options & 64) && !(options & 32), "quote-character", "'");
  set(options & 128, "field-delimiter", more & 1 ? ";" : "|");
  if (!CheckFormat(table).ok()) return 0;
  std::vector<int> columns;
  for (int i = 0; i < table.schema.size(); ++i) columns.push_back(i);
  const fuzz::MakeDecoder ways[] = {[&](const ConnectorContext& context, Rejects* rejects) {
    return CreateDecoder(table, columns, context, rejects);
  }};
  fuzz::CheckDecoding(table.schema, ways, choices);
  return 0;
}

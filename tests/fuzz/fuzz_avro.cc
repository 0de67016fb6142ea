// An Avro container file under a choice of columns: see decode.h.
#include "tests/fuzz/decode.h"

using namespace rowtide;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const uint8_t wanted = choices.Byte();
  const Schema all({{"b", Type::Boolean()},
                    {"i8", Type::Of(TypeKind::kTinyInt)},
                    {"i", Type::BigInt()},
                    {"d", Type::Double()},
                    {"s", Type::String()},
                    {"e", Type::Decimal(9, 2)},
                    {"ts", Type::Timestamp(3)},
                    {"must", Type::BigInt().NotNull()}});
  Schema schema;
  for (int i = 0; i < all.size(); ++i) {
    if (wanted >> i & 1) schema.Add(all.field(i));
  }
  const TableSpec table{
      "t", {{"connector", "filesystem"}, {"path", "-"}, {"format", "avro"}}, schema};
  std::vector<int> columns;
  for (int i = 0; i < table.schema.size(); ++i) columns.push_back(i);
  const fuzz::MakeDecoder ways[] = {[&](const ConnectorContext& context, Rejects* rejects) {
    return CreateDecoder(table, columns, context, rejects);
  }};
  fuzz::CheckDecoding(table.schema, ways, choices);
  return 0;
}

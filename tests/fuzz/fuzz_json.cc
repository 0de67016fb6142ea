// Lines of json under any options: see decode.h.
#include "tests/fuzz/decode.h"

using namespace rowtide;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const uint8_t options = choices.Byte();
  TableSpec table{"t",
                  {{"connector", "filesystem"}, {"path", "-"}, {"format", "json"}},
                  Schema({{"s", Type::String()},
                          {"i", Type::Int()},
                          {"l", Type::BigInt()},
                          {"e", Type::Decimal(30, 5)},
                          {"d", Type::Double()},
                          {"t", Type::Timestamp(3)},
                          {"z", Type::TimestampLtz(3)},
                          {"b", Type::Boolean()}})};
  if (options & 1) table.options["json.ignore-parse-errors"] = "true";
  if ((options & 2) && !(options & 1)) table.options["json.fail-on-missing-field"] = "true";
  if (options & 4) table.options["json.timestamp-format.standard"] = "ISO-8601";
  if (!CheckFormat(table).ok()) return 0;
  fuzz::CheckDecoding(table, choices);
  return 0;
}

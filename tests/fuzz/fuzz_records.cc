// Messages of binary formats: Avro alone and as JSON, protobuf. Messages together are read as each
// alone; under `skip`, records in are rows out and rejected.
#include "connectors/formats/avro_records.h"
#include "connectors/formats/avro_schema.h"
#include "connectors/formats/formats.h"
#include "connectors/formats/protobuf_rows.h"
#include "connectors/formats/row_records.h"
#include "engine/value_text.h"
#include "tests/fuzz/fuzz.h"

#include <cstring>

using namespace rowtide;

namespace {

const Schema kColumns({{"i", Type::Int()},
                       {"l", Type::BigInt().NotNull()},
                       {"s", Type::String()},
                       {"d", Type::Double()},
                       {"b", Type::Boolean()},
                       {"x", Type::Bytes()}});

ProtoMessage TestMessage() {
  ProtoMessage message{"m", {}, 1};
  const auto add = [&](const char* name, uint32_t number, ProtoKind kind, Value fallback) {
    message.fields.push_back({.name = name, .number = number, .kind = kind, .fallback = fallback});
  };
  add("i", 1, ProtoKind::kSInt32, int64_t{0});
  add("l", 2, ProtoKind::kInt64, int64_t{0});
  add("s", 3, ProtoKind::kString, std::string());
  add("d", 4, ProtoKind::kDouble, 0.0);
  add("b", 5, ProtoKind::kBool, false);
  add("x", 3000, ProtoKind::kBytes, std::string());
  message.fields[0].group = message.fields[2].group = 0;
  message.fields[0].has_presence = message.fields[2].has_presence = true;
  return message;
}

std::unique_ptr<RecordDecoder> MakeDecoder(uint8_t mode, Rejects* rejects) {
  if (mode % 3 == 2) {
    ProtoRowsSpec spec{.message = TestMessage(), .columns = kColumns.fields()};
    return std::make_unique<RowRecordDecoder<ProtoRows>>(
        std::make_unique<ProtoRows>(std::move(spec)), InputLimits(), false, rejects);
  }
  TableSpec table{"t", {{"format", "avro"}}, kColumns};
  if (mode % 3 == 1) table.options["avro.encoding"] = "json";
  Result<std::unique_ptr<RecordDecoder>> made =
      CreateRecordDecoder(table, {0, 1, 2, 3, 4, 5}, {}, rejects);
  if (!made.ok()) fuzz::Fail("a decoder can be made", made.status().ToString());
  return std::move(*made);
}

// The rows of the messages [first, first + count) of the block.
std::string Read(uint8_t mode, const Records& all, size_t first, size_t count) {
  Counters counters;
  ConnectorContext context;
  context.counters = &counters;
  context.settings.bad_data = BadData::kSkip;
  Result<std::unique_ptr<Rejects>> rejects = Rejects::Create("t", context);
  const std::unique_ptr<RecordDecoder> decoder = MakeDecoder(mode, rejects->get());
  const Records records{all.block, all.bytes.subspan(first, count)};
  std::string rows;
  int64_t emitted = 0;
  for (RecordCursor at; at.record < static_cast<int32_t>(count);) {
    const Status status = decoder->Decode(records, &at);
    if (!status.ok()) fuzz::Fail("no message ends a job that skips", status.ToString());
    const RowBatch batch = decoder->Finish();
    emitted += batch.rows;
    for (int row = 0; row < batch.rows; ++row) {
      AppendScriptRow(batch, row, kColumns, &rows);
      rows += '\n';
    }
  }
  if (*counters.Find("records_read") != emitted + *counters.Find("rejected"))
    fuzz::Fail("records read are rows emitted and records rejected", rows);
  return rows;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const uint8_t mode = choices.Byte();
  const size_t cut = 1 + choices.Byte();
  const std::string_view text = choices.Rest();
  auto block = std::make_shared<Block>(text.size() + kRecordPadding);
  std::memset(block->data(), '\n', block->size());
  std::memcpy(block->data(), text.data(), text.size());
  std::vector<RecordBytes> bytes;
  for (size_t at = 0; at < text.size() && bytes.size() < kBatchRows; at += cut)
    bytes.push_back({static_cast<uint32_t>(at),
                     static_cast<uint32_t>(std::min(cut, text.size() - at)),
                     static_cast<int64_t>(bytes.size())});
  const Records all{block, bytes};
  const std::string together = Read(mode, all, 0, bytes.size());
  std::string alone;
  for (size_t i = 0; i < bytes.size(); ++i) alone += Read(mode, all, i, 1);
  if (together != alone) fuzz::Fail("messages are read alike alone", together, alone);
  return 0;
}

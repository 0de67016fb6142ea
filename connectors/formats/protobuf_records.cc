#include "connectors/formats/protobuf_records.h"

#include "connectors/files/list.h"
#include "connectors/formats/protobuf_encoder.h"
#include "connectors/formats/protobuf_rows.h"
#include "connectors/formats/row_records.h"

namespace rowtide {
namespace {

constexpr OptionSpec kSpecs[] = {
    {"message-class-name", OptionKind::kText, true},
    {"descriptor-file"},
    {"ignore-parse-errors", OptionKind::kBool},
    {"read-default-values", OptionKind::kBool},
    // Of NULLs in arrays and maps, which no column can be yet.
    {"write-null-string-literal"},
};

Result<ProtoMessage> MessageOf(const TableSpec& table) {
  const std::string file = TextOption(table, "protobuf.descriptor-file").value_or("");
  if (file.empty())
    return Status::InvalidArgument("table {} lacks the option 'protobuf.descriptor-file'",
                                   table.name)
        .WithErrorCode("RT2013")
        .WithHint("protoc --include_imports --descriptor_set_out=FILE makes one of a .proto file");
  Result<ProtoMessage> message = LoadProtoMessage(
      LocalPath(file), TextOption(table, "protobuf.message-class-name").value_or(""));
  if (!message.ok()) return Status(message.status()).WithContext("table " + table.name);
  return message;
}

class ProtoRecordEncoder final : public RecordEncoder {
 public:
  ProtoRecordEncoder(ProtoMessage message, const Schema& schema)
      : writer_(std::move(message), schema) {}

  Status Encode(const RowBatch& batch, EncodedRecords* out) override {
    for (int row = 0; row < batch.rows; ++row) {
      const size_t begin = out->bytes.size();
      RT_TRY(writer_.Append(batch, row, &out->bytes));
      out->records.push_back({begin, out->bytes.size(), false});
    }
    return Status::Ok();
  }

 private:
  ProtoRecordWriter writer_;
};

}  // namespace

std::span<const OptionSpec> ProtoOptionSpecs() { return kSpecs; }

Status CheckProtoTable(const TableSpec& table) {
  RT_ASSIGN(const ProtoMessage message, MessageOf(table));
  return CheckProtoColumns(table.schema, message);
}

Result<std::unique_ptr<RecordDecoder>> CreateProtoDecoder(const TableSpec& table,
                                                          const std::vector<int>& columns,
                                                          const ConnectorContext& context,
                                                          Rejects* rejects) {
  ProtoRowsSpec spec{.reads_defaults = BoolOption(table, "protobuf.read-default-values", false),
                     .trusts_not_null = context.flink_compat};
  RT_ASSIGN(spec.message, MessageOf(table));
  for (const int column : columns) spec.columns.push_back(table.schema.field(column));
  return std::unique_ptr<RecordDecoder>(std::make_unique<RowRecordDecoder<ProtoRows>>(
      std::make_unique<ProtoRows>(std::move(spec)), context.limits,
      BoolOption(table, "protobuf.ignore-parse-errors", false), rejects));
}

Result<std::unique_ptr<RecordEncoder>> CreateProtoEncoder(const TableSpec& table) {
  RT_ASSIGN(ProtoMessage message, MessageOf(table));
  return std::unique_ptr<RecordEncoder>(
      std::make_unique<ProtoRecordEncoder>(std::move(message), table.schema));
}

}  // namespace rowtide

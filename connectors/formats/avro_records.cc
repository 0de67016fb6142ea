#include "connectors/formats/avro_records.h"

#include <cstring>

#include "connectors/formats/avro_encoder.h"
#include "connectors/formats/avro_json.h"
#include "connectors/formats/avro_options.h"
#include "connectors/formats/row_records.h"

namespace rowtide {
namespace {

// Messages that are records of one schema.
class PlainReader {
 public:
  PlainReader(AvroRowsSpec spec, AvroSchema schema, Rejects* rejects)
      : rows_(std::move(spec), rejects) {
    rows_.Bind(std::move(schema));
  }
  Status Prepare(const Records& /*records*/) { return rows_.fit(); }
  void Begin() { rows_.Begin(); }
  std::vector<Column> FinishColumns() { return rows_.FinishColumns(); }
  std::vector<BlockPointer> FinishStrings() { return rows_.FinishStrings(); }
  bool Take(std::string_view bytes, int row) {
    const char* at = bytes.data();
    return rows_.Take(&at, at + bytes.size(), row) == AvroRows::Outcome::kRow;
  }
  const AvroRows::Trouble& trouble() const { return rows_.trouble(); }

 private:
  AvroRows rows_;
};

// The same in the JSON encoding: each message becomes a record of the binary one first.
class JsonReader {
 public:
  JsonReader(AvroRowsSpec spec, AvroSchema schema, AvroSchema same, Rejects* rejects)
      : schema_(std::move(schema)), plain_(std::move(spec), std::move(same), rejects) {}
  Status Prepare(const Records& records) { return plain_.Prepare(records); }
  void Begin() { plain_.Begin(); }
  std::vector<Column> FinishColumns() { return plain_.FinishColumns(); }
  std::vector<BlockPointer> FinishStrings() {
    std::vector<BlockPointer> blocks = plain_.FinishStrings();
    blocks.insert(blocks.end(), blocks_.begin(), blocks_.end());
    blocks_.clear();
    return blocks;
  }
  bool Take(std::string_view bytes, int row) {
    binary_.clear();
    const Status read = AvroFromJson(schema_.root(), bytes, &binary_);
    is_json_ = read.ok();
    if (!is_json_) {
      trouble_.message = read.message();
      return false;
    }
    auto block = std::make_shared<Block>(binary_.size());
    std::memcpy(block->data(), binary_.data(), binary_.size());
    blocks_.push_back(block);
    return plain_.Take({block->data(), binary_.size()}, row);
  }
  const AvroRows::Trouble& trouble() const { return is_json_ ? plain_.trouble() : trouble_; }

 private:
  AvroSchema schema_;
  PlainReader plain_;
  std::string binary_;
  std::vector<BlockPointer> blocks_;
  bool is_json_ = true;
  AvroRows::Trouble trouble_;
};

class AvroRecordEncoder final : public RecordEncoder {
 public:
  // `json`: the schema, for the JSON encoding; null: the binary one.
  AvroRecordEncoder(const Schema& schema, std::unique_ptr<AvroSchema> json)
      : writer_(schema), json_(std::move(json)) {}

  Status Encode(const RowBatch& batch, EncodedRecords* out) override {
    for (int row = 0; row < batch.rows; ++row) {
      const size_t begin = out->bytes.size();
      writer_.Clear();
      RT_TRY(writer_.Append(batch, row));
      if (json_ != nullptr) {
        AppendAvroJson(json_->root(), writer_.bytes(), &out->bytes);
      } else {
        out->bytes += writer_.bytes();
      }
      out->records.push_back({begin, out->bytes.size(), false});
    }
    return Status::Ok();
  }

 private:
  AvroRecordWriter writer_;
  std::unique_ptr<AvroSchema> json_;
};

template <typename Reader>
std::unique_ptr<RecordDecoder> DecoderOf(std::unique_ptr<Reader> reader, InputLimits limits,
                                         Rejects* rejects) {
  return std::make_unique<RowRecordDecoder<Reader>>(std::move(reader), limits, false, rejects);
}

}  // namespace

Result<std::unique_ptr<RecordDecoder>> CreateAvroRecordDecoder(const TableSpec& table,
                                                               AvroRowsSpec spec,
                                                               InputLimits limits,
                                                               Rejects* rejects) {
  RT_ASSIGN(const AvroOptions options, ReadAvroOptions(table));
  const std::string text = AvroSchemaText(table.schema, options.legacy_timestamps);
  RT_ASSIGN(AvroSchema schema, AvroSchema::Parse(text));
  if (!options.is_json)
    return DecoderOf(std::make_unique<PlainReader>(std::move(spec), std::move(schema), rejects),
                     limits, rejects);
  RT_ASSIGN(AvroSchema same, AvroSchema::Parse(text));
  return DecoderOf(
      std::make_unique<JsonReader>(std::move(spec), std::move(schema), std::move(same), rejects),
      limits, rejects);
}

Result<std::unique_ptr<RecordEncoder>> CreateAvroRecordEncoder(const TableSpec& table) {
  RT_ASSIGN(const AvroOptions options, ReadAvroOptions(table));
  std::unique_ptr<AvroSchema> json;
  if (options.is_json) {
    RT_ASSIGN(AvroSchema schema,
              AvroSchema::Parse(AvroSchemaText(table.schema, options.legacy_timestamps)));
    json = std::make_unique<AvroSchema>(std::move(schema));
  }
  return std::unique_ptr<RecordEncoder>(
      std::make_unique<AvroRecordEncoder>(table.schema, std::move(json)));
}

}  // namespace rowtide

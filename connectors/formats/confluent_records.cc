#include "connectors/formats/confluent_records.h"

#include <cstring>
#include <map>

#include "connectors/formats/avro_encoder.h"
#include "connectors/formats/confluent_options.h"
#include "connectors/formats/row_records.h"

namespace rowtide {
namespace {

constexpr size_t kConfluentBytes = 5;

uint32_t NumberOf(std::string_view message) {
  uint32_t number;
  std::memcpy(&number, message.data() + 1, sizeof(number));
  return __builtin_bswap32(number);
}

bool IsConfluent(std::string_view message) {
  return message.size() >= kConfluentBytes && message[0] == 0;
}

// Messages that say which schema they have.
class ConfluentReader {
 public:
  ConfluentReader(AvroRowsSpec spec, std::unique_ptr<SchemaRegistry> registry, Rejects* rejects)
      : registry_(std::move(registry)), rows_(std::move(spec), rejects) {}

  // Fetches what schemas are new. One that the registry does not have, or that does not fit, costs
  // its messages only, as does one behind more than messages of one table ever have.
  Status Prepare(const Records& records) {
    for (const RecordBytes& one : records.bytes) {
      const std::string_view message(records.block->data() + one.begin, one.bytes);
      if (one.kind != RecordBytes::Kind::kBytes || !IsConfluent(message)) continue;
      const uint32_t number = NumberOf(message);
      if (number == number_ || rows_.Use(number) || bad_.contains(number)) continue;
      if (fetched_++ < kSchemasMax) RT_TRY(Fetch(number));
    }
    number_ = kNone;
    return Status::Ok();
  }

  void Begin() { rows_.Begin(); }
  std::vector<Column> FinishColumns() { return rows_.FinishColumns(); }
  std::vector<BlockPointer> FinishStrings() { return rows_.FinishStrings(); }

  bool Take(std::string_view message, int row) {
    is_own_ = true;
    if (!IsConfluent(message))
      return Refuse(message.size() < kConfluentBytes
                        ? fmt::format("{} bytes, where 0 and the number of a schema are wanted",
                                      message.size())
                        : "it begins with no 0: no message of a schema registry");
    const uint32_t number = NumberOf(message);
    if (number != number_ && !rows_.Use(number)) {
      number_ = kNone;
      const auto bad = bad_.find(number);
      return Refuse(bad != bad_.end()
                        ? bad->second
                        : fmt::format("schema {} was not asked for: the messages before it have "
                                      "more than {}",
                                      number, kSchemasMax));
    }
    number_ = number;
    if (!rows_.fit().ok())
      return Refuse(fmt::format("schema {}: {}", number, rows_.fit().message()));
    is_own_ = false;
    const char* at = message.data() + kConfluentBytes;
    return rows_.Take(&at, message.data() + message.size(), row) == AvroRows::Outcome::kRow;
  }
  const AvroRows::Trouble& trouble() const { return is_own_ ? trouble_ : rows_.trouble(); }

 private:
  static constexpr int64_t kNone = -1;
  static constexpr size_t kSchemasMax = 10000;

  Status Fetch(uint32_t number) {
    RT_ASSIGN(const SchemaRegistry::Found found, registry_->SchemaOf(number));
    Result<AvroSchema> schema =
        found.is_there ? AvroSchema::Parse(found.text) : Status::DataError("{}", found.text);
    if (schema.ok()) {
      rows_.Bind(number, std::move(*schema));
    } else {
      bad_[number] = fmt::format("schema {}: {}", number, schema.status().message());
    }
    return Status::Ok();
  }

  bool Refuse(std::string message) {
    trouble_ = {RejectReason::kUndecodable, "", std::move(message)};
    return false;
  }

  std::unique_ptr<SchemaRegistry> registry_;
  AvroRows rows_;
  int64_t number_ = kNone;  // of the schema that is in use
  size_t fetched_ = 0;
  std::map<uint32_t, std::string> bad_;
  bool is_own_ = false;
  AvroRows::Trouble trouble_;
};

// The messages' heads have the number that the registry gave the schema.
class ConfluentEncoder final : public RecordEncoder {
 public:
  ConfluentEncoder(const Schema& schema, std::unique_ptr<SchemaRegistry> registry,
                   std::string subject, std::string schema_text)
      : writer_(schema),
        registry_(std::move(registry)),
        subject_(std::move(subject)),
        schema_text_(std::move(schema_text)) {}

  Status Encode(const RowBatch& batch, EncodedRecords* out) override {
    if (head_.empty()) RT_TRY(Register());
    for (int row = 0; row < batch.rows; ++row) {
      const size_t begin = out->bytes.size();
      writer_.Clear();
      RT_TRY(writer_.Append(batch, row));
      out->bytes += head_;
      out->bytes += writer_.bytes();
      out->records.push_back({begin, out->bytes.size(), false});
    }
    return Status::Ok();
  }

 private:
  Status Register() {
    RT_ASSIGN(const uint32_t number, registry_->Register(subject_, schema_text_));
    const uint32_t swapped = __builtin_bswap32(number);
    head_.assign(1, '\0');
    head_.append(reinterpret_cast<const char*>(&swapped), sizeof(swapped));
    return Status::Ok();
  }

  AvroRecordWriter writer_;
  std::unique_ptr<SchemaRegistry> registry_;
  std::string subject_;
  std::string schema_text_;
  std::string head_;
};

}  // namespace

Result<std::unique_ptr<RecordDecoder>> CreateConfluentDecoder(
    const TableSpec& table, AvroRowsSpec spec, std::unique_ptr<SchemaRegistry> registry,
    InputLimits limits, Rejects* rejects) {
  RT_ASSIGN(const ConfluentOptions options, ReadConfluentOptions(table));
  if (!options.schema.empty()) {
    RT_ASSIGN(const AvroSchema schema, AvroSchema::Parse(options.schema));
    for (AvroColumn& column : spec.columns) {
      for (const AvroField& field : schema.root().fields) {
        if (field.name != column.field.name) continue;
        column.aliases = field.aliases;
        column.fallback = field.fallback;
      }
    }
  }
  return std::unique_ptr<RecordDecoder>(std::make_unique<RowRecordDecoder<ConfluentReader>>(
      std::make_unique<ConfluentReader>(std::move(spec), std::move(registry), rejects), limits,
      false, rejects));
}

Result<std::unique_ptr<RecordEncoder>> CreateConfluentEncoder(
    const TableSpec& table, std::unique_ptr<SchemaRegistry> registry) {
  RT_ASSIGN(const ConfluentOptions options, ReadConfluentOptions(table));
  if (options.subject.empty())
    return Status::InvalidArgument("table {}: writing needs the option 'avro-confluent.subject'",
                                   table.name);
  const std::string text =
      options.schema.empty() ? AvroSchemaText(table.schema, true) : options.schema;
  return std::unique_ptr<RecordEncoder>(
      std::make_unique<ConfluentEncoder>(table.schema, std::move(registry), options.subject, text));
}

}  // namespace rowtide

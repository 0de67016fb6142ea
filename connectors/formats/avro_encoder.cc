#include "connectors/formats/avro_encoder.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "connectors/formats/avro_bytes.h"
#include "connectors/formats/avro_codec.h"
#include "connectors/formats/avro_files.h"
#include "connectors/formats/avro_schema.h"

namespace rowtide {
namespace {

constexpr size_t kBlockBytes = 64000;
// Of any value but a text: the byte before it, and a decimal of 16 bytes or a number of 10.
constexpr size_t kValueBytesMax = 24;

char* PutBytes(std::string_view bytes, char* to) {
  to = PutAvroLong(static_cast<int64_t>(bytes.size()), to);
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

// As few bytes as hold the number and its sign, the highest first.
char* PutUnscaled(int128 value, char* to) {
  char bytes[16];
  for (int i = 15; i >= 0; --i, value >>= 8) bytes[i] = static_cast<char>(value);
  int first = 0;
  while (first < 15 && bytes[first] == (bytes[first + 1] < 0 ? '\xff' : '\0')) ++first;
  return PutBytes({bytes + first, static_cast<size_t>(16 - first)}, to);
}

template <typename T>
char* PutRaw(T value, char* to) {
  std::memcpy(to, &value, sizeof(value));
  return to + sizeof(value);
}

}  // namespace

AvroRecordWriter::AvroRecordWriter(Schema schema) : schema_(std::move(schema)) {}

void AvroRecordWriter::MakeRoom(size_t bytes) {
  if (used_ + bytes <= room_bytes_) [[likely]]
    return;
  room_bytes_ = std::max(2 * room_bytes_, used_ + bytes + kBlockBytes);
  auto room = std::make_unique_for_overwrite<char[]>(room_bytes_);
  if (used_ > 0) std::memcpy(room.get(), room_.get(), used_);
  room_ = std::move(room);
}

Status AvroRecordWriter::Append(const RowBatch& batch, int row) {
  const auto columns = static_cast<size_t>(schema_.size());
  size_t most = columns * kValueBytesMax;
  for (size_t i = 0; i < columns; ++i) {
    if (batch.columns[i].layout() == Layout::kBytes)
      most += batch.columns[i].values<StringView>()[row].size();
  }
  MakeRoom(most);
  Out out{room_.get() + used_, Status::Ok()};
  for (size_t i = 0; i < columns; ++i) {
    const Column& column = batch.columns[i];
    const Field& field = schema_.field(static_cast<int>(i));
    const bool is_null = column.IsNull(row);
    if (field.type.nullable) {
      *out.to++ = is_null ? 0 : 2;
    } else if (is_null) {
      return Status::DataError("column {} is NULL, and declared NOT NULL", Quote(field.name));
    }
    if (!is_null) PutValue(column, field.type, row, &out);
    if (!out.status.ok()) return std::move(out.status).WithContext("column " + Quote(field.name));
  }
  used_ = static_cast<size_t>(out.to - room_.get());
  return Status::Ok();
}

__attribute__((always_inline)) inline void AvroRecordWriter::PutValue(const Column& column,
                                                                      const Type& type, int row,
                                                                      Out* out) const {
  switch (column.layout()) {
    case Layout::kBool: *out->to++ = column.values<char>()[row]; return;
    case Layout::kInt8: out->to = PutAvroLong(column.values<int8_t>()[row], out->to); return;
    case Layout::kInt16: out->to = PutAvroLong(column.values<int16_t>()[row], out->to); return;
    case Layout::kInt32: out->to = PutAvroLong(column.values<int32_t>()[row], out->to); return;
    case Layout::kInt64:
      out->to = type.kind == TypeKind::kDecimal
                    ? PutUnscaled(column.values<int64_t>()[row], out->to)
                    : PutAvroLong(column.values<int64_t>()[row], out->to);
      return;
    case Layout::kFloat: out->to = PutRaw(column.values<float>()[row], out->to); return;
    case Layout::kDouble: out->to = PutRaw(column.values<double>()[row], out->to); return;
    case Layout::kInt128: out->to = PutUnscaled(column.values<int128>()[row], out->to); return;
    case Layout::kBytes:
      out->to = PutBytes(column.values<StringView>()[row].view(), out->to);
      return;
    case Layout::kWideTime: {
      const WideTime& time = column.values<WideTime>()[row];
      int64_t nanos = 0;
      if (__builtin_mul_overflow(time.millis, int64_t{1000000}, &nanos) ||
          __builtin_add_overflow(nanos, int64_t{time.nanos}, &nanos)) {
        out->status = Status::DataError(
            "avro has nanoseconds from the year 1677 to 2262 only; this one is {} ms from 1970",
            time.millis);
      }
      out->to = PutAvroLong(nanos, out->to);
      return;
    }
  }
}

namespace {

class AvroFileEncoder final : public Encoder {
 public:
  AvroFileEncoder(Schema schema, const std::string& schema_text, std::unique_ptr<AvroCodec> codec)
      : codec_(std::move(codec)), schema_text_(schema_text), writer_(std::move(schema)) {}

  // The sync marker is a new one in every file: what follows it must not be taken for it.
  Status Begin(std::string* out) override {
    std::random_device random;
    sync_.clear();
    while (sync_.size() < kAvroSyncBytes) {
      const uint32_t word = random();
      sync_.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    *out += kAvroMagic;
    AppendAvroLong(2, out);
    for (const std::string_view text :
         {std::string_view("avro.schema"), std::string_view(schema_text_),
          std::string_view("avro.codec"), codec_->name()}) {
      AppendAvroLong(static_cast<int64_t>(text.size()), out);
      *out += text;
    }
    AppendAvroLong(0, out);
    *out += sync_;
    return Status::Ok();
  }

  using Encoder::Encode;
  // Where a record ends inside a block that is packed is nobody's business.
  Status Encode(const RowBatch& batch, std::string* out, std::vector<size_t>* /*ends*/) override {
    for (int row = 0; row < batch.rows; ++row) {
      RT_TRY(writer_.Append(batch, row));
      ++records_;
      if (writer_.bytes().size() >= kBlockBytes) RT_TRY(Finish(out));
    }
    return Status::Ok();
  }

  Status Finish(std::string* out) override {
    if (records_ == 0) return Status::Ok();
    packed_.clear();
    if (!codec_->is_plain()) RT_TRY(codec_->Pack(writer_.bytes(), &packed_));
    const std::string_view bytes = codec_->is_plain() ? writer_.bytes() : packed_;
    AppendAvroLong(records_, out);
    AppendAvroLong(static_cast<int64_t>(bytes.size()), out);
    *out += bytes;
    *out += sync_;
    writer_.Clear();
    records_ = 0;
    return Status::Ok();
  }

 private:
  std::unique_ptr<AvroCodec> codec_;
  std::string schema_text_;
  AvroRecordWriter writer_;
  std::string sync_;
  std::string packed_;
  int64_t records_ = 0;
};

}  // namespace

Result<std::unique_ptr<Encoder>> CreateAvroFileEncoder(const TableSpec& table) {
  RT_ASSIGN(const AvroOptions options, ReadAvroOptions(table));
  RT_ASSIGN(std::unique_ptr<AvroCodec> codec, CreateAvroCodec(options.codec));
  return std::unique_ptr<Encoder>(std::make_unique<AvroFileEncoder>(
      table.schema, AvroSchemaText(table.schema, options.legacy_timestamps), std::move(codec)));
}

}  // namespace rowtide

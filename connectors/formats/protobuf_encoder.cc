#include "connectors/formats/protobuf_encoder.h"

#include <algorithm>
#include <cstring>

#include "connectors/formats/protobuf_wire.h"

namespace rowtide {
namespace {

int64_t IntegerOf(const Column& column, int row) {
  switch (column.layout()) {
    case Layout::kInt8: return column.values<int8_t>()[row];
    case Layout::kInt16: return column.values<int16_t>()[row];
    case Layout::kInt32: return column.values<int32_t>()[row];
    default: return column.values<int64_t>()[row];
  }
}

// The bits that a number has in the message.
uint64_t BitsOf(ProtoKind kind, int64_t value) {
  switch (kind) {
    case ProtoKind::kUInt32: return static_cast<uint32_t>(value);
    case ProtoKind::kSInt32: return static_cast<uint32_t>(Zigzag(value));
    case ProtoKind::kSInt64: return Zigzag(value);
    default: return static_cast<uint64_t>(value);  // below zero: all 64 bits
  }
}

}  // namespace

ProtoRecordWriter::ProtoRecordWriter(ProtoMessage message, Schema schema)
    : message_(std::move(message)), schema_(std::move(schema)) {
  for (const ProtoField& field : message_.fields) {
    const int column = schema_.Find(field.name);
    if (column < 0) {
      if (field.is_required) missing_ = &field;
      continue;
    }
    Piece piece{&field, static_cast<size_t>(column), ""};
    AppendVarint(uint64_t{field.number} << 3 | WireOf(field.kind), &piece.tag);
    pieces_.push_back(std::move(piece));
  }
  std::sort(pieces_.begin(), pieces_.end(),
            [](const Piece& a, const Piece& b) { return a.field->number < b.field->number; });
}

Status ProtoRecordWriter::Append(const RowBatch& batch, int row, std::string* out) const {
  if (missing_ != nullptr)
    return Status::DataError("message {} requires the field {}, which is no column", message_.name,
                             Quote(missing_->name));
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (!batch.columns[piece.column].IsNull(row)) {
      RT_TRY(AppendField(piece, batch, row, out));
    } else if (piece.field->is_required) {
      return Status::DataError("column {} is NULL, and message {} requires it",
                               Quote(piece.field->name), message_.name);
    }
  }
  return Status::Ok();
}

// A field of a oneof that a later one of it replaces is not written.
Status ProtoRecordWriter::AppendField(const Piece& piece, const RowBatch& batch, int row,
                                      std::string* out) const {
  const ProtoField& field = *piece.field;
  if (field.group >= 0) {
    for (const Piece& other : pieces_) {
      if (other.field->group == field.group && other.column > piece.column &&
          !batch.columns[other.column].IsNull(row))
        return Status::Ok();
    }
  }
  const Column& column = batch.columns[piece.column];
  const uint32_t wire = WireOf(field.kind);
  if (wire == kWireBytes) {
    const std::string_view text = column.values<StringView>()[row].view();
    if (text.empty() && !field.has_presence) return Status::Ok();
    *out += piece.tag;
    AppendVarint(text.size(), out);
    *out += text;
    return Status::Ok();
  }
  if (wire != kWireVarint) {
    const size_t bytes = wire == kWireFixed32 ? 4 : 8;
    char raw[8] = {};
    std::memcpy(raw, column.data() + static_cast<size_t>(row) * bytes, bytes);
    constexpr char kZeros[8] = {};
    if (!field.has_presence && std::memcmp(raw, kZeros, bytes) == 0) return Status::Ok();
    *out += piece.tag;
    out->append(raw, bytes);
    return Status::Ok();
  }
  int64_t value = 0;
  if (field.kind == ProtoKind::kBool) {
    value = column.values<char>()[row];
  } else if (field.kind == ProtoKind::kEnum) {
    RT_ASSIGN(value, EnumOf(piece, column, row));
  } else {
    value = IntegerOf(column, row);
  }
  if (value == 0 && !field.has_presence) return Status::Ok();
  *out += piece.tag;
  AppendVarint(BitsOf(field.kind, value), out);
  return Status::Ok();
}

Result<int64_t> ProtoRecordWriter::EnumOf(const Piece& piece, const Column& column, int row) const {
  const ProtoField& field = *piece.field;
  if (column.layout() != Layout::kBytes) {
    const int64_t number = IntegerOf(column, row);
    if (number == static_cast<int32_t>(number) &&
        field.NameOf(static_cast<int32_t>(number)) != nullptr)
      return number;
    return Status::DataError("column {}: {} is no number of the enum", Quote(field.name), number);
  }
  const std::string_view name = column.values<StringView>()[row].view();
  std::vector<std::string> names;
  for (const auto& [number, known] : field.names) {
    if (known == name) return int64_t{number};
    names.push_back(known);
  }
  if (names.size() > 8) names.resize(8);
  return Status::DataError("column {}: {} is no name of the enum", Quote(field.name), Quote(name))
      .WithHint(fmt::format("it has {}", fmt::join(names, ", ")));
}

}  // namespace rowtide

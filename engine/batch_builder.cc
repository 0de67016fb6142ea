#include "engine/batch_builder.h"

#include <algorithm>
#include <cstring>

#include "engine/status.h"

namespace rowtide {
namespace {
constexpr size_t kStringBlockBytes = 64 << 10;
constexpr size_t kFirstStringBlockBytes = 1 << 10;
constexpr int kFirstRows = 16;

size_t BitmapBytes(int rows) { return (static_cast<size_t>(rows) + 7) / 8; }
}  // namespace

void ColumnBuilder::Reserve(int rows) {
  const int wanted = rows_ + rows;
  if (values_ && wanted <= capacity_) return;
  const int capacity = std::max(wanted, values_ ? capacity_ * 2 : wanted);
  const size_t width = static_cast<size_t>(width_);
  auto values = std::make_shared<Block>(static_cast<size_t>(capacity) * width);
  if (rows_ > 0) std::memcpy(values->data(), values_->data(), static_cast<size_t>(rows_) * width);
  values_ = std::move(values);
  if (validity_) {
    auto validity = std::make_shared<Block>(BitmapBytes(capacity));
    std::memset(validity->data(), 0xff, validity->size());
    std::memcpy(validity->data(), validity_->data(), BitmapBytes(rows_));
    validity_ = std::move(validity);
  }
  capacity_ = capacity;
}

void ColumnBuilder::AppendNull() {
  if (!validity_) {
    validity_ = std::make_shared<Block>(BitmapBytes(capacity_));
    std::memset(validity_->data(), 0xff, validity_->size());
  }
  char& byte = validity_->data()[rows_ >> 3];
  byte = static_cast<char>(byte & ~(1 << (rows_ & 7)));
  std::memset(values_->data() + static_cast<size_t>(rows_) * static_cast<size_t>(width_), 0,
              static_cast<size_t>(width_));
  ++rows_;
}

Column ColumnBuilder::Finish() {
  if (!values_) Reserve(1);
  rows_ = 0;
  capacity_ = 0;
  return Column(layout_, std::exchange(values_, nullptr), std::exchange(validity_, nullptr));
}

const char* StringBlocks::Reserve(std::string_view text) {
  if (blocks_.empty() || used_ + text.size() > blocks_.back()->size()) {
    const size_t bytes = blocks_.empty() ? kFirstStringBlockBytes : kStringBlockBytes;
    blocks_.push_back(std::make_shared<Block>(std::max(bytes, text.size())));
    bytes_ += blocks_.back()->size();
    used_ = 0;
  }
  char* at = blocks_.back()->data() + used_;
  std::memcpy(at, text.data(), text.size());
  used_ += text.size();
  return at;
}

std::vector<BlockPointer> StringBlocks::Finish() {
  std::vector<BlockPointer> blocks(blocks_.begin(), blocks_.end());
  blocks_.clear();
  used_ = bytes_ = 0;
  return blocks;
}

BatchBuilder::BatchBuilder(const Schema& schema, int capacity) : capacity_(capacity) {
  for (const Field& field : schema.fields()) columns_.emplace_back(LayoutOf(field.type));
  Begin();
}

void BatchBuilder::Begin() {
  rows_ = 0;
  all_inserts_ = true;
  reserved_ = 0;
}

void BatchBuilder::Grow() {
  reserved_ = std::max(rows_ + 1, std::min(capacity_, std::max(kFirstRows, reserved_ * 8)));
  auto kinds = std::make_shared<Block>(static_cast<size_t>(reserved_));
  if (rows_ > 0) std::memcpy(kinds->data(), kinds_->data(), static_cast<size_t>(rows_));
  kinds_ = std::move(kinds);
  for (ColumnBuilder& column : columns_) column.Reserve(reserved_ - column.rows());
}

void BatchBuilder::Share(const std::vector<BlockPointer>& blocks) {
  for (const BlockPointer& block : blocks) {
    if (std::find(shared_.begin(), shared_.end(), block) == shared_.end()) shared_.push_back(block);
  }
}

void BatchBuilder::AppendValue(int index, const Type& type, const Value& value) {
  ColumnBuilder& to = column(index);
  if (IsNull(value)) return to.AppendNull();
  switch (LayoutOf(type)) {
    case Layout::kBool: return to.Append<uint8_t>(std::get<bool>(value) ? 1 : 0);
    case Layout::kInt8: return to.Append(static_cast<int8_t>(std::get<int64_t>(value)));
    case Layout::kInt16: return to.Append(static_cast<int16_t>(std::get<int64_t>(value)));
    case Layout::kInt32: return to.Append(static_cast<int32_t>(std::get<int64_t>(value)));
    case Layout::kInt64:
      if (type.kind == TypeKind::kDecimal)
        return to.Append(static_cast<int64_t>(std::get<int128>(value)));
      return to.Append(std::get<int64_t>(value));
    case Layout::kFloat: return to.Append(static_cast<float>(std::get<double>(value)));
    case Layout::kDouble: return to.Append(std::get<double>(value));
    case Layout::kInt128: return to.Append(std::get<int128>(value));
    case Layout::kWideTime: return to.Append(std::get<WideTime>(value));
    case Layout::kBytes: return to.Append(strings_.Copy(std::get<std::string>(value)));
  }
}

RowBatch BatchBuilder::Finish() {
  RowBatch batch;
  batch.rows = rows_;
  if (!all_inserts_) batch.kinds = kinds_;
  batch.columns.reserve(columns_.size());
  for (ColumnBuilder& column : columns_) {
    RT_DCHECK(column.rows() == rows_);
    batch.columns.push_back(column.Finish());
  }
  batch.blocks = strings_.Finish();
  batch.blocks.insert(batch.blocks.end(), shared_.begin(), shared_.end());
  shared_.clear();
  Begin();
  return batch;
}

Value ValueAt(const RowBatch& batch, int column, int row, const Type& type) {
  const Column& from = batch.columns[static_cast<size_t>(column)];
  if (from.IsNull(row)) return {};
  switch (from.layout()) {
    case Layout::kBool: return from.values<uint8_t>()[row] != 0;
    case Layout::kInt8: return static_cast<int64_t>(from.values<int8_t>()[row]);
    case Layout::kInt16: return static_cast<int64_t>(from.values<int16_t>()[row]);
    case Layout::kInt32: return static_cast<int64_t>(from.values<int32_t>()[row]);
    case Layout::kInt64:
      if (type.kind == TypeKind::kDecimal) return static_cast<int128>(from.values<int64_t>()[row]);
      return from.values<int64_t>()[row];
    case Layout::kFloat: return static_cast<double>(from.values<float>()[row]);
    case Layout::kDouble: return from.values<double>()[row];
    case Layout::kInt128: return from.values<int128>()[row];
    case Layout::kWideTime: return from.values<WideTime>()[row];
    case Layout::kBytes: return std::string(from.values<StringView>()[row].view());
  }
  return {};
}

RowBatch BatchOf(const Schema& schema,
                 const std::vector<std::pair<RowKind, std::vector<Value>>>& rows) {
  BatchBuilder builder(schema, std::max(1, static_cast<int>(rows.size())));
  for (const auto& [kind, values] : rows) {
    RT_CHECK(static_cast<int>(values.size()) == schema.size());
    builder.AppendKind(kind);
    for (int i = 0; i < schema.size(); ++i)
      builder.AppendValue(i, schema.type(i), values[static_cast<size_t>(i)]);
  }
  return builder.Finish();
}

}  // namespace rowtide
